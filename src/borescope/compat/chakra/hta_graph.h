// The event graph of HTA's critical path with the orders that decide its ties: nodes as they were
// added, edges into and out of a node as they were added first.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/base/hash/hash_tables.h"

namespace borescope::internal::chakra::compat {

struct HtaNode {
  uint32_t event = 0;
  int64_t time = 0;  // us
};

struct HtaEdge {
  uint32_t from = 0;
  uint32_t to = 0;
  int64_t weight = 0;
  bool is_sync = false;
};

class HtaGraph {
 public:
  struct Ends {
    uint32_t begin = 0;
    uint32_t end = 0;
  };

  // Two nodes, for where an event begins and ends.
  Ends AddEvent(uint32_t event, int64_t begin, int64_t end);
  // nullptr for an event without nodes.
  const Ends* Find(int64_t event) const;
  const HtaNode& node(uint32_t id) const { return nodes_[id]; }

  // Weighs what lies between the two; an edge that is there takes the new weight and kind.
  void AddSpan(uint32_t from, uint32_t to) { Add(from, to, Between(from, to), false); }
  void AddFree(uint32_t from, uint32_t to) { Add(from, to, 0, false); }
  void AddSync(uint32_t from, uint32_t to) { Add(from, to, 0, true); }

  const std::vector<HtaEdge>& edges() const { return edges_; }

  // The edges of the longest path, first to last; false where there is none that HTA would take: a
  // cycle, or an edge of less than -1 us (one of -1 us counts as 0).
  bool LongestPath(std::vector<HtaEdge>& path) const;

 private:
  int64_t Between(uint32_t from, uint32_t to) const { return nodes_[to].time - nodes_[from].time; }
  void Add(uint32_t from, uint32_t to, int64_t weight, bool is_sync);

  std::vector<HtaNode> nodes_;
  std::vector<HtaEdge> edges_;
  HashMap<uint32_t, Ends> ends_;
  HashMap<uint64_t, uint32_t> edge_of_;  // by both nodes
};

}  // namespace borescope::internal::chakra::compat
