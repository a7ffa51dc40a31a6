// The tables of the reports of `stats`: each piece of device work, memcpys and memsets, kernels and
// calls on the host, and ranges.
//
// cuda_gpu_trace has a row for each kernel, memcpy and memset, by start.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/work_groups.h"
#include "borescope/analysis/verbs/stats/stats_reports.h"
#include "borescope/base/each_row.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/index/names/kernel_class.h"

namespace borescope::internal {

namespace {

void AddColumns(Table& table) {
  const auto integer = [&](std::string_view name, std::string_view doc) {
    AddInt(table, name, Unit::kNone, Role::kDerived, doc);
  };
  AddInt(table, "rank", Unit::kNone, Role::kKey,
         "Rank of the process in the job; left out where there is one.");
  integer("Start (ns)", "Start, on the clock of the file.");
  integer("Duration (ns)", "Duration.");
  integer("CorrId", "Number that ties it to its call.");
  for (const std::string_view name : {"GrdX", "GrdY", "GrdZ"}) {
    integer(name, "Blocks of the grid.");
  }
  for (const std::string_view name : {"BlkX", "BlkY", "BlkZ"}) {
    integer(name, "Threads of a block.");
  }
  integer("Reg/Trd", "Registers per thread.");
  const auto number = [&](std::string_view name, std::string_view doc) {
    AddFloat(table, name, Unit::kNone, Role::kDerived, doc);
  };
  number("StcSMem (MB)", "Missing: static and dynamic shared memory are kept together.");
  number("DymSMem (MB)", "Missing: static and dynamic shared memory are kept together.");
  number("SMem (MB)", "Shared memory of a block, static and dynamic; no column of nsys.");
  number("Bytes (MB)", "Bytes copied or set.");
  number("Throughput (MB/s)", "Bytes / duration.");
  AddString(table, "SrcMemKd", Role::kDerived, "Kind of memory copied from.");
  AddString(table, "DstMemKd", Role::kDerived, "Kind of memory copied or written to.");
  AddString(table, "Device", Role::kDerived, "Name of the device where recorded, and its number.");
  integer("Ctx", "Missing: contexts are not kept.");
  integer("GreenCtx", "Missing: contexts are not kept.");
  integer("Strm", "Stream.");
  AddString(table, "Name", Role::kDerived, "Name of the kernel, or kind of the copy.");
}

void PushPart(Row& row, int64_t value) { value < 0 ? row.Missing() : row.Int(value); }

// Grid to shared memory; nothing of a kernel whose producer did not tell.
void PushShape(Row& row, const Kernels& kernels, uint32_t detail) {
  if (detail == kNoDetail) {
    for (int i = 0; i < 10; ++i) {
      row.Missing();
    }
    return;
  }
  for (const auto* column : {&kernels.grid_x, &kernels.grid_y, &kernels.grid_z, &kernels.block_x,
                             &kernels.block_y, &kernels.block_z, &kernels.registers}) {
    PushPart(row, (*column)[detail]);
  }
  row.Missing().Missing();
  const int32_t shared = kernels.shared_bytes[detail];
  shared < 0 ? row.Missing() : row.Float(static_cast<double>(shared) / kMegabyte);
}

// "Memcpy HtoD (Pinned -> Device)": source and target; "Memset (Device)": the target.
std::pair<std::string_view, std::string_view> MemoryKinds(std::string_view name) {
  const size_t begin = name.find('(');
  const size_t end = name.rfind(')');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) {
    return {};
  }
  const std::string_view kinds = name.substr(begin + 1, end - begin - 1);
  constexpr std::string_view kArrow = " -> ";
  const size_t arrow = kinds.find(kArrow);
  if (arrow == std::string_view::npos) {
    return {{}, kinds};
  }
  return {kinds.substr(0, arrow), kinds.substr(arrow + kArrow.size())};
}

void PushBytes(Row& row, const RankView& view, DeviceId id) {
  const int64_t bytes = CopyBytes(view.trace, id);
  if (bytes == kMissing) {
    row.Missing().Missing();
    return;
  }
  row.Float(static_cast<double>(bytes) / kMegabyte);
  const int64_t dur_ns = view.trace.device().dur_ns[id.value];
  dur_ns == 0 ? row.Missing()
              : row.Float(static_cast<double>(bytes) / static_cast<double>(dur_ns) * 1e3);
}

// "NVIDIA A100 (0)", or "0" where no name was recorded.
std::map<int64_t, std::string> DeviceLabels(const Trace& trace) {
  std::map<int64_t, std::string> labels;
  for (const DeviceInfo& device : trace.meta().devices) {
    if (!device.name.empty()) {
      labels.emplace(device.id, fmt::format("{} ({})", device.name, device.id));
    }
  }
  return labels;
}

void PushWork(Table& table, const RankView& view, DeviceId id,
              const std::map<int64_t, std::string>& labels) {
  const DeviceEvents& device = view.trace.device();
  const bool is_kernel = device.kind[id.value] == DeviceKind::kKernel;
  Row row(table);
  row.Int(view.rank).Int(device.ts_ns[id.value]).Int(device.dur_ns[id.value]);
  row.MaybeInt(device.correlation[id.value]);
  PushShape(row, view.trace.kernels(), is_kernel ? device.detail[id.value] : kNoDetail);
  PushBytes(row, view, id);
  const std::pair<std::string_view, std::string_view> kinds =
      is_kernel ? std::pair<std::string_view, std::string_view>()
                : MemoryKinds(view.trace.Name(id));
  row.MaybeText(kinds.first).MaybeText(kinds.second);
  const auto label = labels.find(view.trace.DeviceOf(id));
  row.Text(label == labels.end() ? fmt::format("{}", view.trace.DeviceOf(id)) : label->second);
  row.Missing().Missing().Int(view.trace.StreamOf(id));
  row.Text(is_kernel ? view.trace.Name(id) : NsysCopyName(view, id));
}

}  // namespace

Table CollectTrace(Table table, const RankView& view, const Selected& selected) {
  AddColumns(table);
  table.preview_rows = 20;
  const std::map<int64_t, std::string> labels = DeviceLabels(view.trace);
  for (const DeviceId id : WorkByStart(view, selected)) {
    PushWork(table, view, id, labels);
  }
  return table;
}

namespace {

// Reports of memcpys and memsets, by where from and where to.

std::string_view NsysKindName(CopyKind kind) {
  constexpr std::string_view kNames[] = {
      "[CUDA memcpy Host-to-Device]",   "[CUDA memcpy Device-to-Host]",
      "[CUDA memcpy Device-to-Device]", "[CUDA memcpy Peer-to-Peer]",
      "[CUDA memcpy Host-to-Host]",     "[CUDA memset]",
      "[CUDA memcpy Unknown]"};
  static_assert(std::size(kNames) == static_cast<size_t>(CopyKind::kCount));
  return kNames[static_cast<size_t>(kind)];
}

CopyKind KindOf(const RankView& view, DeviceId id) {
  return ClassifyCopy(view.trace.device().kind[id.value], view.trace.Name(id));
}

// `value_of` gives the sample of a copy, kMissing where it has none.
template <class ValueOf>
Table CollectCopies(Table table, const RankView& view, const Selected& selected,
                    const ValueOf& value_of) {
  const DeviceEvents& device = view.trace.device();
  SampleGroups groups(1);
  for (const uint32_t row : EachRow(device.size())) {
    const DeviceId id{row};
    if (device.kind[row] == DeviceKind::kKernel || !selected.Keeps(id)) {
      continue;
    }
    if (const int64_t value = value_of(id); value != kMissing) {
      groups.Add(std::array{static_cast<int64_t>(KindOf(view, id))}, 0, value);
    }
  }
  AddString(table, "Operation", Role::kKey, "Where from and where to.");
  return groups.Fill(std::move(table), [](Row& row, std::span<const int64_t> key) {
    row.Text(NsysKindName(static_cast<CopyKind>(key[0])));
  });
}

}  // namespace

std::string_view NsysCopyName(const RankView& view, DeviceId id) {
  return NsysKindName(KindOf(view, id));
}

Table CollectCopyTimes(Table table, const RankView& view, const Selected& selected) {
  return CollectCopies(std::move(table), view, selected,
                       [&](DeviceId id) { return view.trace.device().dur_ns[id.value]; });
}

Table CollectCopySizes(Table table, const RankView& view, const Selected& selected) {
  return CollectCopies(std::move(table), view, selected,
                       [&](DeviceId id) { return CopyBytes(view.trace, id); });
}

namespace {

// Reports of kernels and of calls on the host.

// What readers write as RuntimeCalls::domain of a call of the operating system.
constexpr std::string_view kOsDomain = "osrt";

int64_t Number(StringId name) { return name.value; }

bool IsOsCall(const RankView& view, uint32_t row) {
  const uint32_t detail = view.trace.host().detail[row];
  const HostKind kind = view.trace.host().kind[row];
  return (kind == HostKind::kRuntime || kind == HostKind::kOther) && detail != kNoDetail &&
         view.trace.Text(view.trace.runtime_calls().domain[detail]) == kOsDomain;
}

enum class Calls : bool { kApi, kOs };

Table CollectCalls(Table table, const RankView& view, const Selected& selected, Calls calls) {
  const HostEvents& host = view.trace.host();
  SampleGroups groups(1);
  for (const uint32_t row : EachRow(host.size())) {
    const bool is_os = IsOsCall(view, row);
    const bool is_asked_for =
        calls == Calls::kOs ? is_os : host.kind[row] == HostKind::kRuntime && !is_os;
    if (is_asked_for && selected.Keeps(HostId{row})) {
      groups.Add(std::array{Number(host.name[row])}, 0, host.dur_ns[row]);
    }
  }
  AddString(table, "Name", Role::kKey, "Name of the call.");
  return groups.Fill(std::move(table), [&](Row& row, std::span<const int64_t> key) {
    row.Text(view.trace.Text(NameOfKey(key[0])));
  });
}

// The parts of a kernel's way from its call to its end, in the order of the measures.
struct Execution {
  int64_t total_ns;
  int64_t api_ns;
  int64_t queue_ns;  // 0: it started before the call returned
  int64_t kernel_ns;
};

Execution ExecutionOf(const RankView& view, HostId call, DeviceId kernel) {
  const HostEvents& host = view.trace.host();
  const DeviceEvents& device = view.trace.device();
  const int64_t call_end_ns = host.end_ns(call);
  const int64_t end_ns = std::max(call_end_ns, device.end_ns(kernel));
  return {end_ns - host.ts_ns[call.value], host.dur_ns[call.value],
          std::max<int64_t>(0, device.ts_ns[kernel.value] - call_end_ns),
          device.dur_ns[kernel.value]};
}

void AddExecution(std::span<const int64_t> key, const Execution& execution, SampleGroups& groups) {
  groups.Add(key, 0, execution.total_ns);
  groups.Add(key, 1, execution.api_ns);
  if (execution.queue_ns > 0) {
    groups.Add(key, 2, execution.queue_ns);
  }
  groups.Add(key, 3, execution.kernel_ns);
}

}  // namespace

Table CollectKernels(Table table, const RankView& view, const Selected& selected) {
  const DeviceEvents& device = view.trace.device();
  SampleGroups groups(1);
  for (const uint32_t row : EachRow(device.size())) {
    if (device.kind[row] == DeviceKind::kKernel && selected.Keeps(DeviceId{row})) {
      groups.Add(std::array{Number(device.name[row])}, 0, device.dur_ns[row]);
    }
  }
  AddString(table, "Name", Role::kKey, "Name of the kernel.");
  return groups.Fill(std::move(table), [&](Row& row, std::span<const int64_t> key) {
    row.Text(view.trace.Text(NameOfKey(key[0])));
  });
}

Table CollectApiCalls(Table table, const RankView& view, const Selected& selected) {
  return CollectCalls(std::move(table), view, selected, Calls::kApi);
}

Table CollectOsCalls(Table table, const RankView& view, const Selected& selected) {
  return CollectCalls(std::move(table), view, selected, Calls::kOs);
}

Table CollectKernelLaunches(Table table, const RankView& view, const Selected& selected) {
  const HostEvents& host = view.trace.host();
  const DeviceEvents& device = view.trace.device();
  const Tracks& tracks = view.trace.tracks();
  SampleGroups groups(5);
  for (const uint32_t row : EachRow(device.size())) {
    const HostId call = view.index.correlation.launch_of[row];
    if (device.kind[row] != DeviceKind::kKernel || !call.valid() ||
        !selected.Keeps(DeviceId{row})) {
      continue;
    }
    const uint32_t thread = host.track[call.value].value;
    const std::array key{tracks.pid[thread], tracks.tid[thread], view.trace.DeviceOf(DeviceId{row}),
                         Number(host.name[call.value]), Number(device.name[row])};
    AddExecution(key, ExecutionOf(view, call, DeviceId{row}), groups);
  }
  AddInt(table, "PID", Unit::kNone, Role::kKey, "Process that made the call.");
  AddInt(table, "TID", Unit::kNone, Role::kKey, "Thread that made the call.");
  AddInt(table, "DevId", Unit::kNone, Role::kKey, kGpuDoc);
  AddString(table, "API Name", Role::kKey, "The call that started the kernels.");
  AddString(table, "Kernel Name", Role::kKey, "Name of the kernel.");
  return groups.Fill(std::move(table), [&](Row& row, std::span<const int64_t> key) {
    row.Int(key[0]).Int(key[1]).Int(key[2]);
    row.Text(view.trace.Text(NameOfKey(key[3]))).Text(view.trace.Text(NameOfKey(key[4])));
  });
}

namespace {

// Reports of ranges: annotations on the host, which NVTX calls ranges. Device work belongs to the
// ranges that are open, on the thread of its call, when the call begins; ranges that may overlap
// have none.

// As nsys calls what nests on a thread and what may end anywhere.
std::string_view StyleName(bool is_async) { return is_async ? "StartEnd" : "PushPop"; }

bool IsAsync(const Trace& trace, HostId range) {
  return trace.tracks().is_async[trace.host().track[range.value].value] != 0;
}

// Deeper nests than any program makes are cut to their innermost ranges.
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
  for (const uint32_t row : EachRow(host.size())) {
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
  for (const uint32_t row : EachRow(device.size())) {
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
  for (const uint32_t row : EachRow(host.size())) {
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
  for (const uint32_t row : EachRow(host.size())) {
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
  for (const uint32_t row : EachRow(device.size())) {
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
