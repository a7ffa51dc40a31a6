// What kernels compute according to the markers of PyProf, for recordings whose operators do not
// record their shapes.
//
//   call       the innermost argument marker around the launch that has a cost model; for a
//   backward
//              kernel, whose thread has no markers, the one around the forward operator with the
//              same sequence number
//   main       for a product of matrices or a convolution, all kernels named like products; for
//              anything else, the longest kernel and those of its name. FLOPs and bytes are divided
//              equally among them
//   backward   a gradient of a product or convolution costs as much as forward, once per main
//   kernel
//              and at most twice; the cost of other gradients is not known
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/base/column_data.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/opmodel/devices/tensor_cores.h"
#include "borescope/packs/pyprof/aten_calls.h"
#include "borescope/packs/pyprof/markers.h"

namespace borescope::internal {

// The kernels of PyProf's table in the order of their launches, and the host rows around each
// launch.

// The selected kernels (`with_copies`: also memcpys and memsets) by launch; at equal times by row.
std::vector<DeviceId> LaunchOrder(const RankView& view, const Selected& selected, bool with_copies);

// Annotations, operators and frames of Python around host rows.
class RangesAround {
 public:
  // Linear in the host rows, however deep they nest.
  explicit RangesAround(const RankView& view);

  // The ranges around a row and the row itself, outermost first; of stacks deeper than any
  // framework makes them, the innermost 512. Empty for an invalid row.
  std::vector<HostId> Of(HostId row) const;

 private:
  const CallTree& tree_;
  ColumnData<HostId> innermost_;  // per host row: itself or the next range around it
};

// Operators and annotations can be nested without limit, for example with equal times. A row names
// at most this many sequence numbers, layers and frames of its ranges, the innermost ones.
inline constexpr size_t kMostSequences = 32;
inline constexpr size_t kMostFrames = 128;

// Keeps the last elements of a list, which are the innermost.
template <class T>
void KeepInnermost(std::vector<T>& list, size_t most) {
  if (list.size() > most) {
    list.erase(list.begin(), list.end() - static_cast<std::ptrdiff_t>(most));
  }
}

// The row whose ranges are those of a kernel: its launch, or else its operator; may be invalid.
HostId AnchorOf(const RankView& view, DeviceId id);

// Whether an operator is a function that autograd runs in the backward pass, by its name:
// "MmBackward0", "autograd::engine::evaluate_function: MmBackward0",
// "torch::autograd::AccumulateGrad".
bool IsBackwardNode(std::string_view name);

// The sequence number of an operator; kMissing for none.
int64_t SequenceOf(const Trace& trace, HostId row);

// Forward operators by their process and autograd sequence number.
class ForwardOperators {
 public:
  // Takes linear time in the host rows, apart from sorting.
  explicit ForwardOperators(const Trace& trace);

  // The operator of the same process with the number of `backward` that starts last before it;
  // invalid if there is none.
  HostId Find(HostId backward) const;

 private:
  using Key = std::pair<int64_t, int64_t>;  // process, sequence number
  Key KeyOf(HostId row) const;

  const Trace& trace_;
  std::map<Key, std::vector<HostId>> rows_;  // by start
};

// The name of a kernel as PyProf shortens it: without the arguments of templates and functions.
std::string PyProfShortName(std::string_view kernel);

// "train.py:12" for a frame "train.py(12): main"; empty for a frame that is not a line of a file.
std::string FrameText(std::string_view frame);

// A part of the FLOPs and bytes of a call.
struct WorkShare {
  std::optional<int64_t> flops = {}, bytes = {};
  std::string_view status = {};
};

// Share number `index` of `count`. Bytes are missing if the types of tensors are unknown.
WorkShare ShareOfCost(const OpCost& cost, size_t index, size_t count);

class MarkerWork {
 public:
  MarkerWork(const RankView& view, PyProfMarkers& markers, const OpModelOptions& options)
      : view_(view), markers_(markers), options_(options) {}

  // The most detailed argument marker among `ranges`; invalid if there is none.
  HostId Choose(const std::vector<HostId>& ranges);

  // Ties a kernel to a call: kernels of the same `owner` row are counted together, and the marker
  // `arguments` gives the cost.
  void Add(DeviceId kernel, HostId owner, HostId arguments, bool is_backward);

  // The share of a kernel that was added in its call. REQUIRES: all kernels were added.
  WorkShare ShareOf(DeviceId kernel, HostId owner);
  // Whether the name of the kernel shows that it uses matrix units.
  MatrixUse UseOf(DeviceId kernel, HostId owner);

 private:
  struct Call {
    HostId arguments;
    bool is_backward = false;
    std::vector<DeviceId> kernels;
    std::vector<DeviceId> mains;  // once they are known; in row order
  };

  const OpCost& CostOf(HostId arguments);
  bool IsMatrix(const Call& call);
  void FindMainKernels(Call& call);
  WorkShare BackwardShare(const Call& call, size_t index);

  const RankView& view_;
  PyProfMarkers& markers_;
  OpModelOptions options_;
  HashMap<uint32_t, OpCost> costs_;  // by the text of the marker
  HashMap<uint32_t, Call> calls_;    // by owner
};

}  // namespace borescope::internal
