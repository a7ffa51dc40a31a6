// What a scenario changes, and its words: those of the options of whatif and of the files of
// --plan. docs/how-it-works/whatif.md lists them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"

namespace borescope::internal {

enum class ChangeKind : uint8_t {
  kScale,        // durations times `factor`
  kRemove,       // work is not done, nor launched; host time is 0
  kRoof,         // modelled calls run at no less than `factor` of their roof
  kNoDataWait,   // data is loaded in the background, ahead of its use: nothing waits for it
  kNoSync,       // calls that wait end when they begin
  kOverlapComm,  // work does not wait for collectives that happen to be before it on its stream
  kGraph,        // what a region launches becomes launches of graphs
  kLaunch,       // the host time of launch calls times `factor`
  // Products on vector units take the least that they can on tensor cores (tensor_core_bound.h): a
  // bound of what is to be won.
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
  bool is_whole_name = false;  // kKernel, kHost: the name is `text`

  bool operator==(const Change&) const = default;
};

// One question: all its changes at once.
struct Scenario {
  std::string name;
  std::vector<Change> changes;
};

// "class:gemm", "kernel:TEXT", "comm", ... as the target of `change`. kInvalidArgument for what is
// none, with what there is.
Result<void> ReadTarget(std::string_view text, Change& change);
// "WHAT=F" of --scale: what it scales, and by how much, from 0 to 1000.
Result<Change> ReadScale(std::string_view text);
// "WHAT" of --remove.
Result<Change> ReadRemoval(std::string_view text);
// A share of a roof, "0.8" or "80%": above 0, at most 1.
Result<double> ReadRoofShare(std::string_view text);
Result<double> ReadFactor(std::string_view text);

// How a change reads as the name of a scenario: "class:gemm x 0.5".
std::string Describe(const Change& change);

// The file of --plan: changes by the names of the options of whatif.
//
//   {"changes": [{"scale": "class:gemm=0.5"}, {"no-data-wait": true}]}
//   {"scenarios": [{"name": "faster", "changes": [...]}, ...]}

// kInvalidArgument says what is wrong where. Scenarios without a name are named by their changes.
Result<std::vector<Scenario>> ReadPlan(std::string_view json);

// "gemm x 0.5, launch calls x 0": the changes of a scenario.
std::string DescribeAll(const std::vector<Change>& changes);

}  // namespace borescope::internal
