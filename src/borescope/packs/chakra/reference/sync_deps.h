// Which operators wait for device work, as the reference linker derives it from the critical path
// that HTA (of June 2024) finds in the first step: the waits on that path, by "External id".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/packs/chakra/reference/link_compat.h"

namespace borescope::internal::chakra::compat {

// The table of events from which HTA (of June 2024) builds its event graph with the options of the
// reference linker: whole microseconds, links between calls and device work, the first step.

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
  std::vector<HtaRow> rows;     // the rows that the step filter keeps, in its order
  std::vector<int64_t> at;      // by event: where it is in `rows`, or kNone
  std::vector<size_t> clipped;  // of these, those of the first step, by event
  std::string failure;          // why there is no graph; else empty

  // nullptr if there is no such row.
  const HtaRow* Find(int64_t event) const {
    const bool is_there = event >= 0 && event < static_cast<int64_t>(at.size()) &&
                          at[static_cast<size_t>(event)] >= 0;
    return is_there ? &rows[static_cast<size_t>(at[static_cast<size_t>(event)])] : nullptr;
  }
};

HtaTable BuildHtaTable(const DeviceTrace& trace);

// Waits on an event or a context: device rows whose stream is not known.
inline bool WaitsWithoutStream(const HtaRow& row) {
  return row.name == "Event Sync" || row.name == "Context Sync";
}

// Whether HTA takes the runtime call for a launch.
bool IsHtaLaunch(const HtaRow& row);

// The event graph of HTA's critical path, with the orders that decide its ties: nodes in the order
// in which they were added, and the edges of a node in the order in which they were first added.

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

  // Adds two nodes, for the begin and the end of an event.
  Ends AddEvent(uint32_t event, int64_t begin, int64_t end);
  // nullptr for an event without nodes.
  const Ends* Find(int64_t event) const;
  const HtaNode& node(uint32_t id) const { return nodes_[id]; }

  // The edge is weighted with the time between both; an existing edge takes the new weight and
  // kind.
  void AddSpan(uint32_t from, uint32_t to) { Add(from, to, Between(from, to), false); }
  void AddFree(uint32_t from, uint32_t to) { Add(from, to, 0, false); }
  void AddSync(uint32_t from, uint32_t to) { Add(from, to, 0, true); }

  const std::vector<HtaEdge>& edges() const { return edges_; }

  // The edges of the longest path, first to last; false if there is none that HTA would take:
  // because of a cycle, or of an edge of less than -1 us (one of -1 us counts as 0).
  bool LongestPath(std::vector<HtaEdge>& path) const;

 private:
  int64_t Between(uint32_t from, uint32_t to) const { return nodes_[to].time - nodes_[from].time; }
  void Add(uint32_t from, uint32_t to, int64_t weight, bool is_sync);

  std::vector<HtaNode> nodes_;
  std::vector<HtaEdge> edges_;
  HashMap<uint32_t, Ends> ends_;
  HashMap<uint64_t, uint32_t> edge_of_;  // by both nodes
};

// Builds HTA's (of June 2024) event graph for the rows of the first step.

// Adds what the threads did: calls in the order of their nesting.
void AddHostEvents(const HtaTable& table, HtaGraph& graph);

// Adds what the device did, and who waited for it. REQUIRES: AddHostEvents came before. If the
// reference ends with an error, returns why there is no graph; else empty.
std::string AddDeviceEvents(const HtaTable& table, HtaGraph& graph);

struct SyncDeps {
  // From the external id of what waits to the ids for which it waits.
  HashMap<int64_t, std::vector<int64_t>> by_waiting;
  std::string failure;  // why there are none if the reference ends with an error; else empty
};

SyncDeps FindSyncDeps(const DeviceTrace& trace);

}  // namespace borescope::internal::chakra::compat
