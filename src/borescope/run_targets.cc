#include "borescope/run_targets.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>

namespace borescope {
namespace {

namespace fs = std::filesystem;

Result<void> CheckFolderOf(const std::string& target) {
  std::error_code ignored;
  const fs::path folder = fs::path(target).parent_path();
  if (!folder.empty() && !fs::is_directory(folder, ignored)) {
    return Error{ErrorCode::kIo, target + ": cannot write: there is no folder " + folder.string() +
                                     "; make it first"};
  }
  return {};
}

// Several traces go into a folder.
Result<void> CheckShape(const RunOptions& options, std::string_view option,
                        const std::string& given) {
  std::error_code ignored;
  if (given == "-") {
    return UsageError(fmt::format("{} writes a file, not standard output; name one", option));
  }
  if (!given.empty() && options.files.size() > 1 && !fs::is_directory(given, ignored)) {
    return UsageError(
        fmt::format("{}: is no folder; with several traces {} writes one each, under their names, "
                    "into a folder that exists",
                    given, option));
  }
  return {};
}

}  // namespace

std::vector<Target> TargetsOf(const RunOptions& options) {
  std::vector<Target> targets;
  for (const InputFile& file : options.files) {
    if (!options.overlay.empty()) {
      targets.push_back({"--overlay", OverlayPath(options.files, options.overlay, file)});
    }
  }
  for (const InputFile& file : options.files) {
    if (!options.save.empty()) {
      targets.push_back({"--save", SavePath(options.files, options.save, file)});
    }
  }
  return targets;
}

Result<void> CheckTargets(const RunOptions& options) {
  BS_TRY(CheckShape(options, "--overlay", options.overlay));
  BS_TRY(CheckShape(options, "--save", options.save));
  std::error_code ignored;
  std::map<std::string, std::string_view> options_of;  // by what the path leads to
  for (const auto& [option, path] : TargetsOf(options)) {
    if (path.ends_with(".zst")) {
      return UsageError(fmt::format("{}: {} writes plain files or, named .gz, gzip", path, option));
    }
    BS_TRY(CheckFolderOf(path));
    if (fs::exists(path, ignored) && IsAmong(options.files, path)) {
      return UsageError(fmt::format("{}: is an input; {} would overwrite it", path, option));
    }
    const auto [known, is_new] = options_of.try_emplace(TargetIdentity(path), option);
    if (!is_new) {
      return UsageError(
          known->second == option
              ? path + ": would be written for two traces of that name; rename one"
              : fmt::format("{}: {} and {} would both write it", path, known->second, option));
    }
  }
  return {};
}

}  // namespace borescope
