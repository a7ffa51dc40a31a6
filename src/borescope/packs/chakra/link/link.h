// Links an execution trace with a loaded trace of the profiler. docs/use/chakra.md describes the
// method, and why it differs from that of the reference.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/diagnostics.h"
#include "borescope/base/result.h"
#include "borescope/index/syncs/sync_edges.h"
#include "borescope/index/trace_index.h"
#include "borescope/packs/chakra/link/host_trace.h"
#include "borescope/trace/trace.h"

namespace borescope::internal::chakra {

// LinkPlan: the result of linking, whichever rules it followed: which times belong to which node of
// the host trace, which device work is below it, and who waits for whom. The writer turns it into a
// linked trace.

// A time in microseconds, with the type in which it is written.
struct LinkTime {
  enum class Kind : uint8_t { kInt, kDouble, kNanos };

  Kind kind = Kind::kInt;
  int64_t whole = 0;    // kInt: microseconds; kNanos: nanoseconds, which are written exactly
  double fraction = 0;  // kDouble

  static LinkTime Int(int64_t us) { return {Kind::kInt, us, 0}; }
  static LinkTime Double(double us) { return {Kind::kDouble, 0, us}; }
  static LinkTime Nanos(int64_t ns) { return {Kind::kNanos, ns, 0}; }
  void AppendTo(std::string& out) const;
};

struct LinkedDevice {
  uint32_t host = 0;      // row of HostTrace::nodes that launched it
  std::string_view name;  // JSON text, as are the next three
  std::string_view phase;
  std::string_view stream;
  std::string_view group;     // of the collective; empty: none
  std::string_view category;  // plain: "kernel"
  std::optional<int64_t> device;
  LinkTime begin;
  LinkTime duration;
  // Ids of the device work for which it waits on the device; its slice of LinkPlan::device_deps.
  uint32_t first_dep = 0;
  uint32_t end_dep = 0;
};

struct LinkedHost {
  bool is_matched = false;
  LinkTime inclusive;
  LinkTime exclusive;
  LinkTime begin;
  std::optional<int64_t> inter_thread_dep;  // id in the linked trace
  // Its slice of LinkPlan::devices, in the order of their ids, which follow its own id.
  uint32_t first_device = 0;
  uint32_t end_device = 0;
};

// The node `waits` begins after the node `on` has ended; ids in the linked trace.
struct LinkedSync {
  int64_t waits = 0;
  int64_t on = 0;
};

// What was linked and what was not; `*_ns` are device time.
struct LinkCounts {
  uint64_t host_nodes = 0;
  uint64_t host_matched = 0;
  uint64_t device_linked = 0;
  uint64_t device_orphaned = 0;  // no launch, or no operator of the host trace around it
  int64_t linked_ns = 0;
  int64_t orphaned_ns = 0;
  uint64_t by_zero = 0;     // among the matched: by the number 0, which means none (compat only)
  uint64_t renamed = 0;     // the number is that of an operator of another name
  uint64_t duplicates = 0;  // nodes, or events, with the record function of an earlier one
  uint64_t thread_deps = 0;
  uint64_t sync_found = 0;     // waits of calls for device work, by events of synchronisation
  uint64_t sync_inferred = 0;  // the same, by what the calls are
  uint64_t sync_attached = 0;  // both kinds, as written
  uint64_t sync_queries = 0;   // calls that asked for device work and did not wait
  uint64_t stream_order = 0;
  uint64_t stream_waits = 0;
  bool has_sync_records = false;
  bool by_external_id = false;  // there were no numbers of record functions
};

struct LinkPlan {
  std::vector<LinkedHost> hosts;  // one for each of HostTrace::nodes
  std::vector<LinkedDevice> devices;
  std::vector<int64_t> device_deps;
  std::vector<LinkedSync> syncs;  // by `waits`; of one node in the order they are written
  LinkCounts counts;
  Diagnostics diagnostics;
  std::deque<std::string> texts;                // that the views above point into, or
  std::unique_ptr<const std::string> document;  // this

  // The id that a node gets: nodes are in order of their old ids, each followed by its device work.
  int64_t IdOf(uint32_t host) const {
    return static_cast<int64_t>(host) + hosts[host].first_device;
  }
  int64_t IdOfDevice(uint32_t device) const {
    return static_cast<int64_t>(device) + devices[device].host + 1;
  }
};

// The trace must outlive the plan, which refers to its names. kMissingData if nothing is in both.
// O((nodes + events) log events).
Result<LinkPlan> LinkTrace(const HostTrace& host, const Trace& trace, const TraceIndex& index);

// Which node of the host trace corresponds to which event of the trace, and what follows for
// threads.

inline constexpr uint32_t kNoRow = ~uint32_t{0};

struct HostMatch {
  std::vector<uint32_t> row_of_node;  // host row of each node, or kNoRow
  std::vector<uint32_t> node_of_row;  // node of each host row, or kNoRow
  std::vector<uint32_t> node_around;  // the innermost node around each host row, itself included
  // The earliest time at which each node can begin, given the order of the nodes of its thread; not
  // before its begin. Dependencies from a smaller to a larger one cannot be circular.
  std::vector<int64_t> rank_of_node;
};

// Matches by the number of the record function, except 0; if the trace has no such number, by
// External id and name (counts.by_external_id). Of several events or nodes with one number the
// first one is matched; they are counted, as are pairs with different names.
HostMatch MatchHosts(const HostTrace& host, const Trace& trace, const CallTree& tree,
                     LinkCounts& counts);

// Sets times and `is_matched` in plan.hosts. The exclusive time of a node is its duration less that
// of the nodes inside it; events without a node belong to the node around them.
void SetHostTimes(const Trace& trace, const CallTree& tree, const HostMatch& match, LinkPlan& plan);

// Finds the nodes that wait for other threads: the first node of a thread, and the first one after
// the thread did nothing for more than a millisecond, wait for the node of another thread that
// began last before. Per row of the waiting node: the other row, or kNoRow.
std::vector<uint32_t> FindThreadWaits(const Trace& trace, const HostMatch& match);

// Finds the node of the host trace for device work, and what waits for that work.

struct DeviceMatch {
  std::vector<uint32_t> device_of_row;  // row of LinkPlan::devices of each device row, or kNoRow
  std::vector<uint32_t> row_of_device;
  std::vector<int64_t> rank;  // as HostMatch::rank_of_node, of LinkPlan::devices
};

// Adds device work under the innermost node around its launch, or around its operator if the launch
// is not recorded, in the order of nodes and then of time. Counts what is linked and what is not.
DeviceMatch AddDevices(const Trace& trace, const TraceIndex& index, const HostMatch& match,
                       LinkPlan& plan);

// Adds what device work waits for: the work before it on its stream, and work of other streams for
// which its stream waited.
void AddDeviceDeps(const Trace& trace, const SyncEdges& syncs, const HostMatch& match,
                   DeviceMatch& devices, LinkPlan& plan);

// Adds the nodes that wait for device work: the first node of the thread that begins after the call
// that waited. A query of an event (cudaEventQuery) is not a wait. REQUIRES: AddDeviceDeps.
void AddSyncs(const Trace& trace, const SyncEdges& syncs, const HostMatch& match,
              const DeviceMatch& devices, LinkPlan& plan);

// When two traces cannot be linked at all, and what to do about it.

// kMissingData if no operator is in both traces, or no device work is below one.
Result<void> CheckLinked(const LinkCounts& counts);

}  // namespace borescope::internal::chakra
