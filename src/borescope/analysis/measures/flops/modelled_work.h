// ModelledWork: which operator calls the device was computing. For one rank it links every piece of
// device work to the operator call whose cost model (opmodel/) covers it, and counts every such
// call once, however many kernels it launched (split-K, bias, layout changes).
//
//   call        the innermost operator around the launch that has a model. An operator that only
//               calls others (OpModel::is_composite) is not counted beside what it called.
//   role        of a kernel in its call: main kernels do what the model counts, helpers do not
//               (layout changes, sums of split-K, fills). Of a matrix operator the kernels named
//               like products are main, of any other the longest and all of its name; a call has
//               at least one.
//   direction   forward, backward, recompute (forward calls repeated inside backward, as
//               checkpointing makes them: phases.h), update (of parameters)
//   graphs      a kernel that a graph launch ran belongs to the call in the capture that made the
//               graph (captured_work.h), once per launch of the graph: each is a call of its
//               own
//
// The types of tensors in lists, which recordings leave out, are taken from the names of the
// kernels.
//
// Work below a backward operator in which no call can be counted (shapes or operators were not
// recorded) takes the arguments of the forward operator with the same sequence number, where that
// is a product of matrices, a convolution or an attention: a gradient of the first two costs what
// forward costs, once per main kernel and at most twice; that of an attention five products where
// forward has two.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/graphs/captured_work.h"
#include "borescope/opmodel/devices/tensor_cores.h"
#include "borescope/opmodel/op_costs.h"

namespace borescope::internal {

enum class WorkStatus : uint8_t {
  kModelled,     // belongs to a call whose FLOPs or bytes are known
  kUnknownCost,  // belongs to a call with a model; OpCost::status says why the cost is unknown
  kNoModel,      // there are operators around the launch, and none has a model
  kGraph,        // started by a graph launch, and no capture shows which operator asked for it
  kOutsideOps,   // launched outside of any operator
  kNoLaunch,     // neither the launch nor the operator was recorded
};
inline constexpr size_t kWorkStatuses = 6;
std::string_view WorkStatusName(WorkStatus status);  // "modelled", "unknown cost", ...
// Shown in place of the name of kModelled where ModelledWork::IsCaptured.
inline constexpr std::string_view kCapturedStatus = "captured";

enum class KernelRole : uint8_t { kNone, kMain, kHelper };

enum class WorkDirection : uint8_t { kForward, kBackward, kRecompute, kUpdate, kUnknown };
std::string_view WorkDirectionName(WorkDirection direction);

inline constexpr uint32_t kNoCall = ~uint32_t{0};

// One counted call.
struct ModelledCall {
  HostId op;         // the call that the work belongs to
  HostId shapes_of;  // the call whose arguments determine the cost: `op`, or its forward operator
  const OpCost* cost_of_all = nullptr;  // in ModelledWork; counts are 0 unless known
  WorkDirection direction = WorkDirection::kUnknown;
  bool is_replay =
      false;  // the call is in a capture, and its work is that of one launch of the graph
  MatrixUse matrix_use =
      MatrixUse::kNotMatrix;  // of its main kernels: kYes if one of them uses matrix units
  uint32_t first_work = 0;    // its slice of ModelledWork::works
  uint32_t end_work = 0;

  const OpCost& cost() const { return *cost_of_all; }
};

// What is known of one piece of device work.
struct WorkInfo {
  uint32_t call = kNoCall;  // row of ModelledWork::calls
  WorkStatus status = WorkStatus::kNoLaunch;
  KernelRole role = KernelRole::kNone;  // kNone without a call
  WorkDirection direction = WorkDirection::kUnknown;
};

struct ModelledWork {
  ModelledWork() = default;
  // Not copied, as calls point to costs.
  ModelledWork(const ModelledWork&) = delete;
  ModelledWork& operator=(const ModelledWork&) = delete;
  ModelledWork(ModelledWork&&) = default;
  ModelledWork& operator=(ModelledWork&&) = default;
  ~ModelledWork() = default;

  std::vector<ModelledCall> calls;  // by host row; those of graphs after all others
  std::vector<DeviceId> works;      // of one call in row order (stream, then start)
  std::vector<WorkInfo> info;       // per device row
  CapturedLaunches captured;
  std::unique_ptr<OpCosts> costs;
  // Keys: the cost of the forward call, and the number of gradients.
  std::map<std::pair<const OpCost*, uint64_t>, OpCost> backward_costs;

  // Whether its cost is known from the capture of its graph.
  bool IsCaptured(DeviceId id) const {
    return info[id.value].status == WorkStatus::kModelled && captured.LaunchOf(id).valid();
  }
  std::span<const DeviceId> WorksOf(const ModelledCall& call) const {
    return std::span(works).subspan(call.first_work, call.end_work - call.first_work);
  }
};

// Models the whole recording, so that selecting a part of a call does not change its cost. O(rows
// log rows).
Result<ModelledWork> ModelWork(const RankView& view, const OpModelOptions& options);

// --causal and --sfu-weight; kInvalidArgument for a weight above 1000.
Result<OpModelOptions> ModelOptionsOf(const Params& params);

// Products of matrices, convolutions, attention and recurrent layers, which use matrix units.
bool IsMatrixFamily(OpFamily family);

// FLOPs for verbs that list all operators, with FLOPs or without.

// A call in the capture of a graph, replayed by a launch of the graph.
struct ReplayedFlops {
  HostId op;      // a captured row
  DeviceId work;  // its first work in this launch
  int64_t flops = kMissing;
};

struct CallFlops {
  std::vector<int64_t>
      of_call;  // per host row of the recording; kMissing if it has none that count
  std::vector<ReplayedFlops> replayed;  // those with known FLOPs
};

// The FLOPs (OpCost::main_flops) of the calls that count. As in `roofline`, calls count if selected
// device work belongs to them, each once. In a recording without any device work these are the
// selected calls with a model that is not composite. O(rows), times a logarithm.
Result<CallFlops> FlopsOfCalls(const RankView& view, const Selected& selected);

}  // namespace borescope::internal
