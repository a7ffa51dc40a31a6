// Which node of the host trace is which event of the trace, and what follows for threads.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/index/trace_index.h"
#include "borescope/packs/chakra/link/host_trace.h"
#include "borescope/packs/chakra/link/link_plan.h"
#include "borescope/trace/trace.h"

namespace borescope::internal::chakra {

inline constexpr uint32_t kNoRow = ~uint32_t{0};

struct HostMatch {
  std::vector<uint32_t> row_of_node;  // host row of each node, or kNoRow
  std::vector<uint32_t> node_of_row;  // node of each host row, or kNoRow
  std::vector<uint32_t> node_around;  // the innermost node around each host row, itself included
  // When each node can begin at the earliest, given the order of nodes of its thread; >= its begin.
  // Dependencies that lead from a smaller to a larger one cannot go in circles.
  std::vector<int64_t> rank_of_node;
};

// By number of the record function, 0 excepted; where the trace holds none at all, by External id
// and name (counts.by_external_id). Of several events or nodes with one number the first is
// matched; they are counted, as are pairs with different names.
HostMatch MatchHosts(const HostTrace& host, const Trace& trace, const CallTree& tree,
                     LinkCounts& counts);

// Sets times and `is_matched` in plan.hosts. What is exclusive to a node is its duration without
// that of the nodes inside it; what has no node belongs to the one around it.
void SetHostTimes(const Trace& trace, const CallTree& tree, const HostMatch& match, LinkPlan& plan);

// Which nodes wait for other threads: the first node of a thread, and the first after it did
// nothing for more than a millisecond, for the node of another thread that began last before it.
// Rows of nodes, by the waiting one; the other one, or kNoRow.
std::vector<uint32_t> FindThreadWaits(const Trace& trace, const HostMatch& match);

}  // namespace borescope::internal::chakra
