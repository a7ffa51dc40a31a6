#include "borescope/verbs/check/check_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/io/paths.h"
#include "borescope/check/budget.h"
#include "borescope/check/saved_runs.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/engine/targets/targets.h"

namespace borescope::internal {
namespace {

// Values of thousands of runs.
constexpr size_t kMostBytes = size_t{256} << 20;
constexpr size_t kHeadBytes = 16;
constexpr size_t kMostBudgetBytes = size_t{1} << 20;

Result<bool> IsSaved(const std::string& path) {
  BS_ASSIGN(const std::string head, BeginOfFile(path, kHeadBytes));
  return MayBeSavedRuns(head);
}

// Sorted by name, numbers by value.
Result<std::vector<std::string>> FilesIn(const std::string& folder) {
  std::vector<std::string> files;
  BS_ASSIGN(const std::vector<std::string> names, NamesIfAny(folder));
  for (const std::string& name : names) {
    const std::filesystem::path path = std::filesystem::path(folder) / name;
    if (path.extension() == ".json") {
      files.push_back(path.string());
    }
  }
  std::sort(files.begin(), files.end(), NaturalLess);
  return files;
}

Result<bool> HaveSameContent(const std::string& a, const std::string& b) {
  BS_ASSIGN(const std::unique_ptr<ByteSource> one, OpenFile(a));
  BS_ASSIGN(const std::unique_ptr<ByteSource> other, OpenFile(b));
  constexpr size_t kPiece = size_t{1} << 18;
  std::string left(kPiece, '\0');
  std::string right(kPiece, '\0');
  for (size_t read = kPiece; read == kPiece;) {
    BS_ASSIGN(read, InFile(a, ReadFully(*one, left.data(), kPiece)));
    BS_ASSIGN(const size_t more, InFile(b, ReadFully(*other, right.data(), kPiece)));
    if (read != more || left.compare(0, read, right, 0, more) != 0) {
      return false;
    }
  }
  return true;
}

// The files of an input that are there.
struct InputContent {
  std::string input;
  std::string path;
};

Error IsTwice(std::string_view parameter, const InputContent& one, const InputContent& other) {
  return UsageError(fmt::format("{} and {} are one recording", one.path, other.path),
                    "each run counts once, so name it once", std::string(parameter));
}

}  // namespace

Result<void> CheckNoneTwice(const std::vector<std::string>& inputs, std::string_view parameter) {
  std::map<uint64_t, std::vector<InputContent>> by_size;
  for (size_t i = 0; i < inputs.size(); ++i) {
    BS_ASSIGN(const std::vector<std::string> paths, PathsBehind({&inputs[i], 1}));
    for (const std::string& path : paths) {
      BS_ASSIGN(const uint64_t size, SizeOfFile(path));
      if (size == 0) {
        continue;
      }
      // By its number: one word given twice is two inputs.
      const InputContent content{std::to_string(i), path};
      for (const InputContent& other : by_size[size]) {
        BS_ASSIGN(const bool is_same_file, IsSameFile(path, other.path));
        BS_ASSIGN(const bool is_same,
                  is_same_file ? Result<bool>(true) : HaveSameContent(path, other.path));
        if (other.input != content.input && is_same) {
          return IsTwice(parameter, other, content);
        }
      }
      by_size[size].push_back(content);
    }
  }
  return {};
}

Result<BudgetFile> ReadBudgetAt(const std::string& path) {
  if (path.empty()) {
    return BudgetFile();
  }
  BS_ASSIGN(const std::string text, OfParameter("budget", ReadSmallFile(path, kMostBudgetBytes)));
  return ReadBudgetFile(text, path);
}

Result<std::string> ReadSmallFile(const std::string& path, size_t most) {
  BS_ASSIGN(const std::unique_ptr<ByteSource> source, OpenFile(path));
  std::string text;
  constexpr size_t kPiece = size_t{1} << 16;
  for (size_t read = kPiece; read == kPiece && text.size() <= most;) {
    text.resize(text.size() + kPiece);
    BS_ASSIGN(read, InFile(path, ReadFully(*source, text.data() + text.size() - kPiece, kPiece)));
    text.resize(text.size() - kPiece + read);
  }
  if (text.size() > most) {
    return Error{ErrorCode::kInvalidArgument, fmt::format("larger than {} MiB", most >> 20),
                 "is it the right file?", path};
  }
  return text;
}

Result<std::vector<std::vector<RunValues>>> SavedRunsAt(const std::string& path) {
  BS_ASSIGN(const FileKind kind, KindOf(path));
  std::vector<std::string> files = {path};
  if (kind == FileKind::kFolder) {
    BS_ASSIGN(files, FilesIn(path));
  }
  std::vector<std::vector<RunValues>> groups;
  for (const std::string& file : files) {
    BS_ASSIGN(const bool is_saved, IsSaved(file));
    if (!is_saved) {
      continue;
    }
    BS_ASSIGN(const std::string text, ReadSmallFile(file, kMostBytes));
    BS_ASSIGN(std::vector<RunValues> runs, InFile(file, ReadSavedRuns(text)));
    groups.push_back(std::move(runs));
  }
  return groups;
}

}  // namespace borescope::internal
