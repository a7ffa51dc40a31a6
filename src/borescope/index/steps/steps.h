// Finds steps and the events that belong to them. Steps are ProfilerStep#N annotations; in a
// recording without any, the annotations with which vLLM (execute_...) and SGLang (step[...]) mark
// what they run; or those whose names match a pattern of the user's.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/index/trace_index.h"

namespace re2 {
class RE2;
}  // namespace re2

namespace borescope::internal {

// The step that work and time of devices belong to.
enum class StepRule : uint8_t {
  kLaunch,  // the step in whose window the work was launched, wherever it runs
  kTime,    // time is cut at the windows of the steps on the host
};

// As written after --step-rule, in the order of the enum.
inline constexpr std::array<std::string_view, 2> kStepRules = {"launch", "time"};

// StepPattern: the annotations that are steps, by a regular expression over their names.
class StepPattern {
 public:
  ~StepPattern();
  StepPattern(StepPattern&&) noexcept;
  StepPattern& operator=(StepPattern&&) noexcept;

  // kInvalidArgument for a text that is not a regular expression of RE2.
  static Result<StepPattern> Parse(std::string_view text);

  // Whether it matches anywhere in the name.
  bool Matches(std::string_view name) const;

 private:
  explicit StepPattern(std::unique_ptr<re2::RE2> expression);

  std::unique_ptr<re2::RE2> expression_;
};

// The pieces of the windows of some steps: at any time the one that begins last. REQUIRES: `some`
// are indices into `steps`, ascending; `steps` is sorted by begin_ns. O(some).
std::vector<Steps::Piece> CutSteps(const std::vector<Step>& steps, std::span<const uint32_t> some);

// The processes that have steps, and whose steps the events of each thread and stream may belong
// to.

// The process of a host event.
int64_t ProcessOf(const Trace& trace, HostId row);

// Fills `processes` with those of the annotations, and `process_of` as far as tracks name their
// process: a stream that does not has kAnyProcess. A single process has all tracks.
void FindProcesses(const Trace& trace, const std::vector<HostId>& annotations, Steps& steps);

// The process of streams that do not name it, by the launches of the work on their device.
// REQUIRES: FindProcesses.
void FindProcessesOfDevices(const Trace& trace, const Correlation& correlation, Steps& steps);

// Counts the devices that several processes with steps may use: of idle time and of work without a
// recorded launch nothing shows whose it is (kSharedSteps).
void CountSharedSteps(const Trace& trace, const Steps& steps, Diagnostics& diagnostics);

// nullptr: the steps of training, else those of an inference server. With a pattern its matches
// alone; inside another match an annotation is not a step.
Steps BuildSteps(const Trace& trace, const Correlation& correlation,
                 const StepPattern* pattern = nullptr);

// The steps of --step-pattern. kMissingData, naming the file, if no annotation has such a name.
Result<Steps> MatchSteps(const Trace& trace, const Correlation& correlation,
                         std::string_view pattern);

// Whether vLLM or SGLang marks what it runs at a time by annotations of such names.
bool IsServerStep(std::string_view name);

// N of "ProfilerStep#N", if `name` is one.
std::optional<int64_t> StepNumber(std::string_view name);

// Replaces the names of all steps where runs or calls are distinguished by name.
inline constexpr std::string_view kAnyStep = "ProfilerStep#*";

// kAnyStep for the name of a step, any other name unchanged.
std::string_view FoldStepName(std::string_view name);

// Steps that have one number: one step whose parts several threads mark, or several steps, as where
// a program started its profiler twice. Pure.

// Per step of `steps`: which step of its number and process it is part of, counted from 0 in the
// order of begins. A thread that marks a number again, after the end of all windows of that step,
// begins another one. O(steps log steps).
std::vector<uint32_t> OccurrencesOf(const Trace& trace, const std::vector<Step>& steps);

}  // namespace borescope::internal
