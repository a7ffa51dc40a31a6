// What belongs to the process: where it records to, and the state of its log.
//
// The state lies on pages that the kernel wipes in a child made by fork, or by a clone without the
// C library's knowledge: all that holds of the parent alone (the open log, a thread that is opening
// it) is gone there, and the child opens a log of its own at its first record.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "borescope/recording/log_format.h"
#include "core/options.h"

namespace borescope::inject {

enum class Phase : uint32_t { kClosed = 0, kOpening, kOpen, kEnded };

inline constexpr uint32_t kEndedGeneration = 0xffffffff;

inline constexpr size_t kMostAwaitedEnds = 256;

struct LogState {
  // Of the open log; threads with another one have no chunk of it. 0: none is open.
  std::atomic<uint32_t> generation = 0;
  std::atomic<Phase> phase = Phase::kClosed;
  std::atomic<uint64_t> file_bytes = 0;
  std::atomic<uint64_t> sequence = 0;  // of the next chunk
  std::atomic<uint64_t> anchored_ns = 0;
  std::atomic<uint64_t> rule_window = 0;  // what the rules of this process did (rules.cc)
  // The process chunk: who writes into it claims the words first.
  uint64_t* process_words = nullptr;
  std::atomic<uint32_t> process_used = 0;
  uint32_t process_capacity = 0;
  // What a ring has overwritten, in the log: the latest time, the first, the number of chunks.
  std::atomic<uint64_t>* overwritten = nullptr;
  class Ring* ring = nullptr;                // a null pointer: the log holds all
  std::atomic<bool> is_full = false;         // a ring cannot grow any more
  std::atomic<uint64_t>* dropped = nullptr;  // the count of records that were not kept, in the log
  uint32_t pid = 0;
  std::atomic<uint32_t> fork_number = 0;  // ForkNumber
  uint64_t device = 0;                    // with inode: that the file at `path` is still this one
  uint64_t inode = 0;
  char path[3072] = {};
  // Ranges that may end on another thread, and whose end a rule waits for (endings.cc). 0: free.
  std::atomic<uint64_t> awaited_ends[kMostAwaitedEnds] = {};
  std::atomic<uint32_t> awaited_count = 0;
  std::atomic<bool> has_said_unawaited = false;  // that the end of a range cannot be awaited
};

// Never a null pointer. Set once, before the program runs.
extern LogState* g_log;
extern recording::Control* g_control;
extern Options g_options;

// Has the process record into a folder, at the first record. Called when the library is loaded,
// with what the environment says.
void BeginRecording(const char* folder, const char* options);

// The folder of the run; empty where nothing is recorded.
const char* RunFolder();

// open(2) of a file of the folder, by its path. Where that leads there no more, as the program has
// another root, by a descriptor of the folder that is open from the beginning on.
int OpenInFolder(const char* path, int flags, unsigned mode);

// Whether this program records its forks: by its name, or as all do.
bool RecordsForks();

// Whether the process was made by fork after the library was loaded.
bool IsForked();

// A number from 1 that differs from those of the processes that this one descends from by fork:
// what is not in the state is copied from them. Any thread.
uint32_t ForkNumber();

// Whether the library records at all; it may be paused.
inline bool IsEnabled() { return RunFolder()[0] != '\0'; }

// Whether what follows is recorded now.
inline bool IsRecording() {
  return __atomic_load_n(&g_control->is_recording, __ATOMIC_RELAXED) != 0;
}

}  // namespace borescope::inject
