#include "borescope/analysis/measures/flops/counters.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "borescope/analysis/measures/graphs/graph_launches.h"
#include "borescope/base/each_row.h"
#include "borescope/base/text/text.h"

namespace borescope::internal {

namespace {

// No profiler collects as many counters at once. The limits keep hostile files from making a table
// that does not fit into memory.
constexpr size_t kMostCounters = 512;
constexpr size_t kFewestCounters = 16;
constexpr size_t kMostCells = size_t{32} << 20;

}  // namespace

size_t MostCounterColumns(size_t rows) {
  return std::clamp(kMostCells / std::max<size_t>(rows, 1), kFewestCounters, kMostCounters);
}

CounterColumns FindCounterColumns(const Trace& trace) {
  const size_t most = MostCounterColumns(trace.ranges().size());
  CounterColumns columns;
  std::set<uint32_t> others;
  for (const StringId name : trace.metrics().name) {
    if (columns.number.count(name.value) != 0) {
      continue;
    }
    if (columns.names.size() == most) {
      others.insert(name.value);
      continue;
    }
    columns.number[name.value] = columns.names.size();
    columns.names.push_back(name);
  }
  columns.left_out = static_cast<int64_t>(others.size());
  return columns;
}

std::vector<std::optional<double>> CounterValues(const Trace& trace, DeviceId range,
                                                 const CounterColumns& columns) {
  std::vector<std::optional<double>> values(columns.names.size());
  const uint32_t detail = trace.device().detail[range.value];
  for (uint32_t i = trace.ranges().first_metric[detail]; i < trace.ranges().end_metric[detail];
       ++i) {
    const auto column = columns.number.find(trace.metrics().name[i].value);
    if (column != columns.number.end()) {
      values[column->second] = trace.metrics().value[i];
    }
  }
  return values;
}

namespace {

constexpr std::string_view kUnnamedRange = "__missing__";  // as the profiler writes it

bool IsKernelLaunch(std::string_view name) {
  return Contains(name, "LaunchKernel") || Contains(name, "LaunchCooperativeKernel") ||
         IsGraphLaunchName(name);
}

// The kernels that a runtime call started, by start.
std::vector<DeviceId> KernelsOf(const RankView& view, uint32_t call) {
  const DeviceEvents& device = view.trace.device();
  std::vector<DeviceId> kernels;
  const uint32_t detail = view.trace.host().detail[call];
  if (detail == kNoDetail) {
    return kernels;
  }
  for (const DeviceId id : view.index.correlation.DevicesOf(detail)) {
    if (device.kind[id.value] == DeviceKind::kKernel) {
      kernels.push_back(id);
    }
  }
  std::stable_sort(kernels.begin(), kernels.end(), [&](DeviceId a, DeviceId b) {
    return device.ts_ns[a.value] < device.ts_ns[b.value];
  });
  return kernels;
}

// All launches of kernels by start. Where a driver call is inside a runtime call, the outer one is
// the launch, unless only the inner one is linked to the kernel.
std::vector<KernelLaunch> FindLaunches(const RankView& view) {
  const HostEvents& host = view.trace.host();
  std::vector<char> is_launch(view.trace.strings().size());
  for (uint32_t name = 0; name < is_launch.size(); ++name) {
    is_launch[name] = IsKernelLaunch(view.trace.Text(StringId{name})) ? 1 : 0;
  }
  std::vector<KernelLaunch> launches;
  const auto is_call = [&](HostId id) {
    return id.valid() && host.kind[id.value] == HostKind::kRuntime &&
           is_launch[host.name[id.value].value] != 0;
  };
  for (const uint32_t row : EachRow(host.size())) {
    if (host.kind[row] != HostKind::kRuntime) {
      continue;
    }
    const std::vector<DeviceId> kernels = KernelsOf(view, row);
    for (const DeviceId kernel : kernels) {
      launches.push_back({HostId{row}, kernel});
    }
    const bool is_outer = is_call(HostId{row}) && !is_call(view.index.tree.parent[row]);
    const uint32_t next = row + 1;
    const bool inner_has_kernel = next < view.index.tree.subtree_end[row] &&
                                  is_call(HostId{next}) && !KernelsOf(view, next).empty();
    if (kernels.empty() && is_outer && !inner_has_kernel) {
      launches.push_back({HostId{row}, DeviceId{}});
    }
  }
  std::stable_sort(launches.begin(), launches.end(),
                   [&](const KernelLaunch& a, const KernelLaunch& b) {
                     return host.ts_ns[a.call.value] < host.ts_ns[b.call.value];
                   });
  return launches;
}

std::vector<DeviceId> FindRanges(const Trace& trace) {
  const DeviceEvents& device = trace.device();
  std::vector<DeviceId> ranges;
  for (const uint32_t row : EachRow(device.size())) {
    if (device.kind[row] == DeviceKind::kRange) {
      ranges.push_back(DeviceId{row});
    }
  }
  std::stable_sort(ranges.begin(), ranges.end(), [&](DeviceId a, DeviceId b) {
    return device.ts_ns[a.value] < device.ts_ns[b.value];
  });
  return ranges;
}

// The device of a launch, kMissing where its kernel was not recorded.
int64_t DeviceOf(const Trace& trace, const KernelLaunch& launch) {
  return launch.kernel.valid() ? trace.DeviceOf(launch.kernel) : kMissing;
}

// Ranges and launches by device. Launches of unknown devices belong to the only device that has
// ranges; if several have, all are taken together.
std::map<int64_t, CounterLineup> GroupByDevice(const RankView& view) {
  const Trace& trace = view.trace;
  const std::vector<DeviceId> ranges = FindRanges(trace);
  const std::vector<KernelLaunch> launches = FindLaunches(view);
  std::set<int64_t> devices;
  for (const DeviceId range : ranges) {
    devices.insert(trace.DeviceOf(range));
  }
  const bool any_unknown =
      std::any_of(launches.begin(), launches.end(),
                  [&](const KernelLaunch& launch) { return !launch.kernel.valid(); });
  const bool together = devices.size() > 1 && any_unknown;
  std::map<int64_t, CounterLineup> lineups;
  for (const DeviceId range : ranges) {
    const int64_t gpu = together ? kMissing : trace.DeviceOf(range);
    lineups[gpu].gpu = gpu;
    lineups[gpu].ranges.push_back({range, {}});
  }
  for (const KernelLaunch& launch : launches) {
    const int64_t gpu = DeviceOf(trace, launch);
    const auto found = together          ? lineups.begin()
                       : gpu == kMissing ? lineups.begin()
                                         : lineups.find(gpu);
    if (found != lineups.end()) {
      found->second.launches.push_back(launch);
    }
  }
  return lineups;
}

void LineUpByOrder(CounterLineup& lineup) {
  const size_t count = std::min(lineup.ranges.size(), lineup.launches.size());
  for (size_t i = 0; i < count; ++i) {
    lineup.ranges[i].launch = lineup.launches[i];
  }
}

// False if no name of a range is that of a recorded kernel.
bool LineUpByNames(const DeviceEvents& device, CounterLineup& lineup) {
  std::map<uint32_t, std::vector<size_t>> by_name;  // launches, by the name of their kernel
  for (const size_t i : EachIndex(lineup.launches.size())) {
    const DeviceId kernel = lineup.launches[i].kernel;
    if (kernel.valid()) {
      by_name[device.name[kernel.value].value].push_back(i);
    }
  }
  std::map<uint32_t, size_t> next;
  bool any = false;
  for (LinedUpRange& row : lineup.ranges) {
    const uint32_t name = device.name[row.range.value].value;
    const auto found = by_name.find(name);
    if (found != by_name.end() && next[name] < found->second.size()) {
      row.launch = lineup.launches[found->second[next[name]++]];
      any = true;
    }
  }
  return any;
}

// By the number that a range has in common with its launch; false unless all have one. The kernels
// of a graph share that of their launch: the k-th range of a name belongs to the k-th of them.
bool LineUpByCorrelation(const Trace& trace, CounterLineup& lineup) {
  const DeviceEvents& device = trace.device();
  if (lineup.ranges.empty() ||
      std::any_of(lineup.ranges.begin(), lineup.ranges.end(), [&](const LinedUpRange& row) {
        return device.correlation[row.range.value] == kMissing;
      })) {
    return false;
  }
  const auto key_of = [&](DeviceId id) {
    return std::pair<int64_t, uint32_t>(device.correlation[id.value], device.name[id.value].value);
  };
  std::map<std::pair<int64_t, uint32_t>, std::vector<size_t>> launches;
  for (size_t i = lineup.launches.size(); i-- > 0;) {  // the first one last, to be taken first
    CheckStopAt(i);
    const DeviceId kernel = lineup.launches[i].kernel;
    if (kernel.valid()) launches[key_of(kernel)].push_back(i);
  }
  for (LinedUpRange& row : lineup.ranges) {
    const auto found = launches.find(key_of(row.range));
    if (found != launches.end() && !found->second.empty()) {
      row.launch = lineup.launches[found->second.back()];
      found->second.pop_back();
    }
  }
  return true;
}

// Whether a recorded kernel has another name than the range at its place.
bool NamesContradictOrder(const Trace& trace, const CounterLineup& lineup) {
  for (size_t i = 0; i < lineup.ranges.size(); ++i) {
    const DeviceId kernel = lineup.launches[i].kernel;
    if (kernel.valid() && !NamesAgree(trace, lineup.ranges[i].range, kernel)) {
      return true;
    }
  }
  return false;
}

// Whether all ranges are equally long, as writers make them that have no time for each range.
bool AreOfOneLength(const DeviceEvents& device, const std::vector<LinedUpRange>& ranges) {
  return ranges.size() > 1 &&
         std::all_of(ranges.begin(), ranges.end(), [&](const LinedUpRange& row) {
           return device.dur_ns[row.range.value] == device.dur_ns[ranges.front().range.value];
         });
}

void LineUp(const Trace& trace, CounterLineup& lineup) {
  lineup.times_are_made_up = AreOfOneLength(trace.device(), lineup.ranges);
  if (lineup.launches.empty()) {
    lineup.mode = LineupMode::kNoLaunches;
  } else if (LineUpByCorrelation(trace, lineup)) {
    lineup.mode = LineupMode::kCorrelation;
  } else if (lineup.ranges.size() == lineup.launches.size()) {
    const bool by_names =
        NamesContradictOrder(trace, lineup) && LineUpByNames(trace.device(), lineup);
    lineup.mode = by_names ? LineupMode::kNames : LineupMode::kPosition;
    if (!by_names) {
      LineUpByOrder(lineup);
    }
  } else if (lineup.ranges.size() == 1) {
    lineup.mode = LineupMode::kWholeRange;
  } else if (LineUpByNames(trace.device(), lineup)) {
    lineup.mode = LineupMode::kNames;
  } else {
    lineup.mode = LineupMode::kOrder;
    LineUpByOrder(lineup);
  }
}

}  // namespace

bool NamesAgree(const Trace& trace, DeviceId range, DeviceId kernel) {
  const ColumnData<StringId>& name = trace.device().name;
  return name[range.value] == name[kernel.value] || trace.Name(range) == kUnnamedRange;
}

std::string_view LineupModeName(LineupMode mode) {
  static constexpr std::string_view kNames[] = {"by position", "by names",    "in order",
                                                "whole range", "no launches", "by correlation"};
  return kNames[static_cast<size_t>(mode)];
}

int64_t CounterLineup::lined_up() const {
  return std::count_if(ranges.begin(), ranges.end(),
                       [](const LinedUpRange& row) { return row.launch.call.valid(); });
}

std::vector<CounterLineup> LineUpCounters(const RankView& view) {
  std::vector<CounterLineup> lineups;
  for (auto& [gpu, lineup] : GroupByDevice(view)) {
    LineUp(view.trace, lineup);
    lineups.push_back(std::move(lineup));
  }
  return lineups;
}

MatrixEvidence MatrixEvidenceOf(std::string_view counter) {
  if (Contains(counter, "ops_path_tensor") || Contains(counter, "INSTS_VALU_MFMA") ||
      Contains(counter, "VALU_MFMA_MOPS")) {
    return MatrixEvidence::kTypes;
  }
  if (!Contains(counter, "pipe_tensor")) return MatrixEvidence::kNone;
  return Contains(counter, "mma") ? MatrixEvidence::kKinds : MatrixEvidence::kPipe;
}

namespace {

// Kinds of matrix instructions as bits: of numbers of 8 and 16 bits and TF32, of integers, of
// doubles.
enum MatrixKinds : uint32_t { kHalf = 1, kInteger = 2, kDouble = 4, kAllKinds = 7 };

uint32_t KindsOf(std::string_view counter) {
  return (Contains(counter, "hmma") ? kHalf : 0U) | (Contains(counter, "imma") ? kInteger : 0U) |
         (Contains(counter, "dmma") ? kDouble : 0U);
}

}  // namespace

MeasuredMatrixUse::MeasuredMatrixUse(const RankView& view) {
  const Trace& trace = view.trace;
  evidence_.resize(trace.strings().size(), MatrixEvidence::kNone);
  bool has_any = false;
  for (const StringId name : trace.metrics().name) {
    evidence_[name.value] = MatrixEvidenceOf(trace.Text(name));
    has_any |= evidence_[name.value] != MatrixEvidence::kNone;
  }
  if (!has_any) return;
  measured_.resize(trace.device().size(), Measured::kNothing);
  for (const CounterLineup& lineup : LineUpCounters(view)) {
    if (lineup.mode == LineupMode::kWholeRange) continue;  // the sum of many kernels
    for (const LinedUpRange& lined : lineup.ranges) {
      if (!lined.launch.kernel.valid()) continue;
      measured_[lined.launch.kernel.value] = MeasuredIn(trace, lined.range);
    }
  }
}

MeasuredMatrixUse::Measured MeasuredMatrixUse::MeasuredIn(const Trace& trace,
                                                          DeviceId range) const {
  const uint32_t detail = trace.device().detail[range.value];
  uint32_t unused = 0;  // kinds of which there was none
  for (uint32_t i = trace.ranges().first_metric[detail]; i < trace.ranges().end_metric[detail];
       ++i) {
    const StringId name = trace.metrics().name[i];
    const MatrixEvidence evidence = evidence_[name.value];
    const double value = trace.metrics().value[i];
    const bool shows_use = evidence == MatrixEvidence::kKinds || evidence == MatrixEvidence::kTypes;
    if (shows_use && value > 0) return Measured::kUsed;
    if (value == 0 && evidence == MatrixEvidence::kKinds) unused |= KindsOf(trace.Text(name));
    if (value == 0 && evidence == MatrixEvidence::kPipe) unused = kAllKinds;
  }
  return unused == kAllKinds ? Measured::kZero : Measured::kNothing;
}

MatrixUse MeasuredMatrixUse::Of(DeviceId kernel, MatrixUse by_name) const {
  const Measured measured = measured_.empty() ? Measured::kNothing : measured_[kernel.value];
  if (measured == Measured::kUsed) return MatrixUse::kYes;
  const bool is_no = measured == Measured::kZero && by_name != MatrixUse::kNotMatrix;
  return is_no ? MatrixUse::kNo : by_name;
}

}  // namespace borescope::internal
