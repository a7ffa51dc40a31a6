// Tables of --compat rpd: what the views of an .rpd file (rocmProfileData) show for the same
// recording, quirks included; docs/use/compat-rpd.md.
//
// Columns have the names of the views, less those that a recording does not keep (ids of device
// work, sequence numbers); views of rows begin with the rank. Times are nanoseconds unless the name
// says otherwise.

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/work_groups.h"
#include "borescope/base/check.h"
#include "borescope/base/each_row.h"
#include "borescope/packs/packs.h"

namespace borescope::internal {
namespace {

// The sums that the views top and ktop make by name.
struct RpdTotals {
  int64_t calls = 0;
  int64_t total_ns = 0;
  int64_t whole_ns = 0;  // time that `Percentage` is a part of
};

double PercentOf(int64_t part, int64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) * 100.0 / static_cast<double>(whole);
}

// The columns Name, calls, total and whole of a table that is merged by name.
void AddRpdTotals(Table& table) {
  AddString(table, "Name", Role::kKey, "Name, or the type of what has none.");
  AddInt(table, "calls", Unit::kCount, Role::kSum, "Distinct ones; dropped at the end.");
  AddInt(table, "total", Unit::kNone, Role::kSum, "Their time; dropped at the end.");
  AddInt(table, "whole", Unit::kNone, Role::kSum, "Time of all; dropped at the end.");
}

void PushRpdTotals(Table& table, std::string_view name, const RpdTotals& totals) {
  Row(table).Text(name).Int(totals.calls).Int(totals.total_ns).Int(totals.whole_ns);
}

enum class RpdRounding : bool {
  kNew,  // TotalDuration_us; Ave_us, whole nanoseconds / 1000.0
  kOld,  // TotalDuration and Ave, whole microseconds
};

// The view: by total, largest first, then by name.
Table FinishRpdTotals(const Table& merged, RpdRounding rounding) {
  const Table sorted = Sorted(merged, "total");
  const int64_t whole = SumOf(sorted, "whole");
  const bool is_old = rounding == RpdRounding::kOld;
  Table table{merged.name, merged.title, {}};
  AddString(table, "Name", Role::kKey, "Name, or the type of what has none.");
  AddInt(table, "TotalCalls", Unit::kCount, Role::kDerived, "How many.");
  AddInt(table, is_old ? "TotalDuration" : "TotalDuration_us", Unit::kNone, Role::kDerived,
         "Sum of their durations in whole microseconds, cut off.");
  is_old ? AddInt(table, "Ave", Unit::kNone, Role::kDerived, "Mean in whole microseconds, cut off.")
         : AddFloat(table, "Ave_us", Unit::kNone, Role::kDerived,
                    "Mean, cut off to nanoseconds, in microseconds.");
  AddFloat(table, "Percentage", Unit::kNone, Role::kDerived, "Percent of the time of all.");
  for (size_t i = 0; i < sorted.rows(); ++i) {
    const int64_t calls = Ints(sorted, "calls")[i];
    const int64_t total_ns = Ints(sorted, "total")[i];
    const int64_t mean_ns = calls <= 0 ? 0 : total_ns / calls;
    Row row(table);
    row.Text(Texts(sorted, "Name")[i]).Int(calls).Int(total_ns / 1000);
    is_old ? row.Int(mean_ns / 1000) : row.Float(static_cast<double>(mean_ns) / 1000.0);
    row.Float(PercentOf(total_ns, whole));
  }
  return table;
}

// Device work of the rank by start; at equal times in the order of the streams.
std::vector<DeviceId> RpdOps(const RankView& view) {
  const Result<Selected> all = Selected::Make(view, {});
  BS_CHECK(all.ok());  // nothing is selected
  return WorkByStart(view, *all);
}

// Integer columns of a view without a unit of their own.
void AddRpdInts(Table& table, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    AddInt(table, name, Unit::kNone, Role::kDerived, "As in the view.");
  }
}

// The views top and op. Rows of `top` come from a UNION of (name, start, end), so that device work
// that is equal in all three, as a collective on several devices can be, counts once; `Percentage`
// is a share of the time of all work.

// Name, start and end.
using Triple = std::tuple<uint32_t, int64_t, int64_t>;

std::vector<Triple> Triples(const RankView& view) {
  const DeviceEvents& device = view.trace.device();
  std::vector<Triple> triples;
  for (const uint32_t row : EachRow(device.size())) {
    if (IsDeviceWork(device.kind[row])) {
      triples.emplace_back(device.name[row].value, device.ts_ns[row], device.end_ns(DeviceId{row}));
    }
  }
  std::sort(triples.begin(), triples.end());
  return triples;
}

Table TopTable(const RankView& view) {
  Table table{"top", "Device time by name (as rocmProfileData)", {}};
  AddRpdTotals(table);
  const std::vector<Triple> triples = Triples(view);
  RpdTotals totals;
  for (size_t i = 0; i < triples.size(); ++i) {
    const auto [name, begin_ns, end_ns] = triples[i];
    totals.whole_ns = AddSaturating(totals.whole_ns, end_ns - begin_ns);
    if (i + 1 == triples.size() || triples[i + 1] != triples[i]) {
      ++totals.calls;
      totals.total_ns = AddSaturating(totals.total_ns, end_ns - begin_ns);
    }
    if (i + 1 == triples.size() || std::get<0>(triples[i + 1]) != name) {
      PushRpdTotals(table, view.trace.Text(StringId{name}), totals);
      totals = {};
    }
  }
  return table;
}

// Work without a description is named by its type.
bool IsNamedByType(const RankView& view, DeviceId id) {
  constexpr std::string_view kTypes[] = {"KernelExecution", "Task", "KERNEL_DISPATCH",
                                         "ConcurrentKernel", "Kernel"};
  return view.trace.device().kind[id.value] != DeviceKind::kKernel ||
         std::find(std::begin(kTypes), std::end(kTypes), view.trace.Name(id)) != std::end(kTypes);
}

Table OpTable(const RankView& view) {
  Table table{"op", "Device work (as rocmProfileData)", {}, 20};
  AddRankKey(table);
  AddRpdInts(table, {"gpuId", "queueId", "start", "end"});
  AddString(table, "description", Role::kDerived, "Name of the kernel; empty for copies.");
  AddString(table, "opType", Role::kDerived, "Type of the work; not kept of named kernels.");
  const DeviceEvents& device = view.trace.device();
  for (const DeviceId id : RpdOps(view)) {
    Row row(table);
    row.Int(view.rank).Int(view.trace.DeviceOf(id)).Int(view.trace.StreamOf(id));
    row.Int(device.ts_ns[id.value]).Int(device.end_ns(id));
    const bool by_type = IsNamedByType(view, id);
    row.Text(by_type ? std::string_view() : view.trace.Name(id));
    row.MaybeText(by_type ? view.trace.Name(id) : std::string_view());
  }
  return table;
}

Result<Tables> MapRpdTop(const RankView& view, const Params&) {
  return Tables{TopTable(view), OpTable(view)};
}

Result<Tables> FinishRpdTop(Tables findings, const Params&) {
  findings[0] = FinishRpdTotals(findings[0], RpdRounding::kNew);
  return findings;
}

// The view busy: the time of all work of a device, counting overlapping work several times, divided
// by the time from the first start to the last end of any work on any device.

Result<Tables> MapRpdBusy(const RankView& view, const Params&) {
  Table table{"busy", "Device time (as rocmProfileData)", {}};
  AddRankKey(table);
  AddInt(table, "gpuId", Unit::kNone, Role::kKey, kGpuDoc);
  AddInt(table, "GpuTime", Unit::kNone, Role::kDerived, "Sum of the durations on the device, ns.");
  AddInt(table, "WallTime", Unit::kNone, Role::kDerived,
         "First start to last end of the work of all devices, ns.");
  AddFloat(table, "Busy", Unit::kNone, Role::kDerived, "GpuTime / WallTime; may exceed 1.");
  const DeviceEvents& device = view.trace.device();
  std::map<int64_t, int64_t> time_of;
  int64_t begin_ns = view.trace.end_ns();
  int64_t end_ns = view.trace.begin_ns();
  for (const uint32_t row : EachRow(device.size())) {
    if (IsDeviceWork(device.kind[row])) {
      int64_t& time_ns = time_of[view.trace.DeviceOf(DeviceId{row})];
      time_ns = AddSaturating(time_ns, device.dur_ns[row]);
      begin_ns = std::min(begin_ns, device.ts_ns[row]);
      end_ns = std::max(end_ns, device.end_ns(DeviceId{row}));
    }
  }
  for (const auto& [gpu, time_ns] : time_of) {
    const int64_t wall_ns = end_ns - begin_ns;
    Row(table).Int(view.rank).Int(gpu).Int(time_ns).Int(wall_ns).Share(time_ns, wall_ns);
  }
  return Tables{std::move(table)};
}

// The views ktop and kernel. `ktop` adds up the time of the launching calls on the host, not that
// of the kernels. Both only know kernels whose call recorded their shape, so that those of graphs
// are missing.

// Kernels whose launch and shape are known, by start.
std::vector<DeviceId> DescribedKernels(const RankView& view) {
  const DeviceEvents& device = view.trace.device();
  std::vector<DeviceId> kernels;
  for (const DeviceId id : RpdOps(view)) {
    if (device.kind[id.value] == DeviceKind::kKernel && device.detail[id.value] != kNoDetail &&
        view.index.correlation.launch_of[id.value].valid()) {
      kernels.push_back(id);
    }
  }
  return kernels;
}

// Counts each call once, under the name of its first kernel.
Table KtopTable(const RankView& view, const std::vector<DeviceId>& kernels) {
  Table table{"ktop", "Time of launching calls by kernel (as rocmProfileData)", {}};
  AddRpdTotals(table);
  std::vector<char> is_counted(view.trace.host().size());
  std::map<uint32_t, RpdTotals> totals;
  for (const DeviceId id : kernels) {
    const HostId call = view.index.correlation.launch_of[id.value];
    if (std::exchange(is_counted[call.value], 1) != 0) {
      continue;
    }
    RpdTotals& of_name = totals[view.trace.device().name[id.value].value];
    ++of_name.calls;
    of_name.total_ns = AddSaturating(of_name.total_ns, view.trace.host().dur_ns[call.value]);
    of_name.whole_ns = of_name.total_ns;
  }
  for (const auto& [name, of_name] : totals) {
    PushRpdTotals(table, view.trace.Text(StringId{name}), of_name);
  }
  return table;
}

Table KernelTable(const RankView& view, const std::vector<DeviceId>& works) {
  Table table{"kernel", "Kernels and their shapes (as rocmProfileData)", {}, 20};
  AddRankKey(table);
  AddRpdInts(table, {"gpuId", "queueId", "start", "end", "duration"});
  AddString(table, "stream", Role::kDerived, "Stream as the launch named it.");
  AddRpdInts(table, {"gridX", "gridY", "gridZ", "workgroupX", "workgroupY", "workgroupZ",
                     "groupSegmentSize", "privateSegmentSize"});
  AddString(table, "kernelName", Role::kDerived, "Name of the kernel.");
  const DeviceEvents& device = view.trace.device();
  const Kernels& kernels = view.trace.kernels();
  for (const DeviceId id : works) {
    const uint32_t detail = device.detail[id.value];
    Row row(table);
    row.Int(view.rank).Int(view.trace.DeviceOf(id)).Int(view.trace.StreamOf(id));
    row.Int(device.ts_ns[id.value]).Int(device.end_ns(id)).Int(device.dur_ns[id.value]);
    row.MaybeText(view.trace.Text(kernels.stream_handle[detail]));
    for (const auto* part :
         {&kernels.grid_x, &kernels.grid_y, &kernels.grid_z, &kernels.block_x, &kernels.block_y,
          &kernels.block_z, &kernels.shared_bytes, &kernels.private_bytes}) {
      const int32_t value = (*part)[detail];
      value < 0 ? row.Missing() : row.Int(value);
    }
    row.Text(view.trace.Name(id));
  }
  return table;
}

Result<Tables> MapRpdKernels(const RankView& view, const Params&) {
  const std::vector<DeviceId> kernels = DescribedKernels(view);
  return Tables{KtopTable(view, kernels), KernelTable(view, kernels)};
}

Result<Tables> FinishRpdKernels(Tables findings, const Params&) {
  findings[0] = FinishRpdTotals(findings[0], RpdRounding::kOld);
  return findings;
}

// The views copy and copyop: copies as their calls requested them, with the times of the call and
// with those of the device. Both only know copies whose call was recorded with its arguments.

// The recorded arguments of the call of a copy; kNoDetail if there are none.
uint32_t CallDetail(const RankView& view, DeviceId id) {
  const DeviceEvents& device = view.trace.device();
  const uint32_t detail = device.detail[id.value];
  const bool is_known = device.kind[id.value] != DeviceKind::kKernel && detail != kNoDetail &&
                        view.index.correlation.launch_of[id.value].valid();
  return is_known ? view.trace.copies().call[detail] : kNoDetail;
}

std::vector<DeviceId> DescribedCopies(const RankView& view) {
  std::vector<DeviceId> copies;
  for (const DeviceId id : RpdOps(view)) {
    if (CallDetail(view, id) != kNoDetail) {
      copies.push_back(id);
    }
  }
  return copies;
}

void AddArgumentColumns(Table& table) {
  AddString(table, "stream", Role::kDerived, "Stream as the call named it.");
  AddRpdInts(table, {"size", "width", "height", "kind"});
  AddString(table, "dst", Role::kDerived, "Address copied to.");
  AddString(table, "src", Role::kDerived, "Address copied from.");
  AddRpdInts(table, {"dstDevice", "srcDevice", "sync", "pinned"});
}

void PushArguments(Row& row, const RankView& view, DeviceId id) {
  const CopyCalls& calls = view.trace.copy_calls();
  const uint32_t detail = CallDetail(view, id);
  row.MaybeText(view.trace.Text(calls.stream_handle[detail]));
  row.MaybeInt(view.trace.copies().bytes[view.trace.device().detail[id.value]]);
  row.MaybeInt(calls.width[detail]).MaybeInt(calls.height[detail]).MaybeInt(calls.kind[detail]);
  row.MaybeText(view.trace.Text(calls.target[detail]));
  row.MaybeText(view.trace.Text(calls.source[detail]));
  row.MaybeInt(calls.target_device[detail]).MaybeInt(calls.source_device[detail]);
  row.MaybeInt(calls.is_sync[detail]).MaybeInt(calls.is_pinned[detail]);
}

Table CopyTable(const RankView& view, const std::vector<DeviceId>& copies) {
  Table table{"copy", "Calls that copy (as rocmProfileData)", {}, 20};
  AddRankKey(table);
  AddRpdInts(table, {"id", "pid", "tid", "start", "end"});
  AddString(table, "apiName", Role::kDerived, "The call.");
  AddArgumentColumns(table);
  const HostEvents& host = view.trace.host();
  const Tracks& tracks = view.trace.tracks();
  std::vector<char> is_listed(host.size());
  for (const DeviceId id : copies) {
    const HostId call = view.index.correlation.launch_of[id.value];
    if (std::exchange(is_listed[call.value], 1) != 0) {
      continue;
    }
    const uint32_t thread = host.track[call.value].value;
    Row row(table);
    row.Int(view.rank).MaybeInt(view.trace.device().correlation[id.value]);
    row.Int(tracks.pid[thread]).Int(tracks.tid[thread]);
    row.Int(host.ts_ns[call.value]).Int(host.end_ns(call)).Text(view.trace.Name(call));
    PushArguments(row, view, id);
  }
  return table;
}

Table CopyOpTable(const RankView& view, const std::vector<DeviceId>& copies) {
  Table table{"copyop", "Copies on the device (as rocmProfileData)", {}, 20};
  AddRankKey(table);
  AddRpdInts(table, {"gpuId", "queueId", "start", "end", "duration"});
  AddArgumentColumns(table);
  AddString(table, "apiName", Role::kDerived, "The call.");
  const DeviceEvents& device = view.trace.device();
  for (const DeviceId id : copies) {
    Row row(table);
    row.Int(view.rank).Int(view.trace.DeviceOf(id)).Int(view.trace.StreamOf(id));
    row.Int(device.ts_ns[id.value]).Int(device.end_ns(id)).Int(device.dur_ns[id.value]);
    PushArguments(row, view, id);
    row.Text(view.trace.Name(view.index.correlation.launch_of[id.value]));
  }
  return table;
}

Result<Tables> MapRpdCopies(const RankView& view, const Params&) {
  const std::vector<DeviceId> copies = DescribedCopies(view);
  return Tables{CopyTable(view, copies), CopyOpTable(view, copies)};
}

// The view api: calls, the overhead of the tracer, and the ranges of the program, which this view
// shows as calls named UserMarker with their text as arguments.

constexpr std::string_view kMarker = "UserMarker";

bool IsMarker(HostKind kind) { return kind == HostKind::kAnnotation || kind == HostKind::kOp; }

bool IsCall(const RankView& view, uint32_t row) {
  const HostKind kind = view.trace.host().kind[row];
  return kind == HostKind::kRuntime ||
         (kind == HostKind::kOther && view.trace.host().detail[row] != kNoDetail);
}

// Sorted by start; at equal times in the order of the threads.
std::vector<HostId> ApiRows(const RankView& view) {
  const HostEvents& host = view.trace.host();
  std::vector<HostId> rows;
  for (const uint32_t row : EachRow(host.size())) {
    if (IsCall(view, row) || IsMarker(host.kind[row])) {
      rows.push_back(HostId{row});
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [&](HostId a, HostId b) { return host.ts_ns[a.value] < host.ts_ns[b.value]; });
  return rows;
}

void PushCall(Row& row, const RankView& view, HostId id) {
  const uint32_t detail = view.trace.host().detail[id.value];
  const RuntimeCalls& calls = view.trace.runtime_calls();
  const bool is_known = detail != kNoDetail;
  row.Text(is_known ? view.trace.Text(calls.domain[detail]) : std::string_view());
  row.Text(view.trace.Name(id));
  row.Text(is_known ? view.trace.Text(calls.args[detail]) : std::string_view());
}

Result<Tables> MapRpdCalls(const RankView& view, const Params&) {
  Table table{"api", "Calls on the host (as rocmProfileData)", {}, 20};
  AddRankKey(table);
  AddRpdInts(table, {"id", "pid", "tid", "start", "end"});
  AddString(table, "domain", Role::kDerived, "As in the view of schema 3; empty in older files.");
  AddString(table, "apiName", Role::kDerived, "The call.");
  AddString(table, "args", Role::kDerived, "Arguments as recorded.");
  const HostEvents& host = view.trace.host();
  const Tracks& tracks = view.trace.tracks();
  for (const HostId id : ApiRows(view)) {
    const uint32_t thread = host.track[id.value].value;
    const uint32_t detail = host.detail[id.value];
    const bool is_call = !IsMarker(host.kind[id.value]);
    Row row(table);
    row.Int(view.rank);
    row.MaybeInt(is_call && detail != kNoDetail ? view.trace.runtime_calls().correlation[detail]
                                                : kMissing);
    row.Int(tracks.pid[thread]).Int(tracks.tid[thread]);
    row.Int(host.ts_ns[id.value]).Int(host.end_ns(id));
    if (is_call) {
      PushCall(row, view, id);
    } else {
      row.Text(kMarker).Text(kMarker).Text(view.trace.Name(id));
    }
  }
  return Tables{std::move(table)};
}

constexpr Pipeline kRpdTop{.map = MapRpdTop, .reduce = ReduceByRank, .finish = FinishRpdTop};
constexpr Pipeline kRpdBusy{.map = MapRpdBusy, .reduce = ConcatTables};
constexpr Pipeline kRpdKernels{
    .map = MapRpdKernels, .reduce = ReduceByRank, .finish = FinishRpdKernels};
constexpr Pipeline kRpdCopies{.map = MapRpdCopies, .reduce = ConcatTables};
constexpr Pipeline kRpdCalls{.map = MapRpdCalls, .reduce = ConcatTables};
constexpr PackPipeline kPipelines[] = {{"busy", &kRpdBusy},
                                       {"top", &kRpdTop},
                                       {"kernels", &kRpdKernels},
                                       {"launches", &kRpdCalls},
                                       {"bandwidth", &kRpdCopies}};

}  // namespace

const Pack kRpdPack{.tool = Compat::kRpd, .pipelines = kPipelines, .verbs = {}};

}  // namespace borescope::internal
