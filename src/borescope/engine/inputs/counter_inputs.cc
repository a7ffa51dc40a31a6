#include "borescope/engine/inputs/counter_inputs.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "borescope/base/io/paths.h"
#include "borescope/base/stop.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/ingest/ncu/counter_reports.h"

namespace borescope::internal {
namespace {

constexpr int kDeepestFolder = 5;  // out/pass_1/host/…

// Adds the reports in a folder and in the folders in it.
Result<void> AddFolder(const std::string& folder, int depth, std::vector<std::string>& paths) {
  BS_ASSIGN(std::vector<std::string> names, NamesIn(folder));
  std::sort(names.begin(), names.end(), NaturalLess);
  for (const std::string& name : names) {
    CheckStop();
    if (name.starts_with('.')) {
      continue;
    }
    std::string path = (std::filesystem::path(folder) / name).string();
    BS_ASSIGN(const FileKind kind, KindOf(path));
    if (kind == FileKind::kFolder && depth < kDeepestFolder) {
      BS_TRY(AddFolder(path, depth + 1, paths));
    } else if (kind == FileKind::kFile) {
      BS_ASSIGN(const std::optional<TraceFormat> format, CounterFormatOfFile(path));
      if (format.has_value()) {
        paths.push_back(std::move(path));
      }
    }
  }
  return {};
}

Result<std::vector<std::string>> PathsOfInput(const std::string& input) {
  std::vector<std::string> paths;
  BS_ASSIGN(const FileKind kind, input == "-" ? Result(FileKind::kOther) : KindOf(input));
  if (kind == FileKind::kFolder) {
    BS_TRY(AddFolder(input, 0, paths));
    if (paths.empty()) {
      return Error{ErrorCode::kInvalidArgument, "no report of counters in this folder",
                   "give the folder with the .ncu-rep files, or with the counters of rocprofv3",
                   input};
    }
    return paths;
  }
  BS_ASSIGN(const std::vector<InputFile> files, ExpandInputs({&input, 1}));
  for (const InputFile& file : files) {
    paths.push_back(file.path);
  }
  return paths;
}

}  // namespace

Result<std::vector<std::string>> FindCounterFiles(std::span<const std::string> inputs) {
  std::vector<std::string> files;
  std::set<std::string> seen;
  for (const std::string& input : inputs) {
    BS_ASSIGN(std::vector<std::string> paths, PathsOfInput(input));
    for (std::string& path : paths) {
      BS_ASSIGN(std::string identity, PathWithoutLinks(path));
      if (seen.insert(std::move(identity)).second) {
        files.push_back(std::move(path));
      }
    }
  }
  return files;
}

Result<std::vector<CounterReport>> ReadCounters(std::span<const std::string> inputs,
                                                Diagnostics& diagnostics) {
  BS_ASSIGN(const std::vector<std::string> files, FindCounterFiles(inputs));
  return ReadCounterReports(files, diagnostics);
}

}  // namespace borescope::internal
