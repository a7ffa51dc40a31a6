#include "borescope/verbs/open/input_watch.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "borescope/base/io/paths.h"
#include "borescope/engine/inputs/input_files.h"

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

}  // namespace

SettledFiles FileWatch::Look(Clock::time_point now) {
  SettledFiles settled;
  std::map<std::string, Known> seen;
  Result<std::vector<InputFile>> found = ExpandInputs(inputs_);
  if (found.ok()) {
    found = GroupRecordings(std::move(*found));
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
    seen.insert_or_assign(file.path, Known{look, since});
    if (look.bytes != 0 && now - since >= quiet_) {
      settled.files.emplace(file.path, look);
    } else {
      settled.growing += 1;
    }
  }
  known_ = std::move(seen);
  has_looked_ = true;
  return settled;
}

}  // namespace borescope::internal
