#include "borescope/engine/inputs/capture_files.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include "borescope/base/text/text.h"
#include "borescope/engine/captures/capture_store.h"

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFiles = 4096;  // of a folder; more are no captures of one run

bool IsCalledCapture(const fs::path& path) {
  std::string name = path.filename().string();
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return Contains(name, "capture");
}

bool IsHidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

// The regular files of a folder for which `is_wanted` holds; nothing where it cannot be read.
template <class IsWanted>
void ListFiles(const fs::path& folder, const IsWanted& is_wanted, std::vector<std::string>& files) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    const bool is_file = entry->is_regular_file(ignored) && !IsHidden(entry->path());
    if (is_file && is_wanted(entry->path()) && files.size() < kMostFiles) {
      files.push_back(entry->path().lexically_normal().string());
    }
  }
}

std::vector<fs::path> CaptureFolders(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_directory(ignored) && !IsHidden(entry->path()) &&
        IsCalledCapture(entry->path())) {
      found.push_back(entry->path());
    }
  }
  return found;
}

// In the order of their names.
std::vector<std::string> CapturesBeside(const fs::path& folder) {
  std::vector<std::string> files;
  ListFiles(folder, IsCalledCapture, files);
  for (const fs::path& inner : CaptureFolders(folder)) {
    ListFiles(inner, [](const fs::path&) { return true; }, files);
  }
  std::sort(files.begin(), files.end(), NaturalLess);
  return files;
}

fs::path FolderOf(const InputFile& file) {
  const fs::path folder = fs::path(file.path).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

bool IsSameFile(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return fs::equivalent(a, b, ignored);
}

}  // namespace

Result<void> FindCaptures(std::span<const std::string> named, std::shared_ptr<TraceStore> traces,
                          std::vector<InputFile>& files) {
  BS_ASSIGN(const std::vector<InputFile> found, ExpandInputs(named));
  for (const InputFile& capture : found) {
    std::error_code error;
    if (!fs::exists(capture.path, error)) {
      return Error{ErrorCode::kIo, capture.path + ": " +
                                       (error ? error.message() : "No such file or directory") +
                                       "; check the name given to --captures"};
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
      if (is_new) place->second = CapturesBeside(place->first);
      file.captures = place->second;
    }
    std::erase_if(file.captures, [&](const std::string& capture) {
      return is_file && IsSameFile(capture, file.path);
    });
    file.captures_are_named = !named.empty();
    file.capture_store = store;
  }
  return {};
}

}  // namespace borescope::internal
