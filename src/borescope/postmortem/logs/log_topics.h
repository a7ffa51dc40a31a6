// What a line of a log may be about, by words that it has: one pass over the line, as most have
// none, and those that have some are compared only with the patterns that need these.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace borescope::internal {

enum class LogTopic : uint32_t {
  kTrace = 1U << 0U,      // tracebacks, stacks and their frames
  kChain = 1U << 1U,      // what joins one exception to the next
  kSummary = 1U << 2U,    // torchrun's list of failures
  kWatchdog = 1U << 3U,   // operations that the watchdog of NCCL gave up
  kTorch = 1U << 4U,      // other words of PyTorch and NCCL
  kThrown = 1U << 5U,     // exceptions of C++ that nothing caught
  kKernel = 1U << 6U,     // Xid errors, killed processes
  kMachine = 1U << 7U,    // faults of the machine and its devices
  kScheduler = 1U << 8U,  // Slurm, PBS, LSF
  kKubernetes = 1U << 9U,
  kLauncher = 1U << 10U,
  kMpi = 1U << 11U,
  kMpiWord = 1U << 12U,  // a launcher of MPI, which can write the rank in brackets before each line
  kCrash = 1U << 13U,    // of glibc, UCX and assertions
  kShell = 1U << 14U,    // signals by the words of shells
  kNoStart = 1U << 15U,  // why a command could not run
};

// Topics of `LogTopic`, one bit each. More may come back than a line has; never less.
using LogTopics = uint32_t;
inline bool Has(LogTopics topics, LogTopic topic) {
  return (topics & static_cast<uint32_t>(topic)) != 0;
}

// A part of lines, and the topic whose patterns need it: each of them has one of these in every
// line that it matches.
struct TopicWord {
  std::string_view word;
  LogTopic topic;
};
std::span<const TopicWord> TopicWords();

// Those of the words in `line`, in the time of one pass, whatever the line is. Safe from any
// thread.
LogTopics TopicsOf(std::string_view line);

}  // namespace borescope::internal
