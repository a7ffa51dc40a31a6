// The page by which the programs of a run are started and stopped: RUN/control, which all of them
// map. Whoever may write to the folder may do so; a launcher that has ended leaves it valid.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "borescope/base/result.h"
#include "borescope/recorder/run_rules.h"
#include "borescope/recording/log_format.h"

namespace borescope::internal {

// Processes that record device work, by whether they have fetched what was asked for.
struct FlushReport {
  uint32_t answered = 0;
  uint32_t silent = 0;
};

// Movable; unmaps the page at its end. Any number of processes use one page at a time.
class ControlPage {
 public:
  // Makes the page of a new run. kIo if it cannot be made, or exists.
  static Result<ControlPage> Make(const std::string& folder, bool is_recording);
  // That of an existing run. kInvalidArgument where `folder` is none, kIo where its page cannot be
  // opened: another user may not.
  static Result<ControlPage> Open(const std::string& folder);
  // The same for who may read the page and not change it. REQUIRES: of the result only what is
  // const is called.
  static Result<ControlPage> OpenToRead(const std::string& folder);

  ControlPage(ControlPage&& other) noexcept;
  ControlPage(const ControlPage&) = delete;
  ControlPage& operator=(const ControlPage&) = delete;
  ControlPage& operator=(ControlPage&&) = delete;
  ~ControlPage();

  bool is_recording() const;
  // Rises with every start and stop, after is_recording has changed.
  uint32_t generation() const;
  // Waits until the generation is another one than `seen`, or somebody wakes all that wait, or the
  // time is over.
  void AwaitChange(uint32_t seen, std::chrono::nanoseconds most) const;
  void WakeWaiting() const;
  // How many processes could not write a log, and why the last one; empty: all could.
  std::string WhyLogsFailed() const;
  // The launcher, whose program the run is of; 0: unknown.
  int64_t launcher() const;
  // Starts that no stop has answered.
  uint32_t starts() const;

  // One more start, or one less, never below none. Return whether programs record now.
  bool Start();
  bool Stop();

  // Ends what was started, however often, and what rules had begun; `is_last`: they begin nothing
  // again.
  void EndAll(bool is_last);
  // What rules did by now. Names are as the programs wrote them.
  RuleFacts rule_facts() const;

  // One more mark was set from outside of the programs.
  void CountMark();
  // Has rings grow for a while, rather than overwrite anything, and ends that. Whoever holds them
  // and ends does not do so forever.
  void HoldRings();
  void LetGoOfRings();
  // Has all processes fetch what their devices did, and waits for them, at most so long.
  FlushReport Flush(std::chrono::nanoseconds deadline);

 private:
  explicit ControlPage(recording::Control* page) : page_(page) {}
  static Result<ControlPage> OpenAs(const std::string& folder, int access);

  recording::Control* page_;
};

}  // namespace borescope::internal
