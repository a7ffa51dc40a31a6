#include "borescope/verbs/open/input_watch.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/io/inflate.h"
#include "borescope/base/io/paths.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/verbs/open/live_steps.h"

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;

bool IsTemporary(std::string_view path) {
  constexpr std::string_view kEndings[] = {".tmp", ".temp", ".part", ".partial", ".swp", "~"};
  return std::any_of(std::begin(kEndings), std::end(kEndings),
                     [&](std::string_view ending) { return path.ends_with(ending); });
}

// Adds what a file looks like now; nothing of one that has gone.
void AddLook(const std::string& path, FileLook& look) {
  const Result<uint64_t> bytes = SizeOfFile(path);
  if (!bytes.ok()) {
    return;  // looked at again soon
  }
  look.bytes += *bytes;
  std::error_code error;
  const fs::file_time_type changed = fs::last_write_time(path, error);
  if (!error) {
    const auto since = changed.time_since_epoch();
    look.changed_ns = std::max<int64_t>(
        look.changed_ns, std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
  }
}

FileLook LookOf(const InputFile& file) {
  FileLook look;
  AddLook(file.path, look);
  for (const std::string& log : file.logs) {
    if (log != file.path) {
      AddLook(log, look);
    }
  }
  return look;
}

// By the file system's clock; a file of the future has changed now.
bool IsOld(const FileLook& look, std::chrono::milliseconds quiet) {
  const fs::file_time_type changed{std::chrono::duration_cast<fs::file_time_type::duration>(
      std::chrono::nanoseconds(look.changed_ns))};
  return fs::file_time_type::clock::now() - changed >= quiet;
}

// A recording that runs is read from its begin for each report: beyond this only once it has ended.
constexpr uint64_t kMostRunningBytes = uint64_t{256} << 20U;

// For which JSON that ends in the middle counts as being written.
constexpr std::chrono::milliseconds kPatience{60'000};

// The brackets and strings of JSON, whose other faults are those of its readers.
class OpenBrackets {
 public:
  void Take(std::string_view piece) {
    for (const char c : piece) {
      if (is_string_) {
        is_string_ = is_escape_ || c != '"';
        is_escape_ = !is_escape_ && c == '\\';
      } else if (c == '"') {
        is_string_ = true;
      } else if (c == '{' || c == '[') {
        ++depth_;
      } else if (c == '}' || c == ']') {
        --depth_;
      }
    }
  }
  bool are_closed() const { return depth_ <= 0 && !is_string_; }

 private:
  int64_t depth_ = 0;
  bool is_string_ = false;
  bool is_escape_ = false;
};

bool BeginsAsJson(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

}  // namespace

bool IsWholeJson(const std::string& path) {
  constexpr size_t kPiece = size_t{1} << 20U;
  Result<OpenedSource> opened = OpenInflated(path);
  if (!opened.ok()) return true;
  std::string piece(kPiece, '\0');
  OpenBrackets brackets;
  for (bool is_first = true;; is_first = false) {
    const Result<size_t> read = ReadFully(*opened->bytes, piece.data(), piece.size());
    if (!read.ok()) return true;
    const std::string_view text = std::string_view(piece).substr(0, *read);
    if (is_first && !BeginsAsJson(text) && !text.empty()) return true;
    brackets.Take(text);
    if (*read < piece.size()) break;
  }
  const bool is_damaged = opened->inflating != nullptr && !opened->inflating->damage().empty();
  return brackets.are_closed() && !is_damaged;
}

bool FileWatch::IsWhole(const InputFile& file, Known& known) const {
  if (!file.logs.empty()) {
    return known.look.bytes <= kMostRunningBytes || !IsRunning(file.logs);
  }
  if (IsOld(known.look, std::max(kPatience, quiet_))) {
    return true;
  }
  if (!known.is_json_whole.has_value()) known.is_json_whole = IsWholeJson(file.path);
  return *known.is_json_whole;
}

namespace {

// What the user named is an error where something hides it: it has not gone.
Result<std::vector<InputFile>> FilesOf(std::span<const std::string> inputs) {
  BS_ASSIGN(std::vector<InputFile> files, ExpandInputs(inputs));
  for (const InputFile& file : files) {
    if (!file.from_directory) {
      BS_TRY(KindOf(file.path));
    }
  }
  return GroupRecordings(std::move(files));
}

}  // namespace

SettledFiles FileWatch::Look(Clock::time_point now) {
  SettledFiles settled;
  std::map<std::string, Known> seen;
  const Result<std::vector<InputFile>> found = FilesOf(inputs_);
  if (!found.ok()) {
    settled.failure = found.error();
    if (found.error().code == ErrorCode::kIo) {
      last_.failure = std::move(settled.failure);
      return last_;
    }
  }
  for (const InputFile& file : found.ok() ? *found : std::vector<InputFile>()) {
    if (IsTemporary(file.path)) {
      continue;
    }
    const FileLook look = LookOf(file);
    if (look == FileLook()) {
      continue;
    }
    const auto before = known_.find(file.path);
    const bool is_same = before != known_.end() && before->second.look == look;
    // What is there at the first look and old has been so for long.
    const bool is_old = !has_looked_ && IsOld(look, quiet_);
    const Clock::time_point since = is_same ? before->second.since : is_old ? now - quiet_ : now;
    Known& known =
        seen.insert_or_assign(file.path, Known{.look = look, .since = since}).first->second;
    const bool is_quiet = look.bytes != 0 && now - since >= quiet_;
    known.is_whole = is_same && before->second.is_whole;
    if (is_same) known.is_json_whole = before->second.is_json_whole;
    known.is_whole = known.is_whole || (is_quiet && IsWhole(file, known));
    if (is_quiet && known.is_whole) {
      settled.files.emplace(file.path, look);
    } else {
      settled.growing += 1;
    }
  }
  known_ = std::move(seen);
  has_looked_ = true;
  last_ = settled;
  return settled;
}

}  // namespace borescope::internal
