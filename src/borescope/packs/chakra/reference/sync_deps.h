// Which operators wait for device work, as the reference linker learns it from the critical path
// that HTA (of June 2024) finds in the first step: waits on that path, by "External id".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/packs/chakra/reference/link_compat.h"

namespace borescope::internal::chakra::compat {

// The table of events from which HTA (of June 2024) builds its event graph, as the reference linker
// asks it to: whole microseconds, links between calls and device work, the first step.

struct HtaRow {
  uint32_t event = 0;  // of DeviceTrace::events, and the number of the row
  std::string_view category;
  std::string_view name;
  int64_t pid = 0;
  int64_t tid = 0;
  int64_t begin = 0;  // us
  int64_t duration = 0;
  int64_t stream = kNone;
  int64_t correlation = kNone;
  int64_t wait_on_stream = kNone;
  int64_t wait_on_record_correlation = kNone;
  // The number of the row at the other end of the correlation; 0: unknown, kNone: no correlation.
  int64_t partner = kNone;

  int64_t end() const { return begin + duration; }
};

struct HtaTable {
  std::vector<HtaRow> rows;     // what is left behind the step filter, in its order
  std::vector<int64_t> at;      // by event: where it is in `rows`, or kNone
  std::vector<size_t> clipped;  // of these, those of the first step, by event
  std::string failure;          // why there is no graph; else empty

  // nullptr where there is no such row.
  const HtaRow* Find(int64_t event) const {
    const bool is_there = event >= 0 && event < static_cast<int64_t>(at.size()) &&
                          at[static_cast<size_t>(event)] >= 0;
    return is_there ? &rows[static_cast<size_t>(at[static_cast<size_t>(event)])] : nullptr;
  }
};

HtaTable BuildHtaTable(const DeviceTrace& trace);

// Waits on an event or a context: device rows of which no stream is known.
inline bool WaitsWithoutStream(const HtaRow& row) {
  return row.name == "Event Sync" || row.name == "Context Sync";
}

// Runtime calls that HTA takes for launches.
bool IsHtaLaunch(const HtaRow& row);

// The event graph of HTA's critical path with the orders that decide its ties: nodes as they were
// added, edges into and out of a node as they were added first.

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

// Builds the event graph of HTA (of June 2024) for the rows of the first step.

// What the threads did: calls in the order of their nesting.
void AddHostEvents(const HtaTable& table, HtaGraph& graph);

// What the device did, and who waited for it. REQUIRES: AddHostEvents came before. Why there is no
// graph where the reference ends with an error; else empty.
std::string AddDeviceEvents(const HtaTable& table, HtaGraph& graph);

struct SyncDeps {
  // External id of who waits -> those of whom it waits for.
  HashMap<int64_t, std::vector<int64_t>> by_waiting;
  std::string failure;  // why there are none where the reference ends with an error; else empty
};

SyncDeps FindSyncDeps(const DeviceTrace& trace);

}  // namespace borescope::internal::chakra::compat
