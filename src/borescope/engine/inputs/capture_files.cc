#include "borescope/engine/inputs/capture_files.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include "borescope/base/io/paths.h"
#include "borescope/base/text/text.h"
#include "borescope/engine/captures/load_captures.h"

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFiles = 4096;  // of a folder; more are no captures of one run

bool IsCalledCapture(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return Contains(name, "capture");
}

// What of one kind is in a folder, is not hidden, and is called a capture where that is asked for;
// nothing where it cannot be read.
Result<std::vector<fs::path>> ListFolder(const fs::path& folder, FileKind kind, bool by_name) {
  std::vector<fs::path> found;
  BS_ASSIGN(const std::vector<std::string> names, NamesIfAny(folder.string()));
  for (const std::string& name : names) {
    if (name.starts_with('.') || (by_name && !IsCalledCapture(name))) {
      continue;
    }
    const fs::path path = folder / name;
    BS_ASSIGN(const FileKind is, KindOf(path.string()));
    if (is == kind) {
      found.push_back(path);
    }
  }
  return found;
}

// In the order of their names.
Result<std::vector<std::string>> CapturesBeside(const fs::path& folder) {
  BS_ASSIGN(std::vector<fs::path> paths, ListFolder(folder, FileKind::kFile, true));
  BS_ASSIGN(const std::vector<fs::path> folders, ListFolder(folder, FileKind::kFolder, true));
  for (const fs::path& inner : folders) {
    BS_ASSIGN(const std::vector<fs::path> more, ListFolder(inner, FileKind::kFile, false));
    paths.insert(paths.end(), more.begin(), more.end());
  }
  std::vector<std::string> files;
  files.reserve(paths.size());
  for (const fs::path& path : paths) {
    files.push_back(path.lexically_normal().string());
  }
  std::sort(files.begin(), files.end(), NaturalLess);
  files.resize(std::min(files.size(), kMostFiles));
  return files;
}

fs::path FolderOf(const InputFile& file) {
  const fs::path folder = fs::path(file.path).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

Result<std::vector<std::string>> OthersThan(const std::string& path,
                                            const std::vector<std::string>& captures) {
  std::vector<std::string> others;
  for (const std::string& capture : captures) {
    BS_ASSIGN(const bool is_same, IsSameFile(capture, path));
    if (!is_same) {
      others.push_back(capture);
    }
  }
  return others;
}

}  // namespace

Result<void> FindCaptures(std::span<const std::string> named, std::shared_ptr<TraceStore> traces,
                          std::vector<InputFile>& files) {
  BS_ASSIGN(const std::vector<InputFile> found, ExpandInputs(named));
  for (const InputFile& capture : found) {
    BS_ASSIGN(const FileKind kind, KindOf(capture.path));
    if (kind == FileKind::kNothing) {
      return Error{ErrorCode::kIo, "No such file or directory",
                   "check the name given to `captures`", capture.path};
    }
  }
  const auto store = std::make_shared<CaptureStore>(std::move(traces));
  std::map<fs::path, std::vector<std::string>> beside;
  for (InputFile& file : files) {
    const bool is_file = file.content == nullptr && file.path != "-";
    if (!named.empty()) {
      for (const InputFile& capture : found) {
        file.captures.push_back(capture.path);
      }
    } else if (is_file) {
      const auto [place, is_new] = beside.try_emplace(FolderOf(file));
      if (is_new) {
        BS_ASSIGN(place->second, CapturesBeside(place->first));
      }
      file.captures = place->second;
    }
    if (is_file) {
      BS_ASSIGN(file.captures, OthersThan(file.path, file.captures));
    }
    file.captures_are_named = !named.empty();
    file.capture_store = store;
  }
  return {};
}

}  // namespace borescope::internal
