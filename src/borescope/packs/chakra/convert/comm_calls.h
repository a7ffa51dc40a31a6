// What a communication kernel transfers, from its name and from the calls around it; and what
// operators transfer that communicate between hosts without kernels.
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
  // The bytes that this rank contributes, as simulators count them: for an all-gather its own part,
  // for a reduce-scatter the whole. Nothing if they are not recorded.
  std::optional<int64_t> bytes;
  std::string_view pg_name;  // process group; empty where it is not recorded
};

// Whether the device node is a kernel that communicates with other devices.
bool IsCommKernel(const LinkedNode& node);

// REQUIRES: IsCommKernel. Nothing if neither its name nor the calls say what kind it is.
std::optional<CommCall> DescribeComm(const LinkedTrace& linked, const LinkedTree& tree,
                                     uint32_t node);

// Communication between hosts, by index in LinkedTrace::nodes: the events of libraries that
// communicate between hosts ("gloo:all_reduce"). If there are neither such events nor communication
// kernels, the outermost operators that ask for communication ("c10d::allreduce_"). O(nodes).
std::vector<char> HostComms(const LinkedTrace& linked, const LinkedTree& tree);

// REQUIRES: one of HostComms.
CommCall DescribeHostComm(const LinkedTrace& linked, const LinkedTree& tree, uint32_t node);

// The elements times the bytes of an element of one tensor as execution traces write it: [tensor,
// storage, offset, elements, bytes of an element, device]. Nothing for anything else.
std::optional<int64_t> TensorBytes(std::string_view tensor_json);

}  // namespace borescope::internal
