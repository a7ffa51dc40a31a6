// Reports of ranges: annotations on the host, which NVTX calls ranges. Device work belongs to the
// ranges that are open, on the thread of its call, when the call begins; ranges that may overlap
// have none.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "borescope/analysis/verbs/stats/stats_reports.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

// As nsys calls what nests on a thread and what may end anywhere.
std::string_view StyleName(bool is_async) { return is_async ? "StartEnd" : "PushPop"; }

bool IsAsync(const Trace& trace, HostId range) {
  return trace.tracks().is_async[trace.host().track[range.value].value] != 0;
}

// Of deeper nests than any program makes, the innermost ranges.
constexpr int kMostRangesAround = 256;

struct RangeTree {
  std::vector<HostId> outer;      // per host row: the innermost range around it
  std::vector<int64_t> level;     // per host row: how many ranges lie around it
  std::vector<int64_t> children;  // per host row: how many ranges lie directly in it
};

RangeTree RangesOf(const RankView& view) {
  const HostEvents& host = view.trace.host();
  RangeTree tree{std::vector<HostId>(host.size()), std::vector<int64_t>(host.size()),
                 std::vector<int64_t>(host.size())};
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    const HostId parent = view.index.tree.parent[row];  // an earlier row
    if (!parent.valid()) {
      continue;
    }
    const bool in_range = host.kind[parent.value] == HostKind::kAnnotation;
    tree.outer[row] = in_range ? parent : tree.outer[parent.value];
    tree.level[row] = tree.level[parent.value] + (in_range ? 1 : 0);
    if (tree.outer[row].valid() && host.kind[row] == HostKind::kAnnotation) {
      ++tree.children[tree.outer[row].value];
    }
  }
  return tree;
}

// When the device work of a host row and of all rows in it runs.
struct Projection {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t operations = 0;

  void Add(const Projection& more) {
    if (more.operations == 0) {
      return;
    }
    begin_ns = operations == 0 ? more.begin_ns : std::min(begin_ns, more.begin_ns);
    end_ns = operations == 0 ? more.end_ns : std::max(end_ns, more.end_ns);
    operations += more.operations;
  }
};

std::vector<Projection> ProjectionsOf(const RankView& view, const Selected& selected) {
  const DeviceEvents& device = view.trace.device();
  std::vector<Projection> projections(view.trace.host().size());
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    const HostId call = view.index.correlation.launch_of[row];
    if (call.valid() && selected.Keeps(DeviceId{row})) {
      projections[call.value].Add({device.ts_ns[row], device.end_ns(DeviceId{row}), 1});
    }
  }
  for (size_t row = projections.size(); row-- > 0;) {  // inner rows come after their parent
    if (const HostId parent = view.index.tree.parent[row]; parent.valid()) {
      projections[parent.value].Add(projections[row]);
    }
  }
  return projections;
}

void AddRangeColumns(Table& table, std::string_view name) {
  AddString(table, name, Role::kKey, "Text of the range.");
  AddString(table, "Style", Role::kKey,
            "PushPop: ranges of a thread, one inside another; StartEnd: ranges that may overlap "
            "and end on another thread, to which no device work belongs.");
}

// Ranges of one name on one thread that launched kernels of one name, each range once.
class RangeKernels {
 public:
  explicit RangeKernels(const RankView& view) : view_(view) {}

  void Add(HostId range, DeviceId kernel) {
    const HostEvents& host = view_.trace.host();
    const Tracks& tracks = view_.trace.tracks();
    const uint32_t thread = host.track[range.value].value;
    const StringId kernel_name = view_.trace.device().name[kernel.value];
    const std::array<int64_t, 4> key{host.name[range.value].value, tracks.pid[thread],
                                     tracks.tid[thread], kernel_name.value};
    groups_.Add(key, 0, view_.trace.device().dur_ns[kernel.value]);
    const uint64_t pair = uint64_t{range.value} << 32U | kernel_name.value;
    if (seen_.insert(pair).second) {
      groups_.Add(key, 1, 0);
    }
  }

  Table Fill(Table table) {
    return groups_.Fill(std::move(table), [&](Row& row, std::span<const int64_t> key) {
      row.Text(view_.trace.Text(NameOfKey(key[0]))).Text(StyleName(false)).Int(key[1]).Int(key[2]);
      row.Text(view_.trace.Text(NameOfKey(key[3])));
    });
  }

 private:
  const RankView& view_;
  SampleGroups groups_{4};
  HashSet<uint64_t> seen_;  // range and kernel name
};

}  // namespace

Table CollectRanges(Table table, const RankView& view, const Selected& selected) {
  const HostEvents& host = view.trace.host();
  SampleGroups groups(2);
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    if (host.kind[row] == HostKind::kAnnotation && selected.Keeps(HostId{row})) {
      const int64_t is_async = IsAsync(view.trace, {row}) ? 1 : 0;
      groups.Add(std::array{int64_t{host.name[row].value}, is_async}, 0, host.dur_ns[row]);
    }
  }
  AddRangeColumns(table, "Range");
  return groups.Fill(std::move(table), [&](Row& row, std::span<const int64_t> key) {
    row.Text(view.trace.Text(NameOfKey(key[0]))).Text(StyleName(key[1] != 0));
  });
}

Table CollectRangeProjections(Table table, const RankView& view, const Selected& selected) {
  const HostEvents& host = view.trace.host();
  const RangeTree tree = RangesOf(view);
  const std::vector<Projection> projections = ProjectionsOf(view, selected);
  SampleGroups groups(1);
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    const Projection& projection = projections[row];
    if (host.kind[row] != HostKind::kAnnotation || projection.operations == 0 ||
        !selected.Keeps(HostId{row})) {
      continue;
    }
    const std::array key{int64_t{host.name[row].value}};
    const std::array values{projection.end_ns - projection.begin_ns, host.dur_ns[row],
                            projection.operations, tree.level[row], tree.children[row]};
    for (size_t measure = 0; measure < values.size(); ++measure) {
      groups.Add(key, static_cast<int64_t>(measure), values[measure]);
    }
  }
  AddRangeColumns(table, "Range");
  return groups.Fill(std::move(table), [&](Row& row, std::span<const int64_t> key) {
    row.Text(view.trace.Text(NameOfKey(key[0]))).Text(StyleName(false));
  });
}

Table CollectRangeKernels(Table table, const RankView& view, const Selected& selected) {
  const DeviceEvents& device = view.trace.device();
  const RangeTree tree = RangesOf(view);
  RangeKernels kernels(view);
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    const HostId call = view.index.correlation.launch_of[row];
    if (device.kind[row] != DeviceKind::kKernel || !call.valid() ||
        !selected.Keeps(DeviceId{row})) {
      continue;
    }
    HostId range = tree.outer[call.value];
    for (int depth = 0; range.valid() && depth < kMostRangesAround; ++depth) {
      kernels.Add(range, DeviceId{row});
      range = tree.outer[range.value];
    }
  }
  AddRangeColumns(table, "NVTX Range");
  AddInt(table, "PID", Unit::kNone, Role::kKey, "Process of the range.");
  AddInt(table, "TID", Unit::kNone, Role::kKey, "Thread of the range.");
  AddString(table, "Kernel Name", Role::kKey, "Name of the kernel.");
  return kernels.Fill(std::move(table));
}

}  // namespace borescope::internal
