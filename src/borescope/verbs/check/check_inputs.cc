#include "borescope/verbs/check/check_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "borescope/base/io/byte_source.h"
#include "borescope/check/reports/saved_runs.h"
#include "borescope/engine/inputs/input_files.h"

namespace borescope::internal {
namespace {

// Values of thousands of runs.
constexpr size_t kMostBytes = size_t{256} << 20;
constexpr size_t kHeadBytes = 16;

bool IsSaved(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return false;
  }
  const Result<std::unique_ptr<ByteSource>> source = OpenFile(path);
  if (!source.ok()) {
    return false;
  }
  std::string head(kHeadBytes, '\0');
  const Result<size_t> size = ReadFully(**source, head.data(), head.size());
  return size.ok() && MayBeSavedRuns(std::string_view(head).substr(0, *size));
}

// Sorted by name, numbers by value.
std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".json") {
      files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end(), NaturalLess);
  return files;
}

}  // namespace

Result<std::string> ReadSmallFile(const std::string& path, size_t most) {
  BS_ASSIGN(const std::unique_ptr<ByteSource> source, OpenFile(path));
  std::string text;
  constexpr size_t kPiece = size_t{1} << 16;
  for (size_t read = kPiece; read == kPiece && text.size() <= most;) {
    text.resize(text.size() + kPiece);
    BS_ASSIGN(read, About(path, ReadFully(*source, text.data() + text.size() - kPiece, kPiece)));
    text.resize(text.size() - kPiece + read);
  }
  if (text.size() > most) {
    return UsageError(
        fmt::format("{}: larger than {} MiB; is it the right file?", path, most >> 20));
  }
  return text;
}

Result<std::vector<std::vector<RunValues>>> SavedRunsAt(const std::string& path) {
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(path, ignored);
  std::vector<std::vector<RunValues>> groups;
  for (const std::string& file : is_folder ? FilesIn(path) : std::vector<std::string>{path}) {
    if (!IsSaved(file)) {
      continue;
    }
    BS_ASSIGN(const std::string text, ReadSmallFile(file, kMostBytes));
    BS_ASSIGN(std::vector<RunValues> runs, About(file, ReadSavedRuns(text)));
    groups.push_back(std::move(runs));
  }
  return groups;
}

}  // namespace borescope::internal
