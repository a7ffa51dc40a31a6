// The last steps of recordings of `borescope record` that are still being written, as they come:
// their times and what devices did in them, by the definitions of `breakdown --by step`.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/base/result.h"
#include "borescope/ingest/recording/recording_tail.h"
#include "borescope/verbs/open/look_pace.h"

namespace borescope::internal {

// One step on one device.
struct LiveStep {
  int64_t number = 0;
  int64_t gpu = kMissing;   // missing where the process has no device work yet
  int64_t begin_ns = 0;     // on the host, on the recording's clock
  int64_t end_ns = 0;       // on the host; of a step that runs so far
  TimeSplit time = {};      // by the rules of `breakdown --by step`, of what is known
  int64_t launches = 0;     // of device work, by their calls
  int64_t unreported = 0;   // of these, whose work the recording does not have (yet)
  bool is_running = false;  // it has not ended on the host
  bool may_grow = false;    // records of its device work may still come

  bool is_whole() const { return !is_running && !may_grow && unreported == 0; }
};

// What of one process of a run is seen from here.
enum class WriterState : uint8_t {
  kRunning,
  kPaused,     // it runs, and recording is switched off
  kEnded,      // no more comes
  kDied,       // it is gone without having ended its log
  kElsewhere,  // another machine wrote it, so that this cannot be seen
};

struct LiveRank {
  int64_t rank = kMissing;  // missing outside of a distributed job
  std::string name;         // of the folder of its recording
  WriterState state = WriterState::kRunning;
  std::vector<LogEnd> ends;  // of its processes
  int64_t base_ns = 0;       // Unix time at zero of the recording's clock; 0: unknown
  int64_t last_ns = 0;       // the last moment that was recorded
  uint64_t log_bytes = 0;
  uint64_t unread_bytes = 0;      // of the log, in which names may be that are not known yet
  bool are_steps_missed = false;  // more was written between two looks than one look reads
  bool has_steps = false;
  std::deque<LiveStep> steps;  // the last ones, by number and device
  std::string trouble = {};    // why it could not be read this time; empty: it could
  std::string doubt = {};      // why a pause of what runs could not be seen; empty: it could
};

// The steps of `view` on each device, in their order; `open_begins` are of ranges that have not
// ended. Steps that begin before `tail.complete_from_ns` are left out, as the view may lack a part
// of them.
Result<std::vector<LiveStep>> LiveStepsOf(const RankView& view, const Tail& tail,
                                          const std::vector<int64_t>& open_begins);

// Whether a process that writes one of these logs still runs on this machine.
bool IsRunning(const std::vector<std::string>& logs);
// Whether a process of one of the recordings that `inputs` lead to still runs on this machine.
bool IsAnyRecording(const std::vector<std::string>& inputs);

// Follows recordings. Thread-safe: threads that look at the same time look at different recordings,
// so that one with much to read does not hold back the last steps of the others (LookPace).
class StepWatch {
 public:
  // Of each rank and device so many steps are kept.
  static constexpr size_t kSteps = 40;

  // `inputs` as those of a run, which may lead to nothing yet.
  explicit StepWatch(std::vector<std::string> inputs, TailLimits limits = {});

  // Looks at one recording, of those that were being written at this or an earlier look, or at
  // which there are. False where no turn has come. The work follows what was written since the last
  // look at it (TailLimits); a log is not read from its begin again.
  bool Look();

  // What the recordings held at the last look at each, by rank.
  std::vector<LiveRank> ranks() const;

 private:
  struct Followed {
    RecordingTail tail;
    LiveRank rank = {};
    int64_t from_ns = 0;  // what is older is known
    bool is_followed = false;
    bool is_over = false;  // it has ended, and was read after that
  };
  // What threads share of one; `followed` is of the thread whose turn it is.
  struct Recording {
    Followed followed;
    std::vector<std::string> logs = {};
    std::optional<LiveRank> shown = {};
  };

  void List();
  void LookAt(const std::string& path);
  static void Follow(const std::vector<std::string>& logs, Followed& followed);
  static void Read(const std::vector<std::string>& logs, Followed& followed);

  std::vector<std::string> inputs_;
  TailLimits limits_;
  mutable std::mutex mutex_;  // of all below
  LookPace pace_;
  std::map<std::string, Recording> recordings_;  // by the first log; none is removed
};

// As the page reads it: a JSON array of one object for each rank.
std::string JsonOfSteps(const std::vector<LiveRank>& ranks);

}  // namespace borescope::internal
