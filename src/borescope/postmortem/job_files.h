// The files that a dead job left: found in folders, recognised by what is in them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "borescope/base/io/inflate.h"
#include "borescope/base/memory_limit.h"
#include "borescope/base/result.h"

namespace borescope::internal {

enum class JobFileKind : uint8_t {
  kNone,            // nothing that a post-mortem reads
  kFlightRecorder,  // dump of PyTorch's flight recorder: pickle or JSON
  kMemorySnapshot,  // snapshot of PyTorch's caching allocator: pickle or JSON
  kPickle,          // a pickle of something else
  kOther,           // text, perhaps a log
  kCount,
};
// "flight-recorder"; empty for kNone.
std::string_view JobFileKindName(JobFileKind kind);

struct JobFile {
  std::string path;    // as it was named, or below the folder that was
  std::string folder;  // that holds it
  JobFileKind kind = JobFileKind::kNone;
  bool is_json = false;
  bool is_named = false;         // on its own: it should be readable
  std::optional<int32_t> rank;   // that its name says
  int64_t modified_ns = 0;       // Unix time; 0: not known
  uint64_t bytes = 0;            // as stored
  std::optional<Error> failure;  // why it could not be opened
  bool is_trace = false;         // of kOther: a profile, which other verbs read
  std::string_view oddity = {};  // of kOther: why it is no dump, in words
  // Of kOther: what it is, if it is of another tool: "a report of NCCL's RAS service".
  std::string_view foreign = {};
};

// Folders are searched to this depth, and for so many files.
inline constexpr int kJobFolderDepth = 4;
inline constexpr size_t kMostJobFiles = 100'000;

// What lies below a folder and is not looked at, the first of each kind; empty if there is none.
struct UnsearchedPlaces {
  std::string too_deep;  // a folder
  std::string link;      // to what is not in the folder that was named, or to nothing
};

// The files of `paths`, each a file, a folder, or a pattern of the shell for such; in the order of
// their paths. Of a folder, files of kNone are left out. kIo where a path leads to nothing, or a
// folder cannot be read; kInvalidArgument where a folder holds too many files. `left_out`, where
// given, becomes what was not looked at.
Result<std::vector<JobFile>> FindJobFiles(std::span<const std::string> paths, int threads,
                                          UnsearchedPlaces* left_out = nullptr);

// Those of one kind, in their order.
std::vector<JobFile> OfKind(std::span<const JobFile> files, JobFileKind kind);

// What `read` makes of the inflated bytes of a file: a reader of its format, which gives a Result
// of something with `is_cut`. A file whose compressed form ends in the middle is cut as well.
// Errors name the file.
template <class Read>
std::invoke_result_t<Read, ByteSource&> ReadJobFile(const JobFile& file, const Read& read) {
  if (file.failure.has_value()) {
    return *file.failure;
  }
  BS_ASSIGN(const OpenedSource source, OpenInflated(file.path));
  std::invoke_result_t<Read, ByteSource&> made = read(*source.bytes);
  if (!made.ok()) {
    return InFile(file.path, made.error());
  }
  const bool is_damaged = source.inflating != nullptr && !source.inflating->damage().empty();
  made->is_cut = made->is_cut || is_damaged;
  return made;
}

// What `read` returns, a Result, within so many bytes of memory (0: any): kIo, with the name of the
// first file, where it takes more.
Error TakesTooMuch(uint64_t memory_limit, const std::string& first_file);
template <class Read>
std::invoke_result_t<Read> ReadJobWithin(uint64_t memory_limit, const std::string& first_file,
                                         const Read& read) {
  const MemoryLimit limit(memory_limit);
  std::optional<std::invoke_result_t<Read>> made = WithinMemory(limit, read);
  if (!made.has_value()) {
    return TakesTooMuch(memory_limit, first_file);
  }
  return std::move(*made);
}

// The rank that a file name says: digits after "rank", else those at its end before endings such
// as .pickle, .json and .gz.
std::optional<int32_t> RankOfName(std::string_view name);
// That of a snapshot, which its user names: a number apart from other words, and not as long as a
// date. leak2.pickle and snapshot_20261128.pickle say no rank.
std::optional<int32_t> RankOfSnapshotName(std::string_view name);

// Whether a file is named as PyTorch or its users name dumps: "trace_3", "dump_rank3.pickle". What
// is named so has to be one.
bool IsDumpName(std::string_view name);

}  // namespace borescope::internal
