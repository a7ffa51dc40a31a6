// What a kernel of communication transfers, from its name and from the calls it hangs under; and
// what operators transfer that communicate without kernels, between hosts.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "borescope/packs/chakra/convert/linked_trace.h"
#include "borescope/packs/chakra/et/et_codec.h"

namespace borescope::internal {

struct CommCall {
  EtNodeType type = EtNodeType::kCommColl;  // or a send or receive
  std::optional<EtCollective> collective;   // of kCommColl
  // What this rank puts in, which is how simulators count: of an all-gather its own part, of a
  // reduce-scatter the whole. Nothing where it is not recorded.
  std::optional<int64_t> bytes;
  std::string_view pg_name;  // process group; empty where it is not recorded
};

// Whether the device node is a kernel that communicates with other devices.
bool IsCommKernel(const LinkedNode& node);

// REQUIRES: IsCommKernel. Nothing where neither name nor calls say what kind it is.
std::optional<CommCall> DescribeComm(const LinkedTrace& linked, const LinkedTree& tree,
                                     uint32_t node);

// Communication of hosts, by index in LinkedTrace::nodes: the events of libraries that communicate
// between hosts ("gloo:all_reduce"). Where there are neither such events nor kernels that
// communicate, the outermost operators that ask for communication ("c10d::allreduce_"). O(nodes).
std::vector<char> HostComms(const LinkedTrace& linked, const LinkedTree& tree);

// REQUIRES: one of HostComms.
CommCall DescribeHostComm(const LinkedTrace& linked, const LinkedTree& tree, uint32_t node);

// Elements times bytes of an element, of one tensor as execution traces write it: [tensor, storage,
// offset, elements, bytes of an element, device]. Nothing for anything else.
std::optional<int64_t> TensorBytes(std::string_view tensor_json);

}  // namespace borescope::internal
