// How ranks of a job failed, by its logs and error files, and which failure came first.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "borescope/postmortem/logs/job_logs.h"

namespace borescope::internal {

// How a rank ended, what explains most first.
enum class Ending : uint8_t { kOutOfMemory, kHostMemory, kException, kNotStarted, kSignal, kExit };

// What ended a rank, from all its events. The events belong to the caller.
struct Death {
  std::optional<int32_t> rank;
  Ending ending = Ending::kExit;
  const JobEvent* event = nullptr;      // the one that says most
  std::vector<const JobEvent*> events;  // all of it, as their files have them
  std::optional<int> exit_code;         // negative: a signal
  bool is_certain = false;              // an error file or an exit code, and no traceback alone
  int64_t unix_ns = 0;                  // the earliest that an event says; 0: not known
  bool is_time_least = false;           // it was then or later
  bool is_rank_concluded = false;       // no line says it: others wait for that rank alone
  const JobEvent* outlived = nullptr;   // an exception after which the log of the rank goes on
  // Of an exception without a rank: how the rank ended that a launcher names as the first, if it
  // names one, and how many ranks ended with an exit code and nothing that says why.
  const JobEvent* status = nullptr;
  size_t statuses = 0;
};

// One failure, of one rank or of several alike.
struct Failure {
  std::vector<Death> deaths;   // the earliest first, as far as that is known
  std::vector<int32_t> ranks;  // ascending; empty: not known
};

// What says which of two failures came first.
enum class OrderBasis : uint8_t {
  kNone,
  kNear,      // their times, which are too close for clocks of two hosts, or of earlier lines
  kTimes,     // their times
  kLauncher,  // it names one of them as the first
  kLog,       // one log has both
};
struct FailureOrder {
  OrderBasis basis = OrderBasis::kNone;
  bool is_first_earlier = false;
  int64_t apart_ns = 0;  // of kNear and kTimes
};
// Clocks of hosts that are less apart count as equal.
inline constexpr int64_t kSameMomentNs = 2'000'000'000;

FailureOrder OrderOf(const Failure& first, const Failure& second);

// All failures, the earliest first as far as anything says; else exceptions, signals and exits
// before lack of memory, then by rank. Exceptions after which the program went on are none, unless
// processes failed and nothing else says why.
std::vector<Failure> FindFailures(std::span<const JobEvent> events);

// Whether the event ended a process, or reports that one ended.
bool EndsProcess(const JobEvent& event);
// Whether Slurm reports that a task crashed: by a signal that the program raised itself.
bool IsCrashOfTask(const JobEvent& event);

}  // namespace borescope::internal
