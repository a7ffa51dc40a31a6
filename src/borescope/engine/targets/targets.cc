#include "borescope/engine/targets/targets.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <map>
#include <system_error>
#include <utility>

#include "borescope/base/io/paths.h"
#include "borescope/output/sink/sink.h"

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;

Error CannotTell(const std::string& path, const std::error_code& error) {
  return {ErrorCode::kIo, fmt::format("cannot be looked at: {}", error.message()), "check its disk",
          path};
}

Result<struct stat> StatusOfInput() {
  struct stat status{};
  // Closed standard input comes from no file.
  if (fstat(STDIN_FILENO, &status) != 0 && errno != EBADF) {
    return CannotTell("standard input", {errno, std::generic_category()});
  }
  return status;
}

// One text for all paths that lead to one place, whether or not there is a file yet.
Result<std::string> TargetIdentity(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  if (error) {
    return CannotTell(path, error);
  }
  BS_ASSIGN(const fs::path behind, BehindLinks(absolute));
  const fs::path place = fs::weakly_canonical(behind, error);
  // What permissions hide, and links in a circle, cannot be written either: opening it says why.
  const bool is_hidden =
      error == std::errc::permission_denied || error == std::errc::too_many_symbolic_link_levels ||
      error == std::errc::not_a_directory || error == std::errc::filename_too_long;
  if (error && !is_hidden) {
    return CannotTell(path, error);
  }
  return (error ? behind : place).string();
}

// Device and number, which hard links to one file share, and standard input ("-") that comes from
// it. None of a pipe or a device: what is written there overwrites nothing; and none of what is not
// there.
using FileNumber = std::pair<uint64_t, uint64_t>;
Result<std::optional<FileNumber>> NumberOf(const std::string& path) {
  BS_ASSIGN(const struct stat status, path == "-" ? StatusOfInput() : StatusOf(path));
  if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
    return std::optional<FileNumber>();
  }
  return std::optional(FileNumber(status.st_dev, status.st_ino));
}

// What is written of one of the files: the target itself, or of that name in it.
Result<std::string> TargetPath(std::span<const InputFile> files, const std::string& target,
                               const fs::path& name) {
  if (files.size() == 1) {
    BS_ASSIGN(const FileKind kind, KindOf(target));
    if (kind != FileKind::kFolder) {
      return target;
    }
  }
  return (fs::path(target) / name).string();
}

Error IsInput(const std::string& target, std::string_view writer) {
  return Error{ErrorCode::kInvalidArgument, "is an input",
               fmt::format("{} would overwrite it", writer), target};
}

Result<void> CheckFolderOf(const std::string& target) {
  const fs::path folder = fs::path(target).parent_path();
  if (folder.empty()) {
    return {};
  }
  BS_ASSIGN(const FileKind kind, KindOf(folder.string()));
  if (kind != FileKind::kFolder) {
    return Error{ErrorCode::kIo, "cannot write: there is no folder " + folder.string(),
                 "make it first", target};
  }
  return {};
}

// Several traces go into a folder.
Result<void> CheckShape(const RunOptions& options, std::string_view option,
                        const std::string& given) {
  if (given == "-") {
    return UsageError(fmt::format("{} writes a file, not standard output", option), "name one");
  }
  if (given.empty() || options.files.size() <= 1) {
    return {};
  }
  BS_ASSIGN(const FileKind kind, KindOf(given));
  if (kind != FileKind::kFolder) {
    return Error{
        ErrorCode::kInvalidArgument, "is no folder",
        fmt::format(
            "with several traces {} writes one each, under their names, into a folder that exists",
            option),
        given};
  }
  return {};
}

}  // namespace

Result<FileLookup> FileLookup::Of(std::span<const std::string> paths) {
  FileLookup lookup;
  for (size_t i = 0; i < paths.size(); ++i) {
    if (paths[i].empty()) {
      continue;
    }
    if (paths[i] != "-") {
      BS_ASSIGN(std::string place, TargetIdentity(paths[i]));
      lookup.places_.try_emplace(std::move(place), i);
    }
    BS_ASSIGN(const std::optional<FileNumber> number, NumberOf(paths[i]));
    if (number.has_value()) {
      lookup.numbers_.try_emplace(*number, i);
    }
  }
  return lookup;
}

Result<std::optional<size_t>> FileLookup::Find(const std::string& path) const {
  if (path.empty() || path == "-" || (places_.empty() && numbers_.empty())) {
    return std::optional<size_t>();
  }
  BS_ASSIGN(const std::string place, TargetIdentity(path));
  if (const auto found = places_.find(place); found != places_.end()) {
    return std::optional(found->second);
  }
  BS_ASSIGN(const std::optional<FileNumber> number, NumberOf(path));
  const auto found = number.has_value() ? numbers_.find(*number) : numbers_.end();
  return found == numbers_.end() ? std::optional<size_t>() : std::optional(found->second);
}

std::vector<std::string> InputPaths(const RunOptions& options) {
  std::vector<std::string> paths;
  for (const std::span<const InputFile> files : {options.files, options.test.files}) {
    std::transform(files.begin(), files.end(), std::back_inserter(paths),
                   [](const InputFile& file) { return file.path; });
  }
  for (const ParamValue& value : options.params.values) {
    if (value.type == ParamType::kFile) {
      paths.push_back(value.text);
    }
  }
  return paths;
}

Result<std::vector<std::string>> PathsBehind(std::span<const std::string> words) {
  std::vector<std::string> paths;
  for (const std::string& word : words) {
    const Result<std::vector<InputFile>> found = ExpandInputs({&word, 1});
    if (!found.ok() && found.error().code == ErrorCode::kIo) {
      return found.error();
    }
    if (found.ok()) {
      std::transform(found->begin(), found->end(), std::back_inserter(paths),
                     [](const InputFile& file) { return file.path; });
    }
  }
  return paths;
}

Result<void> CheckNoInput(const FileLookup& inputs, const std::string& target,
                          std::string_view writer) {
  BS_ASSIGN(const std::optional<size_t> found, inputs.Find(target));
  return found.has_value() ? IsInput(target, writer) : Result<void>();
}

Result<void> CheckNoInput(std::span<const std::string> inputs, const std::string& target,
                          std::string_view writer) {
  BS_ASSIGN(const FileLookup lookup, FileLookup::Of(inputs));
  return CheckNoInput(lookup, target, writer);
}

Result<std::string> OverlayPath(std::span<const InputFile> files, const std::string& overlay,
                                const InputFile& input) {
  fs::path name = fs::path(input.path).filename();
  if (name.extension() == ".zst") {
    name.replace_extension();
  }
  return TargetPath(files, overlay, name);
}

Result<std::string> SavePath(std::span<const InputFile> files, const std::string& save,
                             const InputFile& input) {
  fs::path name = fs::path(input.path).filename();
  if (name.extension() == ".gz" || name.extension() == ".zst") {
    name.replace_extension();
  }
  return TargetPath(files, save, name.replace_extension(".graph"));
}

Result<std::vector<Target>> TargetsOf(const RunOptions& options) {
  std::vector<Target> targets;
  for (const InputFile& file : options.files) {
    if (!options.overlay.empty()) {
      BS_ASSIGN(std::string path, OverlayPath(options.files, options.overlay, file));
      targets.push_back({"`overlay`", std::move(path)});
    }
  }
  for (const InputFile& file : options.files) {
    if (!options.save.empty()) {
      BS_ASSIGN(std::string path, SavePath(options.files, options.save, file));
      targets.push_back({"`save`", std::move(path)});
    }
  }
  return targets;
}

Result<void> CheckNoTarget(const RunOptions& options, std::span<const std::string> files) {
  BS_ASSIGN(const std::vector<Target> targets, TargetsOf(options));
  std::vector<std::string> paths;
  std::transform(targets.begin(), targets.end(), std::back_inserter(paths),
                 [](const Target& target) { return target.path; });
  BS_ASSIGN(const FileLookup lookup, FileLookup::Of(paths));
  for (const std::string& file : files) {
    BS_ASSIGN(const std::optional<size_t> found, lookup.Find(file));
    if (found.has_value()) {
      return Error{
          .code = ErrorCode::kInvalidArgument,
          .cause = fmt::format("`output` and {} would both write it", targets[*found].option),
          .file = paths[*found],
          .parameter = "output"};
    }
  }
  return {};
}

Result<void> CheckTargets(const RunOptions& options) {
  BS_TRY(CheckShape(options, "`overlay`", options.overlay));
  BS_TRY(CheckShape(options, "`save`", options.save));
  BS_ASSIGN(const FileLookup inputs, FileLookup::Of(InputPaths(options)));
  BS_ASSIGN(const std::vector<Target> targets, TargetsOf(options));
  std::map<std::string, std::string_view> options_of;  // by what the path leads to
  for (const auto& [option, path] : targets) {
    if (path.ends_with(".zst")) {
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("{} writes plain files or, named .gz, gzip", option),
                   {},
                   path};
    }
    BS_TRY(CheckFolderOf(path));
    BS_TRY(CheckNoInput(inputs, path, option));
    BS_ASSIGN(std::string place, TargetIdentity(path));
    const auto [known, is_new] = options_of.try_emplace(std::move(place), option);
    if (!is_new) {
      if (known->second == option) {
        return Error{ErrorCode::kInvalidArgument, "would be written for two traces of that name",
                     "rename one", path};
      }
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("{} and {} would both write it", known->second, option),
                   {},
                   path};
    }
  }
  return {};
}

}  // namespace borescope::internal
