// LinkPlan: what linking found, independent of the rules it followed: which times belong to which
// node of the host trace, which device work hangs under it, and who waits for whom. The writer
// turns it into a linked trace.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/diagnostics.h"

namespace borescope::internal::chakra {

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

}  // namespace borescope::internal::chakra
