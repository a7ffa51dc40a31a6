// The communication calls of one rank: operators that say what they communicate, the communication
// kernels they started, communication kernels of which nothing more is known, and communication
// between hosts.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/measures/collective_kinds.h"

namespace borescope::internal {

struct CollectiveCall {
  CollectiveKind kind = CollectiveKind::kUnknown;
  uint32_t args = kNoDetail;  // row of Collectives, of the operator or else of the kernel
  HostId op;        // the operator, or of hosts the event; invalid: the kernel's arguments, or none
  DeviceId kernel;  // the first of its communication kernels; invalid: none recorded
  int64_t kernels = 0;
  // Of its kernels together, or of hosts from the request to the end; waiting for late ranks
  // included.
  int64_t dur_ns = 0;
  bool is_host_timed = false;
  int64_t end_ns = 0;  // of the last of them
  // Without arguments: the operator around the launch whose tensors are those of this call alone,
  // if there is one; of hosts `op`.
  HostId sized_by;

  bool timed() const { return kernel.valid(); }
  bool has_length() const { return timed() || is_host_timed; }
};

// One call for each outermost operator with arguments, else for each communication kernel: those
// with kernels first, in the order of these rows, then the operators without, then the events of
// libraries that communicate between hosts. Where there is nothing of all that, one for each
// outermost operator of c10d. The kind is that of the arguments, else of the operators and
// annotations around the launch, else of the kernel's name. O(rows).
std::vector<CollectiveCall> CollectiveCalls(const RankView& view);

// What one call carries, as its arguments say, else the tensors of the operator that asked for it.
struct CollectiveMessage {
  int64_t bytes = kMissing;  // size as NCCL-tests define it
  std::string_view dtype;    // as PyTorch names it; empty: not known
};
CollectiveMessage MessageOf(const RankView& view, const CollectiveCall& call);

// What a communication kernel was given, as recorded by the operator that launched it, else by
// itself: a row of Collectives. kNoDetail of any other kernel, and where nothing was recorded.
uint32_t CollectiveArgsOf(const RankView& view, DeviceId kernel);

// Whether the row is a communication between hosts, or asks for communication (an operator of
// c10d), by its name.
bool IsHostCommunication(const Trace& trace, HostId id);

// The name of what asked for the call: the nearest operator or annotation around the launch that is
// no part of the communication layer and no step. Empty when there is none. Ranks that run one
// program have the same.
std::string_view CallSite(const RankView& view, DeviceId kernel);

}  // namespace borescope::internal
