#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

// Collectives by kind: names of the fixed set, sizes of messages, and bandwidth as NCCL-tests
// define it (https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md). Pure; any
// thread.

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
  kSendRecv,  // point to point, which way is unknown
  kBarrier,
  kUnknown,
  kCount
};

// "all_reduce": what the tables say, whatever the spelling in the file.
std::string_view CollectiveKindName(CollectiveKind kind);

// The kind behind "Collective name": "allreduce", "_allgather_base", "all_to_allv", ...
CollectiveKind KindOfRecordedName(std::string_view name);
// Whether an operator or annotation belongs to the communication layer: "c10d::alltoall_base_",
// "nccl:_all_gather_base", "record_param_comms".
bool IsCommunicationOperator(std::string_view name);
// Whether it is an event of a library that communicates between hosts: "gloo:all_reduce". It lasts
// from the request to the end of the communication, on whatever thread it ends.
bool IsHostCollective(std::string_view name);
// The kind it names; kUnknown for operators of anything else.
CollectiveKind KindOfOperatorName(std::string_view name);
// The kind behind the name of a communication kernel: "ncclDevKernel_AllReduce_Sum_f32_RING_LL".
CollectiveKind KindOfKernelName(std::string_view name);

// False for records that are no communication: "wait", "init".
bool IsCommunication(std::string_view recorded_name);

// Whether all ranks of the group leave it at the same time, because each needs data of every other
// one. One that is unknown is taken for one that does: they are by far the most.
bool EndsTogether(CollectiveKind kind);

// Bytes of one element of a PyTorch scalar type; nothing for one that is not known.
std::optional<int64_t> ElementBytes(std::string_view dtype);

// Size of the message, S of NCCL-tests: for an all-gather the output, for an all-reduce,
// reduce-scatter or all-to-all the input, for the rest the larger one. Nothing for a barrier, and
// where numbers are missing or no such size can be.
std::optional<int64_t> MessageBytes(CollectiveKind kind, int64_t in_elems, int64_t out_elems,
                                    std::string_view dtype);

// Of what goes in and what comes out of a call the one that is its message; kMissing for a barrier.
int64_t SideOfMessage(CollectiveKind kind, int64_t in, int64_t out);

// Elements of the side of the call that is equally large on all ranks: of an all-gather the output,
// of an all-reduce or reduce-scatter the input. kMissing where no side need be.
int64_t CommonElems(CollectiveKind kind, int64_t in_elems, int64_t out_elems);

// What turns algorithm bandwidth into bus bandwidth in a group of `ranks`; nothing when their
// number is missing or the factor is not defined for the kind.
std::optional<double> BusFactor(CollectiveKind kind, int64_t ranks);

// The communication calls of one rank: operators that say what they communicate, the communication
// kernels they started, communication kernels of which nothing more is known, and communication
// between hosts.

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
