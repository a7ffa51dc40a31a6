// Collectives: which kind a name means, which communication calls a rank made, and sizes of
// messages and bandwidth as NCCL-tests define them
// (https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md). Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

enum class CollectiveKind : uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kBroadcast,
  kReduce,
  kGather,
  kScatter,
  kSend,
  kRecv,
  kSendRecv,  // point to point, the direction is unknown
  kBarrier,
  kUnknown,
  kCount
};

// "all_reduce": the name in tables, whatever the spelling in the file.
std::string_view CollectiveKindName(CollectiveKind kind);

// The kind for a value of the argument "Collective name": "allreduce", "_allgather_base",
// "all_to_allv", ...
CollectiveKind KindOfRecordedName(std::string_view name);
// Whether an operator or annotation belongs to the communication layer: "c10d::alltoall_base_",
// "nccl:_all_gather_base", "record_param_comms".
bool IsCommunicationOperator(std::string_view name);
// Whether it is an event of a library that communicates between hosts: "gloo:all_reduce". It lasts
// from the request to the end of the communication, on whatever thread it ends.
bool IsHostCollective(std::string_view name);
// The kind that an operator or annotation names; kUnknown for all other operators.
CollectiveKind KindOfOperatorName(std::string_view name);
// The kind for the name of a communication kernel: "ncclDevKernel_AllReduce_Sum_f32_RING_LL".
CollectiveKind KindOfKernelName(std::string_view name);

// False for records that are no communication: "wait", "init".
bool IsCommunication(std::string_view recorded_name);

// Whether all ranks of the group leave it at the same time, because each needs data of every other
// one. True for unknown kinds, as this holds for most collectives by far.
bool EndsTogether(CollectiveKind kind);

// Bytes of one element of a PyTorch scalar type; nullopt for an unknown type.
std::optional<int64_t> ElementBytes(std::string_view dtype);

// Size of the message, S of NCCL-tests: for an all-gather the output, for an all-reduce,
// reduce-scatter or all-to-all the input, for the rest the larger one. nullopt for a barrier, and
// where numbers are missing or impossible.
std::optional<int64_t> MessageBytes(CollectiveKind kind, int64_t in_elems, int64_t out_elems,
                                    std::string_view dtype);

// `in` or `out`, whichever is the message of a call of this kind; kMissing for a barrier.
int64_t SideOfMessage(CollectiveKind kind, int64_t in, int64_t out);

// Elements of the side of the call that is equally large on all ranks: for an all-gather the
// output, for an all-reduce or reduce-scatter the input. kMissing where neither side need be equal.
int64_t CommonElems(CollectiveKind kind, int64_t in_elems, int64_t out_elems);

// The factor from algorithm bandwidth to bus bandwidth in a group of `ranks`; nullopt when their
// number is missing or the kind has no such factor.
std::optional<double> BusFactor(CollectiveKind kind, int64_t ranks);

// The communication calls of one rank: operators with arguments about the communication, the
// communication kernels they started, communication kernels without such an operator, and
// communication between hosts.
struct CollectiveCall {
  CollectiveKind kind = CollectiveKind::kUnknown;
  uint32_t args = kNoDetail;  // row of Collectives, of the operator or else of the kernel
  HostId op;  // the operator, or for hosts the event; invalid: `args` are the kernel's, or none
  DeviceId kernel;  // the first of its communication kernels; invalid: none recorded
  int64_t kernels = 0;
  // The sum over its kernels, or between hosts from the request to the end; waiting for late ranks
  // included.
  int64_t dur_ns = 0;
  bool is_host_timed = false;
  int64_t end_ns = 0;  // of the last kernel, or of the event
  // Where there are no arguments: the operator around the launch whose tensors are those of this
  // call alone, if there is one; between hosts `op`.
  HostId sized_by;

  bool timed() const { return kernel.valid(); }
  bool has_length() const { return timed() || is_host_timed; }
};

// One call for each outermost operator with arguments, else for each communication kernel: calls
// with kernels first, in the order of the kernels' rows, then operators without kernels, then
// events of libraries that communicate between hosts. If there are none of these, one call for each
// outermost operator of c10d. The kind is taken from the arguments, else from the operators and
// annotations around the launch, else from the kernel's name. O(rows).
std::vector<CollectiveCall> CollectiveCalls(const RankView& view);

// What one call carries, according to its arguments, else according to the tensors of the operator
// that asked for it.
struct CollectiveMessage {
  int64_t bytes = kMissing;  // size as NCCL-tests define it
  std::string_view dtype;    // as PyTorch names it; empty: not known
};
CollectiveMessage MessageOf(const RankView& view, const CollectiveCall& call);

// The arguments of a communication kernel, as recorded with the operator that launched it, else
// with the kernel: a row of Collectives. kNoDetail for any other kernel, and where nothing was
// recorded.
uint32_t CollectiveArgsOf(const RankView& view, DeviceId kernel);

// Whether the row is a communication between hosts, or asks for communication (an operator of
// c10d), by its name.
bool IsHostCommunication(const Trace& trace, HostId id);

// The name of the nearest operator or annotation around the launch that is neither part of the
// communication layer nor a step, and so asked for the call. Empty if there is none. Ranks that run
// the same program have the same site.
std::string_view CallSite(const RankView& view, DeviceId kernel);

}  // namespace borescope::internal
