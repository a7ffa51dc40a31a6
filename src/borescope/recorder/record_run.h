// `borescope record`: a program run with the library that records in it, and a folder of logs.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/record.h"
#include "borescope/recorder/program.h"
#include "borescope/recorder/run_folder.h"
#include "borescope/recorder/run_rules.h"
#include "borescope/recorder/sampling/sampling.h"
#include "borescope/recorder/schedule.h"

namespace borescope::internal {

// A run that is recorded into a faster place, such as memory, and moved to its own afterwards.

// Makes a folder for the run `folder` in `spool`, and `folder` a link to it, so that everything
// that takes the run finds it meanwhile. Returns its absolute path. kIo if either cannot be made.
// REQUIRES: nothing is called `folder`.
Result<std::string> MakeSpool(const std::string& folder, const std::string& spool);

// Makes `folder` what the place in the spool holds, and removes that. If it fails, all is still
// there and `folder` still a link to it: kIo.
Result<void> MoveFromSpool(const std::string& place, const std::string& folder);

// Removes both, of a run that has not begun.
void RemoveSpool(const std::string& place, const std::string& folder);

// Functions whose calls are not recorded: of CUDA by CUPTI's numbers, of others by name.
struct SkippedCalls {
  std::vector<int> runtime = {};
  std::vector<int> driver = {};
  std::vector<std::string> others = {};
};

// A run that has begun. Its program goes on if it is destroyed.
class RecordRun {
 public:
  // Makes the folder and starts the program. kInvalidArgument, kIo, kMissingData (the library is
  // not installed). REQUIRES: !words.empty().
  static Result<RecordRun> Start(const std::vector<std::string>& words,
                                 const RecordOptions& options, const SkippedCalls& skipped = {});

  pid_t program() const { return program_; }
  // What of the options will have no effect on this machine, and why; empty: nothing.
  const std::string& warning() const { return warning_; }

  // Waits for the program's end and seals the logs of processes that have ended. To be called once.
  RecordReport Wait();

 private:
  RecordRun(RunTarget target, std::string place)
      : target_(std::move(target)), place_(std::move(place)) {}
  // Takes no memory that it needs.
  void Follow(pid_t program, std::unique_ptr<Schedule> schedule, std::chrono::nanoseconds sample);
  Result<void> Conclude(RecordReport& report) const;
  void NoteEndOfProgram(const std::vector<LogFile>& logs, const ProgramEnd& end) const;
  void JudgeRules(RecordReport& report) const;
  // The folder of dumps; removed, and nothing, where it is empty.
  std::string TakePostmortem();

  using Clock = std::chrono::steady_clock;
  RunTarget target_;
  std::string place_;  // of the logs: the target's folder, or one of the spool
  pid_t program_ = 0;
  Clock::time_point begin_;
  uint64_t ended_ns_ = 0;  // of the program
  RunRules rules_;
  bool starts_by_clock_ = false;
  std::string warning_;
  std::string postmortem_;              // the folder of dumps; empty: none was asked for
  std::unique_ptr<Sampling> sampling_;  // a null pointer: nothing is sampled
  std::string samples_end_;             // why nothing is, though it was asked for
  std::unique_ptr<Schedule> schedule_;  // a null pointer: nothing is by the clock
};

}  // namespace borescope::internal
