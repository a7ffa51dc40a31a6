#include "borescope/engine/inputs/input_files.h"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <new>
#include <set>
#include <system_error>

#include "borescope/base/io/paths.h"
#include "borescope/base/text/text.h"
#include "borescope/engine/inputs/recording_groups.h"

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kGlobCharacters = "*?[";

// Takes the digits at the start of `text`, without leading zeros.
std::string_view TakeNumber(std::string_view& text) {
  const auto* const end = std::find_if_not(text.begin(), text.end(), IsDigit);
  std::string_view number = text.substr(0, static_cast<size_t>(end - text.begin()));
  text.remove_prefix(number.size());
  number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
  return number;
}

Result<InputFile> MakeInput(std::string path, bool from_directory) {
  BS_ASSIGN(const uint64_t bytes, path == "-" ? Result<uint64_t>(0) : SizeOfFile(path));
  return InputFile{std::move(path), from_directory, bytes};
}

Result<std::vector<InputFile>> SortedInputs(std::vector<std::string> paths, bool from_directory) {
  std::sort(paths.begin(), paths.end(),
            [](const std::string& a, const std::string& b) { return NaturalLess(a, b); });
  std::vector<InputFile> files;
  files.reserve(paths.size());
  for (std::string& path : paths) {
    BS_ASSIGN(InputFile file, MakeInput(std::move(path), from_directory));
    files.push_back(std::move(file));
  }
  return files;
}

// Folders of a rank each are a common layout, and an easy one to mistake for a folder of files.
Error NoFileIn(const std::string& path, size_t subfolders) {
  const std::string no_file = path + ": no file in this directory";
  if (subfolders == 0) {
    return {ErrorCode::kInvalidArgument, no_file, "give a directory of trace files, one a rank"};
  }
  const std::string_view stem = std::string_view(path).substr(0, path.find_last_not_of('/') + 1);
  return {
      ErrorCode::kInvalidArgument,
      fmt::format("{}, and its {} not searched; give {} as {}/*", no_file,
                  subfolders == 1 ? "subfolder is" : fmt::format("{} subfolders are", subfolders),
                  subfolders == 1 ? "it" : "them", stem)};
}

Result<std::vector<InputFile>> ListDirectory(const std::string& path) {
  BS_ASSIGN(const std::vector<std::string> names, NamesIn(path));
  std::vector<std::string> paths;
  size_t subfolders = 0;
  for (const std::string& name : names) {
    if (name.starts_with('.')) {
      continue;
    }
    std::string inner = (fs::path(path) / name).string();
    BS_ASSIGN(const FileKind kind, KindOf(inner));
    if (kind == FileKind::kFile) {
      paths.push_back(std::move(inner));
    }
    subfolders += kind == FileKind::kFolder ? 1 : 0;
  }
  if (paths.empty()) {
    return NoFileIn(path, subfolders);
  }
  return SortedInputs(std::move(paths), true);
}

// Folders of logs and the like may lie beside those of ranks: only where none has a file, the first
// of them is reported.
Result<std::vector<InputFile>> ListDirectories(std::vector<std::string> folders) {
  std::sort(folders.begin(), folders.end(), NaturalLess);
  std::vector<InputFile> files;
  std::optional<Error> without;
  for (const std::string& folder : folders) {
    Result<std::vector<InputFile>> found = ListDirectory(folder);
    if (!found.ok() && found.error().code != ErrorCode::kInvalidArgument) {
      return found.error();
    }
    if (found.ok()) {
      files.insert(files.end(), std::make_move_iterator(found->begin()),
                   std::make_move_iterator(found->end()));
    } else if (!without.has_value()) {
      without = found.error();
    }
  }
  if (files.empty()) {
    return *without;
  }
  return files;
}

// The paths that match a pattern. A folder that may not be read has none, as for the shell.
Result<std::vector<std::string>> Matches(const std::string& pattern) {
  struct Found {
    Found() = default;
    Found(const Found&) = delete;
    Found& operator=(const Found&) = delete;
    ~Found() { globfree(&paths); }
    glob_t paths{};
  } found;
  const auto ends = [](const char* /*path*/, int error) {
    return error == EACCES || error == ENOENT || error == ENOTDIR || error == ELOOP ? 0 : 1;
  };
  const int status = glob(pattern.c_str(), 0, ends, &found.paths);
  if (status == GLOB_NOSPACE) {
    throw std::bad_alloc();
  }
  if (status == GLOB_ABORTED) {
    return Error{ErrorCode::kIo, std::generic_category().message(errno), "check the disk", pattern};
  }
  return std::vector<std::string>(found.paths.gl_pathv,
                                  found.paths.gl_pathv + found.paths.gl_pathc);
}

// What the shell would have found, had the pattern not been quoted. Folders beside files are passed
// over; alone they are what was meant, as RUN/* is where each rank has a folder.
Result<std::vector<InputFile>> ExpandGlob(const std::string& pattern) {
  BS_ASSIGN(const std::vector<std::string> matches, Matches(pattern));
  std::vector<std::string> paths;
  std::vector<std::string> folders;
  for (const std::string& match : matches) {
    BS_ASSIGN(const FileKind kind, KindOf(match));
    (kind == FileKind::kFolder ? folders : paths).push_back(match);
  }
  if (paths.empty() && folders.empty()) {
    return Error{ErrorCode::kInvalidArgument, "no file matches this pattern", {}, pattern};
  }
  return paths.empty() ? ListDirectories(std::move(folders))
                       : SortedInputs(std::move(paths), false);
}

Result<std::vector<InputFile>> ExpandOne(const std::string& input) {
  if (input == "-") {
    return SortedInputs({input}, false);
  }
  BS_ASSIGN(const FileKind kind, KindOf(input));
  if (kind == FileKind::kFolder) {
    return ListDirectory(input);
  }
  if (kind == FileKind::kNothing && input.find_first_of(kGlobCharacters) != std::string::npos) {
    return ExpandGlob(input);
  }
  // A missing file is for the loader to report, with the others of the run.
  return SortedInputs({input}, false);
}

}  // namespace

Result<std::vector<InputFile>> ExpandInputs(std::span<const std::string> inputs) {
  std::vector<InputFile> files;
  std::set<std::string> seen;
  for (const std::string& input : inputs) {
    BS_ASSIGN(std::vector<InputFile> found, ExpandOne(input));
    for (InputFile& file : found) {
      // One name for a file, by whatever path it was reached.
      BS_ASSIGN(std::string identity, PathWithoutLinks(file.path));
      if (seen.insert(std::move(identity)).second) {
        files.push_back(std::move(file));
      }
    }
  }
  return GroupRecordings(std::move(files));
}

std::string NameOfRun(std::span<const InputFile> files) {
  if (files.empty() || files.front().path == "-") {
    return "standard input";
  }
  const fs::path first(files.front().path);
  const bool is_recording = files.front().from_directory && !files.front().logs.empty();
  if (files.size() == 1 && !is_recording) {
    return first.filename().string();
  }
  const auto folder_of = [](const InputFile& file) {
    std::error_code ignored;
    return fs::absolute(file.path, ignored).lexically_normal().parent_path();
  };
  const fs::path folder = folder_of(files.front());
  if (std::all_of(files.begin(), files.end(), [&](const InputFile& file) {
        return file.from_directory && folder_of(file) == folder;
      })) {
    return folder.filename().string();
  }
  return first.filename().string() + " and " + std::to_string(files.size() - 1) + " more";
}

bool NaturalLess(std::string_view a, std::string_view b) {
  std::string_view rest_a = a;
  std::string_view rest_b = b;
  while (!rest_a.empty() && !rest_b.empty()) {
    if (IsDigit(rest_a.front()) && IsDigit(rest_b.front())) {
      const std::string_view number_a = TakeNumber(rest_a);
      const std::string_view number_b = TakeNumber(rest_b);
      if (number_a != number_b) {
        return number_a.size() != number_b.size() ? number_a.size() < number_b.size()
                                                  : number_a < number_b;
      }
    } else if (rest_a.front() != rest_b.front()) {
      return static_cast<unsigned char>(rest_a.front()) <
             static_cast<unsigned char>(rest_b.front());
    } else {
      rest_a.remove_prefix(1);
      rest_b.remove_prefix(1);
    }
  }
  // "01" and "1" have equal value: the order must still be total.
  return rest_a.size() != rest_b.size() ? rest_a.size() < rest_b.size() : a < b;
}

}  // namespace borescope::internal
