#include "borescope/engine/targets/targets.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>

#include "borescope/output/sink/sink.h"

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;

// One text for all paths that lead to one place, whether or not there is a file yet.
std::string TargetIdentity(const std::string& path) {
  std::error_code error;
  return fs::weakly_canonical(BehindLinks(fs::absolute(path, error)), error).string();
}

// Device and number, which hard links to one file share, and standard input ("-") that comes from
// it. None of a pipe or a device: what is written there overwrites nothing.
std::optional<std::pair<uint64_t, uint64_t>> FileNumber(const std::string& path) {
  struct stat status{};
  const int failed = path == "-" ? fstat(STDIN_FILENO, &status) : stat(path.c_str(), &status);
  if (failed != 0 || !(S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))) {
    return std::nullopt;
  }
  return std::pair<uint64_t, uint64_t>(status.st_dev, status.st_ino);
}

// What is written of one of the files: the target itself, or of that name in it.
std::string TargetPath(std::span<const InputFile> files, const std::string& target,
                       const fs::path& name) {
  std::error_code ignored;
  const bool is_file = files.size() == 1 && !fs::is_directory(target, ignored);
  return is_file ? target : (fs::path(target) / name).string();
}

Error IsInput(const std::string& target, std::string_view writer) {
  return Error{ErrorCode::kInvalidArgument, "is an input",
               fmt::format("{} would overwrite it", writer), target};
}

Result<void> CheckFolderOf(const std::string& target) {
  std::error_code ignored;
  const fs::path folder = fs::path(target).parent_path();
  if (!folder.empty() && !fs::is_directory(folder, ignored)) {
    return Error{ErrorCode::kIo, "cannot write: there is no folder " + folder.string(),
                 "make it first", target};
  }
  return {};
}

// Several traces go into a folder.
Result<void> CheckShape(const RunOptions& options, std::string_view option,
                        const std::string& given) {
  std::error_code ignored;
  if (given == "-") {
    return UsageError(fmt::format("{} writes a file, not standard output", option), "name one");
  }
  if (!given.empty() && options.files.size() > 1 && !fs::is_directory(given, ignored)) {
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

FileLookup::FileLookup(std::span<const std::string> paths) {
  for (size_t i = 0; i < paths.size(); ++i) {
    if (paths[i].empty()) {
      continue;
    }
    if (paths[i] != "-") {
      places_.try_emplace(TargetIdentity(paths[i]), i);
    }
    if (const auto number = FileNumber(paths[i]); number.has_value()) {
      numbers_.try_emplace(*number, i);
    }
  }
}

std::optional<size_t> FileLookup::Find(const std::string& path) const {
  if (path.empty() || path == "-" || (places_.empty() && numbers_.empty())) {
    return std::nullopt;
  }
  if (const auto place = places_.find(TargetIdentity(path)); place != places_.end()) {
    return place->second;
  }
  const auto number = FileNumber(path);
  const auto found = number.has_value() ? numbers_.find(*number) : numbers_.end();
  return found == numbers_.end() ? std::nullopt : std::optional(found->second);
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
  return inputs.Find(target).has_value() ? IsInput(target, writer) : Result<void>();
}

Result<void> CheckNoInput(std::span<const std::string> inputs, const std::string& target,
                          std::string_view writer) {
  return CheckNoInput(FileLookup(inputs), target, writer);
}

std::string OverlayPath(std::span<const InputFile> files, const std::string& overlay,
                        const InputFile& input) {
  fs::path name = fs::path(input.path).filename();
  if (name.extension() == ".zst") {
    name.replace_extension();
  }
  return TargetPath(files, overlay, name);
}

std::string SavePath(std::span<const InputFile> files, const std::string& save,
                     const InputFile& input) {
  fs::path name = fs::path(input.path).filename();
  if (name.extension() == ".gz" || name.extension() == ".zst") {
    name.replace_extension();
  }
  return TargetPath(files, save, name.replace_extension(".graph"));
}

std::vector<Target> TargetsOf(const RunOptions& options) {
  std::vector<Target> targets;
  for (const InputFile& file : options.files) {
    if (!options.overlay.empty()) {
      targets.push_back({"`overlay`", OverlayPath(options.files, options.overlay, file)});
    }
  }
  for (const InputFile& file : options.files) {
    if (!options.save.empty()) {
      targets.push_back({"`save`", SavePath(options.files, options.save, file)});
    }
  }
  return targets;
}

Result<void> CheckNoTarget(const RunOptions& options, std::span<const std::string> files) {
  const std::vector<Target> targets = TargetsOf(options);
  std::vector<std::string> paths;
  std::transform(targets.begin(), targets.end(), std::back_inserter(paths),
                 [](const Target& target) { return target.path; });
  const FileLookup lookup(paths);
  for (const std::string& file : files) {
    if (const std::optional<size_t> found = lookup.Find(file); found.has_value()) {
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
  const FileLookup inputs(InputPaths(options));
  std::map<std::string, std::string_view> options_of;  // by what the path leads to
  for (const auto& [option, path] : TargetsOf(options)) {
    if (path.ends_with(".zst")) {
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("{} writes plain files or, named .gz, gzip", option),
                   {},
                   path};
    }
    BS_TRY(CheckFolderOf(path));
    BS_TRY(CheckNoInput(inputs, path, option));
    const auto [known, is_new] = options_of.try_emplace(TargetIdentity(path), option);
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
