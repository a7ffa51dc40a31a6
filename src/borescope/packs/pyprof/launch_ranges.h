// What PyProf's table is made of: kernels in the order of their launches, and the host rows around
// each launch.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/base/column_data.h"
#include "borescope/packs/pyprof/markers.h"

namespace borescope::internal {

// The selected kernels (`with_copies`: memcpys and memsets too) by launch; at one time by row.
std::vector<DeviceId> LaunchOrder(const RankView& view, const Selected& selected, bool with_copies);

// Annotations, operators and frames of Python around host rows.
class RangesAround {
 public:
  // Linear in the host rows, however deep they nest.
  explicit RangesAround(const RankView& view);

  // Those around a row and that row itself, outermost first; of stacks deeper than any framework
  // makes them the innermost 512. None for an invalid row.
  std::vector<HostId> Of(HostId row) const;

 private:
  const CallTree& tree_;
  ColumnData<HostId> innermost_;  // per host row: itself or the next range around it
};

// Operators and annotations can be nested in one another without end, by equal times for example.
// A row names of its ranges that many sequence numbers, layers and frames, the innermost.
inline constexpr size_t kMostSequences = 32;
inline constexpr size_t kMostFrames = 128;

// Keeps the last of a list, the innermost.
template <class T>
void KeepInnermost(std::vector<T>& list, size_t most) {
  if (list.size() > most) {
    list.erase(list.begin(), list.end() - static_cast<std::ptrdiff_t>(most));
  }
}

// The row whose ranges are those of a kernel: its launch, else its operator; may be invalid.
HostId AnchorOf(const RankView& view, DeviceId id);

// Whether an operator is a function that autograd runs backward, by its name: "MmBackward0",
// "autograd::engine::evaluate_function: MmBackward0", "torch::autograd::AccumulateGrad".
bool IsBackwardNode(std::string_view name);

// The sequence number of an operator; kMissing for none.
int64_t SequenceOf(const Trace& trace, HostId row);

// Forward operators by their process and autograd sequence number.
class ForwardOperators {
 public:
  // Linear in the host rows, but for sorting.
  explicit ForwardOperators(const Trace& trace);

  // The operator with the number of `backward`, of its process, that starts last before it; invalid
  // if there is none.
  HostId Find(HostId backward) const;

 private:
  using Key = std::pair<int64_t, int64_t>;  // process, sequence number
  Key KeyOf(HostId row) const;

  const Trace& trace_;
  std::map<Key, std::vector<HostId>> rows_;  // by start
};

// The names of kernels as PyProf shortens them: without arguments of templates and functions.
std::string PyProfShortName(std::string_view kernel);

// "train.py:12" for a frame "train.py(12): main"; empty for what is no line of a file.
std::string FrameText(std::string_view frame);

}  // namespace borescope::internal
