// `borescope record`: a program run with the library that records in it, and a folder of logs.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/recorder/program.h"
#include "borescope/recorder/python_startup.h"
#include "borescope/recorder/run_folder.h"
#include "borescope/recorder/run_name.h"
#include "borescope/recorder/run_rules.h"
#include "borescope/recorder/sampling/sampling.h"
#include "borescope/recorder/schedule.h"

namespace borescope::internal {

// Functions whose calls are not recorded: of CUDA by CUPTI's numbers, of others by name.
struct SkippedCalls {
  std::vector<int> runtime = {};
  std::vector<int> driver = {};
  std::vector<std::string> others = {};
};

struct RecordRunOptions {
  std::string output;          // TargetOfRun
  bool starts_paused = false;  // until somebody starts it: the program, or StartRun
  bool with_nvtx = true;
  bool with_roctx = true;
  bool with_cuda = true;
  bool with_rocm = false;
  std::string api;  // which calls of devices' APIs: all, launch, none; empty: all
  SkippedCalls skipped_calls = {};
  bool with_children = true;         // also programs that the program starts
  std::string children_match;        // of these, by a pattern of their names; empty: all
  bool with_memory = false;          // allocations of device memory
  bool with_sync = false;            // what synchronisation waits for
  bool is_warm = false;              // device work is collected once at the start
  bool with_graph_nodes = false;     // a kernel per node of a graph, rather than a row per graph
  uint64_t max_bytes = 0;            // of each log; 0: no limit
  std::chrono::nanoseconds ring{};   // the last part of each log that is kept; 0: all
  ScheduleTimes times;               // with start_after, starts_paused is set
  RunRules rules;                    // with one that starts, starts_paused is set
  std::vector<int> ranks;            // that are recorded; empty: all, and processes without one
  std::string spool;                 // where logs are while the program runs; empty: in the folder
  std::chrono::nanoseconds flush{};  // how often device records are fetched; 0: as the library does
  std::chrono::nanoseconds sample{};  // how often GPUs and processes are measured; 0: never
  PythonPlan python = {};
  bool replaces_others = false;  // another tool's variables
  bool replaces_folder = false;  // an earlier recording
};

// A run that has begun. Its program goes on if it is destroyed.
class RecordRun {
 public:
  // Makes the folder and starts the program. kInvalidArgument, kIo, kMissingData (the library is
  // not installed). REQUIRES: !words.empty().
  static Result<RecordRun> Start(const std::vector<std::string>& words,
                                 const RecordRunOptions& options);

  pid_t program() const { return program_; }
  // What of the options will have no effect on this machine, and why; empty: nothing.
  const std::string& warning() const { return warning_; }

  // What was recorded, once the program has ended.
  struct Report {
    RunTarget target;
    ProgramEnd end;
    uint64_t processes = 0;               // with a log
    uint64_t running = 0;                 // of these, that have not ended
    uint64_t bytes = 0;                   // of all logs
    bool has_launchers_log = false;       // of samples or marks
    std::string never_started = {};       // why; empty: it was recorded
    std::string failed_logs = {};         // why processes have no log; empty: all have
    std::string trouble = {};             // why the folder could not be read; empty: it could
    std::string never_stopped = {};       // why a rule did not stop it; empty: it did, or had none
    std::chrono::nanoseconds duration{};  // from start to end of the program
  };
  // Waits for the program's end and seals the logs of processes that have ended. To be called once.
  Report Wait();

 private:
  RecordRun(RunTarget target, std::string place)
      : target_(std::move(target)), place_(std::move(place)) {}
  // Takes no memory that it needs.
  void Follow(pid_t program, std::unique_ptr<Schedule> schedule, std::chrono::nanoseconds sample);
  Result<void> Conclude(Report& report) const;
  void NoteEndOfProgram(const std::vector<LogFile>& logs, const ProgramEnd& end) const;
  void JudgeRules(Report& report) const;

  using Clock = std::chrono::steady_clock;
  RunTarget target_;
  std::string place_;  // of the logs: the target's folder, or one of the spool
  pid_t program_ = 0;
  Clock::time_point begin_;
  uint64_t ended_ns_ = 0;  // of the program
  RunRules rules_;
  bool starts_by_clock_ = false;
  std::string warning_;
  std::unique_ptr<Sampling> sampling_;  // a null pointer: nothing is sampled
  std::unique_ptr<Schedule> schedule_;  // a null pointer: nothing is by the clock
};

}  // namespace borescope::internal
