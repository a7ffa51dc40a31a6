// Links an execution trace with a loaded trace of the profiler. What is done and why it differs
// from the reference stands in docs/use/chakra.md.
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

// LinkPlan: what linking found, independent of the rules it followed: which times belong to which
// node of the host trace, which device work hangs under it, and who waits for whom. The writer
// turns it into a linked trace.

// A time in microseconds, of the type it is written as.
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
  // Ids of the work it waits for on the device; its slice of LinkPlan::device_deps.
  uint32_t first_dep = 0;
  uint32_t end_dep = 0;
};

struct LinkedHost {
  bool is_matched = false;
  LinkTime inclusive;
  LinkTime exclusive;
  LinkTime begin;
  std::optional<int64_t> inter_thread_dep;  // id in the linked trace
  // Its slice of LinkPlan::devices, in the order of their ids, which follow its own.
  uint32_t first_device = 0;
  uint32_t end_device = 0;
};

// The node `waits` begins after the node `on` has ended; ids in the linked trace.
struct LinkedSync {
  int64_t waits = 0;
  int64_t on = 0;
};

// What was linked and what was not; the share of `*_ns` is of device time.
struct LinkCounts {
  uint64_t host_nodes = 0;
  uint64_t host_matched = 0;
  uint64_t device_linked = 0;
  uint64_t device_orphaned = 0;  // no launch, or no operator of the host trace around it
  int64_t linked_ns = 0;
  int64_t orphaned_ns = 0;
  uint64_t by_zero = 0;     // of the matched: by the number 0, which is none (compat only)
  uint64_t renamed = 0;     // the number is that of an operator of another name
  uint64_t duplicates = 0;  // nodes, or events, whose record function another one before has, too
  uint64_t thread_deps = 0;
  uint64_t sync_found = 0;     // waits of calls for device work, by events of synchronisation
  uint64_t sync_inferred = 0;  // the same, by what the calls are
  uint64_t sync_attached = 0;  // of both
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
  std::deque<std::string> texts;                // what views above lead to, or
  std::unique_ptr<const std::string> document;  // this

  // The id that a node gets: nodes in order of their old ids, each followed by its device work.
  int64_t IdOf(uint32_t host) const {
    return static_cast<int64_t>(host) + hosts[host].first_device;
  }
  int64_t IdOfDevice(uint32_t device) const {
    return static_cast<int64_t>(device) + devices[device].host + 1;
  }
};

// The trace must outlive the plan, which shows its names. kMissingData where nothing is in both.
// O((nodes + events) log events).
Result<LinkPlan> LinkTrace(const HostTrace& host, const Trace& trace, const TraceIndex& index);

// Which node of the host trace is which event of the trace, and what follows for threads.

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

// Under which node of the host trace device work hangs, and what waits for it.

struct DeviceMatch {
  std::vector<uint32_t> device_of_row;  // row of LinkPlan::devices of each device row, or kNoRow
  std::vector<uint32_t> row_of_device;
  std::vector<int64_t> rank;  // as HostMatch::rank_of_node, of LinkPlan::devices
};

// Adds device work under the innermost node around its launch, or around its operator where the
// launch is not recorded, in the order of nodes and then of time. Counts what is linked and not.
DeviceMatch AddDevices(const Trace& trace, const TraceIndex& index, const HostMatch& match,
                       LinkPlan& plan);

// Adds what device work waits for: what came before it on its stream, and work of other streams
// that its stream waited for.
void AddDeviceDeps(const Trace& trace, const SyncEdges& syncs, const HostMatch& match,
                   DeviceMatch& devices, LinkPlan& plan);

// Adds which nodes wait for device work: the first one of the thread that begins after the call
// that waited. A question about an event (cudaEventQuery) is no wait. REQUIRES: AddDeviceDeps.
void AddSyncs(const Trace& trace, const SyncEdges& syncs, const HostMatch& match,
              const DeviceMatch& devices, LinkPlan& plan);

// When two traces are not linked at all, and what to do about it.

// kMissingData where no operator is in both traces, or no device work hangs under one.
Result<void> CheckLinked(const LinkCounts& counts);

}  // namespace borescope::internal::chakra
