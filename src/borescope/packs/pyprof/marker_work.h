// Whose mathematics kernels do by the markers of PyProf: for recordings whose operators say nothing
// of their shapes.
//
//   call       the innermost argument marker around the launch that has a cost model; of a backward
//              kernel, whose thread has no markers, the one around the forward operator with its
//              sequence number
//   main       of a product of matrices or a convolution all kernels named like products, of
//              anything else the longest and those of its name; FLOPs and bytes are divided equally
//              among them
//   backward   a gradient of a product or convolution costs what forward costs, once per main
//              kernel and at most twice; that of other operators is not known
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/opmodel/devices/tensor_cores.h"
#include "borescope/packs/pyprof/aten_calls.h"
#include "borescope/packs/pyprof/launch_ranges.h"

namespace borescope::internal {

// A part of the FLOPs and bytes of a call.
struct WorkShare {
  std::optional<int64_t> flops = {}, bytes = {};
  std::string_view status = {};
};

// Share number `index` of `count`. Bytes are nothing where the types of tensors are unknown.
WorkShare ShareOfCost(const OpCost& cost, size_t index, size_t count);

class MarkerWork {
 public:
  MarkerWork(const RankView& view, PyProfMarkers& markers, const OpModelOptions& options)
      : view_(view), markers_(markers), options_(options) {}

  // The argument marker among `ranges` that tells most; invalid if there is none.
  HostId Choose(const std::vector<HostId>& ranges);

  // Ties a kernel to a call: `owner` is the row whose kernels are counted together, `arguments` the
  // marker that tells the cost.
  void Add(DeviceId kernel, HostId owner, HostId arguments, bool is_backward);

  // What a kernel that was added does of its call. Once all are added.
  WorkShare ShareOf(DeviceId kernel, HostId owner);
  // How its name shows matrix units.
  MatrixUse UseOf(DeviceId kernel, HostId owner);

 private:
  struct Call {
    HostId arguments;
    bool is_backward = false;
    std::vector<DeviceId> kernels;
    std::vector<DeviceId> mains;  // once told; in row order
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
