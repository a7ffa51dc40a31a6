#include "tests/property/invariants.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "borescope/base/text/text.h"
#include "borescope/trace/columns.h"

namespace borescope::internal::testkit {
namespace {

// Collects the first failure; the rest then costs nothing to write.
class Checker {
 public:
  void Expect(bool holds, const std::string& what) {
    if (!holds && failure_.empty()) {
      failure_ = what;
    }
  }
  std::string Take() { return std::move(failure_); }

 private:
  std::string failure_;
};

// Whether a table does without this column: events of databases have no positions.
template <class Table>
bool IsLeftOut(const Table& table, const void* column) {
  if constexpr (requires { table.position; }) {
    return column == &table.position && table.position.empty();
  } else {
    return false;
  }
}

template <class Table>
void CheckLengths(Checker& check, const Table& table, const std::string& name) {
  ForEachColumn(
      [&](const auto& column) {
        check.Expect(column.size() == table.size() || IsLeftOut(table, &column),
                     name + ": columns of different length");
      },
      table);
}

template <class Table>
void CheckStrings(Checker& check, const Trace& trace, const Table& table, const std::string& name) {
  const auto check_column = [&](const auto& column) {
    if constexpr (std::is_same_v<std::decay_t<decltype(column)>, std::vector<StringId>>) {
      for (const StringId id : column) {
        check.Expect(id.value < trace.strings().size(), name + ": a string out of range");
      }
    }
  };
  ForEachColumn(check_column, table);
}

template <class Table>
void CheckTable(Checker& check, const Trace& trace, const Table& table, const std::string& name) {
  CheckLengths(check, table, name);
  CheckStrings(check, trace, table, name);
}

// Spine rows are in slices of their tracks, outer first.
template <class Spine>
void CheckSpine(Checker& check, const Trace& trace, const Spine& spine, TrackKind kind,
                const std::string& name) {
  const Tracks& tracks = trace.tracks();
  uint32_t next = 0;
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] != kind) {
      continue;
    }
    check.Expect(tracks.first_row[track] == next, name + ": slices with a gap");
    next = tracks.end_row[track];
    check.Expect(next >= tracks.first_row[track] && next <= spine.size(), name + ": a bad slice");
    for (uint32_t row = tracks.first_row[track]; row < next; ++row) {
      check.Expect(spine.track[row].value == track, name + ": a row outside its track");
      check.Expect(spine.dur_ns[row] >= 0, name + ": a negative duration");
      check.Expect(
          row == tracks.first_row[track] ||
              std::tuple(spine.ts_ns[row - 1], -spine.dur_ns[row - 1], spine.kind[row - 1]) <=
                  std::tuple(spine.ts_ns[row], -spine.dur_ns[row], spine.kind[row]),
          name + ": rows out of order");
      check.Expect(trace.begin_ns() <= spine.ts_ns[row] &&
                       spine.ts_ns[row] + spine.dur_ns[row] <= trace.end_ns(),
                   name + ": a row outside the trace");
    }
  }
  check.Expect(next == spine.size(), name + ": rows in no track");
}

bool InTable(uint32_t detail, size_t size) { return detail == kNoDetail || detail < size; }

void CheckDetails(Checker& check, const Trace& trace) {
  for (uint32_t row = 0; row < trace.host().size(); ++row) {
    const HostKind kind = trace.host().kind[row];
    const bool is_call = kind == HostKind::kRuntime || kind == HostKind::kOther;
    const size_t size = is_call ? trace.runtime_calls().size()
                        : kind == HostKind::kOp || kind == HostKind::kAnnotation
                            ? trace.ops().size()
                            : 0;
    check.Expect(InTable(trace.host().detail[row], size), "a host detail out of range");
  }
  for (uint32_t row = 0; row < trace.device().size(); ++row) {
    const DeviceKind kind = trace.device().kind[row];
    const size_t size = kind == DeviceKind::kKernel  ? trace.kernels().size()
                        : kind == DeviceKind::kSync  ? trace.syncs().size()
                        : kind == DeviceKind::kRange ? trace.ranges().size()
                        : IsDeviceWork(kind)         ? trace.copies().size()
                                                     : 0;
    check.Expect(InTable(trace.device().detail[row], size), "a device detail out of range");
  }
  for (const auto* details : {&trace.ops().collective, &trace.kernels().collective}) {
    for (const uint32_t detail : *details) {
      check.Expect(InTable(detail, trace.collectives().size()), "a collective out of range");
    }
  }
}

// Every range has its slice of the metrics, one after another, with every name once.
void CheckRanges(Checker& check, const Trace& trace) {
  const ProfilerRanges& ranges = trace.ranges();
  uint32_t next = 0;
  for (uint32_t range = 0; range < ranges.size(); ++range) {
    check.Expect(ranges.first_metric[range] == next && ranges.end_metric[range] >= next,
                 "metrics with a gap");
    next = std::max(next, ranges.end_metric[range]);
    if (next > trace.metrics().size()) {
      break;
    }
    std::set<uint32_t> names;
    for (uint32_t i = ranges.first_metric[range]; i < next; ++i) {
      check.Expect(names.insert(trace.metrics().name[i].value).second, "a metric twice");
      check.Expect(std::isfinite(trace.metrics().value[i]), "a metric that is not finite");
    }
  }
  check.Expect(next == trace.metrics().size(), "metrics of no range");
}

void CheckEventsEnd(Checker& check, const Trace& trace) {
  const Meta& meta = trace.meta();
  check.Expect(meta.events_end_byte <= meta.text_bytes, "events that end behind the text");
  check.Expect(meta.events_end_byte != 0 || !meta.has_events_before_end, "events that end nowhere");
}

// Every event of the file has a position of its own, or none has one.
void CheckPositions(Checker& check, const Trace& trace) {
  uint64_t events = 0;
  for (const EventCount& count : trace.event_counts()) {
    events += count.count;
  }
  std::set<uint32_t> seen;
  for (const auto& [positions, rows] :
       {std::pair(&trace.host().position, trace.host().size()),
        std::pair(&trace.device().position, trace.device().size())}) {
    check.Expect(positions->empty() || positions->size() == rows, "events without positions");
    for (const uint32_t position : *positions) {
      check.Expect(position < events && seen.insert(position).second, "a position twice");
    }
  }
}

void CheckTexts(Checker& check, const Trace& trace) {
  for (uint32_t id = 0; id < trace.strings().size(); ++id) {
    check.Expect(IsValidUtf8(trace.Text({id})), "a string that is not UTF-8");
  }
  for (size_t i = 0; i < static_cast<size_t>(Diag::kCount); ++i) {
    const Diagnostics::Entry& entry = trace.diagnostics().Get(static_cast<Diag>(i));
    check.Expect(IsValidUtf8(entry.first), "a diagnostic that is not UTF-8");
    check.Expect(entry.count != 0 || entry.first.empty(), "a first case of none");
  }
}

void CheckTree(Checker& check, const Trace& trace, const CallTree& tree) {
  check.Expect(
      tree.parent.size() == trace.host().size() && tree.subtree_end.size() == trace.host().size(),
      "a tree of the wrong size");
  for (uint32_t row = 0; row < tree.parent.size(); ++row) {
    const HostId parent = tree.parent[row];
    check.Expect(tree.subtree_end[row] > row && tree.subtree_end[row] <= trace.host().size(),
                 "a subtree out of range");
    check.Expect(!parent.valid() || (parent.value < row &&
                                     tree.subtree_end[row] <= tree.subtree_end[parent.value]),
                 "a child outside its parent");
  }
}

void CheckLinks(Checker& check, const Trace& trace, const TraceIndex& index) {
  size_t launched = 0;
  for (uint32_t row = 0; row < trace.device().size(); ++row) {
    const HostId launch = index.correlation.launch_of[row];
    const HostId op = index.correlation.op_of[row];
    launched += launch.valid() ? 1 : 0;
    check.Expect(!launch.valid() || trace.host().kind[launch.value] == HostKind::kRuntime,
                 "a launch that is no runtime call");
    check.Expect(!op.valid() || trace.host().kind[op.value] == HostKind::kOp,
                 "an operator that is none");
  }
  check.Expect(index.correlation.device_rows.size() == launched, "launched rows get lost");
  for (const ForwardBackwardLink& link : index.forward_backward) {
    check.Expect(link.backward != link.forward, "a link to itself");
  }
  for (const uint32_t step : index.steps.device_step) {
    check.Expect(step == kNoStep || step < index.steps.steps.size(), "a step out of range");
  }
  check.Expect(index.class_of_name.size() == trace.strings().size(), "classes of some names only");
}

}  // namespace

std::string WhatIsWrongWith(const Trace& trace) {
  Checker check;
  CheckTable(check, trace, trace.host(), "host");
  CheckTable(check, trace, trace.device(), "device");
  CheckTable(check, trace, trace.ops(), "ops");
  CheckTable(check, trace, trace.runtime_calls(), "runtime calls");
  CheckTable(check, trace, trace.kernels(), "kernels");
  CheckTable(check, trace, trace.copies(), "copies");
  CheckTable(check, trace, trace.copy_calls(), "copy calls");
  CheckTable(check, trace, trace.syncs(), "syncs");
  CheckTable(check, trace, trace.collectives(), "collectives");
  CheckTable(check, trace, trace.memory(), "memory");
  CheckTable(check, trace, trace.ranges(), "ranges");
  CheckTable(check, trace, trace.metrics(), "metrics");
  CheckTable(check, trace, trace.flows(), "flows");
  CheckTable(check, trace, trace.samples(), "samples");
  CheckSpine(check, trace, trace.host(), TrackKind::kHost, "host");
  CheckSpine(check, trace, trace.device(), TrackKind::kDevice, "device");
  CheckDetails(check, trace);
  CheckRanges(check, trace);
  CheckEventsEnd(check, trace);
  CheckPositions(check, trace);
  CheckTexts(check, trace);
  check.Expect(std::is_sorted(trace.memory().ts_ns.begin(), trace.memory().ts_ns.end()),
               "memory events out of order");
  return check.Take();
}

std::string WhatIsWrongWith(const Trace& trace, const TraceIndex& index) {
  Checker check;
  CheckTree(check, trace, index.tree);
  CheckLinks(check, trace, index);
  return check.Take();
}

}  // namespace borescope::internal::testkit
