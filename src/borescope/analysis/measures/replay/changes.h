// What a scenario changes, and how to read it from the options of whatif and from files of --plan.
// docs/how-it-works/whatif.md lists them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"

namespace borescope::internal {

enum class ChangeKind : uint8_t {
  kScale,   // multiplies durations by `factor`
  kRemove,  // work is neither done nor launched; host time is 0
  kRoof,    // modelled calls run at `factor` of their roof or faster
  // Kernels run at `factor` of the peak of compute or memory, whichever hardware counters of a
  // report show nearer, or faster. A target chooses among them.
  kSpeedOfLight,
  kNoDataWait,   // data is loaded in the background ahead of its use, and nothing waits for it
  kNoSync,       // calls that wait return at once
  kOverlapComm,  // work does not wait for collectives that only precede it on its stream
  kGraph,        // the launches in a region become launches of graphs
  kLaunch,       // multiplies the host time of launch calls by `factor`
  // Products on vector units take the least time that tensor cores need (roofs.h), so the result is
  // a bound of the gain.
  kTensorCores,
};

enum class TargetKind : uint8_t {
  kNone,
  kKernel,  // device work by name
  kOp,      // device work launched inside operators or annotations by name
  kClass,   // kernels by class
  kComm,    // collectives
  kCopy,    // copies, memsets and kernels that copy
  kPhase,   // device work by phase
  kHost,    // host time inside operators, annotations, calls and frames by name
};

struct Change {
  ChangeKind kind = ChangeKind::kScale;
  TargetKind target = TargetKind::kNone;
  std::string text = {};  // what the name contains, or a class or phase
  double factor = 1;
  bool is_whole_name = false;  // for kKernel and kHost: the whole name is `text`

  bool operator==(const Change&) const = default;
};

// Changes that are made together.
struct Scenario {
  std::string name;
  std::vector<Change> changes;
};

// "class:gemm", "kernel:TEXT", "comm", ... becomes the target of `change`. kInvalidArgument, with
// the possible targets, for other text.
Result<void> ReadTarget(std::string_view text, Change& change);
// "WHAT=F" of --scale: a target, and a factor from 0 to 1000.
Result<Change> ReadScale(std::string_view text);
// The target "WHAT" of --remove.
Result<Change> ReadRemoval(std::string_view text);
// A share of a roof, "0.8" or "80%": above 0, at most 1.
Result<double> ReadRoofShare(std::string_view text);
Result<double> ReadFactor(std::string_view text);
// "SHARE" or "WHAT=SHARE" of --speed-of-light: of all kernels, or of a target on devices.
Result<Change> ReadSpeedOfLight(std::string_view text);

// A change as part of the name of a scenario: "class:gemm x 0.5".
std::string Describe(const Change& change);

// The file of --plan: changes by the names of the options of whatif.
//
//   {"changes": [{"scale": "class:gemm=0.5"}, {"no-data-wait": true}]}
//   {"scenarios": [{"name": "faster", "changes": [...]}, ...]}

// kInvalidArgument with cause and place. Scenarios without a name are named after their changes.
Result<std::vector<Scenario>> ReadPlan(std::string_view json);

// "gemm x 0.5, launch calls x 0": the changes of a scenario.
std::string DescribeAll(const std::vector<Change>& changes);

}  // namespace borescope::internal
