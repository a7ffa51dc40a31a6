// HTA's views of launches: their statistics, those by operator, and the queues of streams.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/base/each_row.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/text/text.h"
#include "borescope/packs/hta/frame.h"
#include "borescope/packs/hta/hta.h"
#include "borescope/packs/hta/numbers.h"

namespace borescope::internal {

// HTA's get_cuda_kernel_launch_stats: the launch calls of CUDA and what they started, joined by
// correlation number. HTA does not know the names of HIP calls, of cuLaunchKernel and of graph
// launches.

namespace {

bool IsLaunch(std::string_view name, bool with_memory) {
  constexpr std::string_view kNames[] = {"cudaLaunchKernel", "cudaLaunchKernelExC",
                                         "runFunction - job_prep_and_submit_for_execution"};
  constexpr std::string_view kOfMemory[] = {"cudaMemsetAsync", "cudaMemcpyAsync"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) ||
         (with_memory &&
          std::find(std::begin(kOfMemory), std::end(kOfMemory), name) != std::end(kOfMemory));
}

// HTA joins every host row with every device row of the same correlation number, and has already
// repeated device rows for that reason. If a number has more rows than this, they are not joined: a
// file with a single number would make more rows than fit into memory.
constexpr size_t kMostPartners = 16;

struct Launch {
  int64_t correlation;
  HtaTimes host;
  HtaTimes device;
};

// All kept host rows whose correlation number a launch call has.
std::map<int64_t, std::vector<HostId>> HostRows(const HtaFrame& frame, bool with_memory) {
  const HostEvents& host = frame.trace().host();
  HashSet<int64_t> launched;
  for (const uint32_t row : EachRow(host.size())) {
    if (frame.CorrelationOf(HostId{row}) >= 0 &&
        IsLaunch(frame.trace().Name(HostId{row}), with_memory) && frame.Keeps(HostId{row})) {
      launched.insert(frame.CorrelationOf(HostId{row}));
    }
  }
  std::map<int64_t, std::vector<HostId>> rows;
  for (const uint32_t row : EachRow(host.size())) {
    const int64_t number = frame.CorrelationOf(HostId{row});
    if (launched.contains(number) && frame.Keeps(HostId{row})) {
      rows[number].push_back(HostId{row});
    }
  }
  return rows;
}

void AddPairs(const HtaFrame& frame, const std::vector<HostId>& hosts, const HtaRow& row,
              std::vector<Launch>& launches) {
  const size_t copies = std::min<size_t>(static_cast<size_t>(row.times), kMostPartners);
  for (size_t i = 0; i < std::min(hosts.size(), kMostPartners); ++i) {
    const Launch launch{frame.CorrelationOf(row.device), frame.TimesOf(hosts[i]), row};
    launches.insert(launches.end(), copies, launch);
  }
}

// Sorted by start of the call, then of the work.
std::vector<Launch> FindLaunches(const HtaFrame& frame, const Params& params) {
  const std::map<int64_t, std::vector<HostId>> hosts =
      HostRows(frame, !params.Flag(kNoMemoryEventsParam));
  std::vector<Launch> launches;
  for (const HtaRow& row : HtaDeviceRows(frame)) {
    const auto found =
        row.device.valid() ? hosts.find(frame.CorrelationOf(row.device)) : hosts.end();
    if (found != hosts.end()) {
      AddPairs(frame, found->second, row, launches);
    }
  }
  std::stable_sort(launches.begin(), launches.end(),
                   [](const Launch& a, const Launch& b) { return a.host.ts_us < b.host.ts_us; });
  return launches;
}

Table NewLaunchTable() {
  Table table{"launches", "Launches (as HolisticTraceAnalysis)", {}};
  AddRankKey(table);
  AddInt(table, "correlation", Unit::kNone, Role::kDerived, "Correlation number of call and work.");
  const auto us = [&](std::string_view name, std::string_view doc) {
    AddInt(table, name, Unit::kMicroseconds, Role::kDerived, doc);
  };
  us("cpu_duration_us", "Length of the call.");
  us("gpu_duration_us", "Length of the work.");
  us("launch_delay_us", "From the end of the call to the start of the work; 0 if it began before.");
  table.preview_rows = 20;
  return table;
}

Table NewSummaryTable() {
  Table table{"launch_summary", "Launches by rank (as HolisticTraceAnalysis)", {}};
  AddRankKey(table);
  AddInt(table, "count", Unit::kCount, Role::kSum, "Launches.");
  const auto us = [&](std::string_view name, std::string_view doc) {
    AddInt(table, name, Unit::kMicroseconds, Role::kSum, doc);
  };
  us("cpu_total_us", "Sum of the lengths of the calls.");
  us("gpu_total_us", "Sum of the lengths of the works.");
  us("delay_total_us", "Sum of the delays.");
  AddInt(table, "short_kernels", Unit::kCount, Role::kSum,
         "Works shorter than their call, which is not longer than --long-call.");
  AddInt(table, "runtime_outliers", Unit::kCount, Role::kSum, "Calls longer than --long-call.");
  AddInt(table, "delay_outliers", Unit::kCount, Role::kSum, "Delays longer than --long-delay.");
  return table;
}

// Sums of one rank.
struct Totals {
  int64_t cpu_us = 0;
  int64_t gpu_us = 0;
  int64_t delay_us = 0;
  int64_t short_kernels = 0;
  int64_t long_calls = 0;
  int64_t long_delays = 0;
};

bool IsLonger(int64_t us, int64_t limit_ns) { return us > limit_ns / 1000; }

}  // namespace

Result<Tables> MapHtaLaunches(const RankView& view, const Params& params) {
  const std::vector<Launch> launches =
      FindLaunches(HtaFrame(view, HtaFrame::StepsOf(params)), params);
  Tables findings{NewLaunchTable(), NewSummaryTable()};
  Totals totals;
  for (const auto& [correlation, host, device] : launches) {
    const int64_t cpu = std::llround(host.dur_us);
    const int64_t gpu = std::llround(device.dur_us);
    const int64_t delay = std::max<int64_t>(0, std::llround(device.ts_us - host.end_us()));
    Row(findings[0]).Int(view.rank).Int(correlation).Int(cpu).Int(gpu).Int(delay);
    totals.cpu_us += cpu;
    totals.gpu_us += gpu;
    totals.delay_us += delay;
    const bool is_long = IsLonger(cpu, params.Number(kLongCallParam));
    totals.long_calls += is_long ? 1 : 0;
    totals.short_kernels += !is_long && gpu < cpu ? 1 : 0;
    totals.long_delays += IsLonger(delay, params.Number(kLongDelayParam)) ? 1 : 0;
  }
  Row(findings[1])
      .Int(view.rank)
      .Count(launches.size())
      .Int(totals.cpu_us)
      .Int(totals.gpu_us)
      .Int(totals.delay_us)
      .Int(totals.short_kernels)
      .Int(totals.long_calls)
      .Int(totals.long_delays);
  return findings;
}

// HTA's get_aten_op_kernels_and_delay: each kernel launch belongs to the aten operator around it
// that starts last, on whatever thread. Operators are the same if name, thread and start are.
//
// HTA stops at a launch to which no device row, or several, belong; such launches are left out
// here.

namespace {

// HTA's pattern (cuda.*LaunchKernel)|(cuLaunchKernel)|(^runFunction), matched at the start of the
// name.
bool IsKernelLaunch(std::string_view name) {
  return (name.starts_with("cuda") && Contains(name, "LaunchKernel")) ||
         name.starts_with("cuLaunchKernel") || name.starts_with("runFunction");
}

struct HostRow {
  HtaTimes times;
  HostId id;
};

bool StartsBefore(const HostRow& a, const HostRow& b) { return a.times.ts_us < b.times.ts_us; }

// The kept host rows for which `is_wanted` is true, in the order of the file.
template <class IsWanted>
std::vector<HostRow> HostRows(const HtaFrame& frame, const IsWanted& is_wanted) {
  std::vector<HostRow> rows;
  for (const uint32_t row : EachRow(frame.trace().host().size())) {
    if (frame.Keeps(HostId{row}) && is_wanted(frame.trace().Name(HostId{row}))) {
      rows.push_back({frame.TimesOf(HostId{row}), HostId{row}});
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const HostRow& a, const HostRow& b) { return frame.IsBefore(a.id, b.id); });
  return rows;
}

// Finds the operator around a launch that starts last. A tree of the largest ends over operators in
// order of start answers in O(log n), even if many end early.
class Operators {
 public:
  explicit Operators(const HtaFrame& frame)
      : rows_(HostRows(frame, [](std::string_view name) { return name.starts_with("aten::"); })) {
    // Of operators that start at the same time, HTA takes the first one of the file.
    std::reverse(rows_.begin(), rows_.end());
    std::stable_sort(rows_.begin(), rows_.end(), StartsBefore);
    while (leaves_ < rows_.size()) {
      leaves_ *= 2;
    }
    last_end_.assign(2 * leaves_, -std::numeric_limits<double>::infinity());
    for (size_t i = 0; i < rows_.size(); ++i) {
      last_end_[leaves_ + i] = rows_[i].times.end_us();
    }
    for (size_t node = leaves_; --node > 0;) {
      last_end_[node] = std::max(last_end_[2 * node], last_end_[2 * node + 1]);
    }
  }

  // nullptr if there is none.
  const HostRow* Around(const HtaTimes& launch) const {
    const auto after =
        std::upper_bound(rows_.begin(), rows_.end(), launch.ts_us,
                         [](double ts, const HostRow& row) { return ts < row.times.ts_us; });
    const auto count = static_cast<size_t>(after - rows_.begin());
    const size_t found = LastBefore(count, launch.end_us());
    return found == kNone ? nullptr : &rows_[found];
  }

 private:
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

  // The last row among the first `count` that ends at `end` or later.
  size_t LastBefore(size_t count, double end) const {
    if (count == 0) {
      return kNone;
    }
    size_t node = leaves_ + count - 1;
    while (last_end_[node] < end) {
      while (node % 2 == 0) {  // nothing to the left below this parent
        node /= 2;
      }
      if (node <= 1) {
        return kNone;
      }
      --node;
    }
    while (node < leaves_) {
      node = last_end_[2 * node + 1] >= end ? 2 * node + 1 : 2 * node;
    }
    return node - leaves_;
  }

  std::vector<HostRow> rows_;
  size_t leaves_ = 1;
  std::vector<double> last_end_;  // per node
};

// The device row of every launch call that has exactly one.
HashMap<uint32_t, HtaRow> KernelsByLaunch(const HtaFrame& frame) {
  HashMap<uint32_t, HtaRow> kernels;
  for (const HtaRow& row : HtaDeviceRows(frame)) {
    const HostId launch = row.device.valid() ? frame.LaunchOf(row.device) : HostId();
    if (launch.valid()) {
      const auto [found, is_new] = kernels.try_emplace(launch.value, row);
      found->second.times = is_new ? row.times : 2;
    }
  }
  std::erase_if(kernels.InAnyOrder(), [](const auto& entry) { return entry.second.times != 1; });
  return kernels;
}

// One call of an operator.
struct Call {
  std::string kernels;
  double launch_delay_us = 0;  // of the first launch
  double runtime_delay_us = 0;
};
using CallKey = std::tuple<uint32_t, uint32_t, double>;  // track, name, start

std::map<CallKey, Call> FindCalls(const HtaFrame& frame) {
  const Operators operators(frame);
  const HashMap<uint32_t, HtaRow> kernels = KernelsByLaunch(frame);
  const HostEvents& host = frame.trace().host();
  std::map<CallKey, Call> calls;
  for (const HostRow& launch : HostRows(frame, IsKernelLaunch)) {
    const HostRow* op = operators.Around(launch.times);
    const auto kernel = kernels.find(launch.id.value);
    if (op == nullptr || kernel == kernels.end()) {
      continue;
    }
    Call& call =
        calls[{host.track[op->id.value].value, host.name[op->id.value].value, op->times.ts_us}];
    if (call.kernels.empty()) {
      call.launch_delay_us = launch.times.ts_us - op->times.ts_us;
      call.runtime_delay_us = kernel->second.ts_us - launch.times.ts_us;
    } else {
      call.kernels += " -> ";
    }
    call.kernels += frame.trace().Text(kernel->second.name);
  }
  return calls;
}

Table NewTable() {
  Table table{"delays", "Delays of operators (as HolisticTraceAnalysis)", {}};
  AddRankKey(table);
  AddString(table, "aten_op_name", Role::kKey, "Operator.");
  AddString(table, "kernel_sequence", Role::kKey, "What one call launched, in order.");
  AddInt(table, "occurrence_count", Unit::kCount, Role::kSum, "Calls.");
  AddFloat(table, "avg_aten_op_launch_delay_us", Unit::kMicroseconds, Role::kDerived,
           "Mean time from the start of the operator to its first launch, to three decimals.");
  AddFloat(table, "avg_runtime_delay_us", Unit::kMicroseconds, Role::kDerived,
           "Mean time from the start of that launch to that of its kernel, to three decimals.");
  return table;
}

struct Group {
  int64_t count = 0;
  double launch_delay_us = 0;
  double runtime_delay_us = 0;
};

}  // namespace

Result<Tables> MapHtaDelays(const RankView& view, const Params& params) {
  const HtaFrame frame(view, HtaFrame::StepsOf(params));
  std::map<std::pair<std::string, std::string>, Group> groups;
  for (const auto& [key, call] : FindCalls(frame)) {
    Group& group = groups[{std::string(view.trace.Text(StringId{std::get<1>(key)})), call.kernels}];
    ++group.count;
    group.launch_delay_us += call.launch_delay_us;
    group.runtime_delay_us += call.runtime_delay_us;
  }
  Table table = NewTable();
  for (const auto& [key, group] : groups) {
    const auto count = static_cast<double>(group.count);
    Row(table)
        .Int(view.rank)
        .Text(key.first)
        .Text(key.second)
        .Int(group.count)
        .Float(HtaRound(group.launch_delay_us / count, 3))
        .Float(HtaRound(group.runtime_delay_us / count, 3));
  }
  return Tables{std::move(table)};
}

Result<Tables> FinishHtaDelays(Tables findings, const Params&) {
  findings[0] = Sorted(findings[0], "occurrence_count");
  return findings;
}

// HTA's get_queue_length_summary, _time_series and get_time_spent_blocked_on_full_queue: per
// stream, the launches that began less the work that began. Statistics are those of the points of
// the series. At equal times launches count first; HTA leaves that order to an unstable sort.

namespace {

struct Point {
  double ts_us;
  int64_t length;  // first the change; later the length from that time on
  int64_t index;   // of the call or of the work, in the file
  TrackId track;   // of the work
};
using Series = std::map<int64_t, std::vector<Point>>;  // by stream

// The kept launch call of every correlation number; the first one of several.
struct QueueCall {
  double ts_us;
  HostId id;
};
using QueueCalls = HashMap<int64_t, QueueCall>;

QueueCalls FindQueueCalls(const HtaFrame& frame) {
  QueueCalls calls;
  for (const uint32_t row : EachRow(frame.trace().host().size())) {
    const int64_t number = frame.CorrelationOf(HostId{row});
    if (number >= 0 && frame.HasDeviceRow(number) && frame.Keeps(HostId{row}) &&
        IsHtaQueueLaunch(frame.trace().Name(HostId{row}))) {
      const double ts = frame.TimesOf(HostId{row}).ts_us;
      const auto [found, is_new] = calls.try_emplace(number, QueueCall{ts, HostId{row}});
      if (!is_new && ts < found->second.ts_us) {
        found->second = {ts, HostId{row}};
      }
    }
  }
  return calls;
}

template <class Events>
int64_t IndexOf(const Events& events, uint32_t row) {
  return events.position.empty() ? kMissing : events.position[row];
}

Series FindSeries(const HtaFrame& frame) {
  const QueueCalls launches = FindQueueCalls(frame);
  const HostEvents& host = frame.trace().host();
  const DeviceEvents& device = frame.trace().device();
  Series series;
  for (const HtaRow& row : HtaDeviceRows(frame)) {
    const auto found =
        row.device.valid() ? launches.find(frame.CorrelationOf(row.device)) : launches.end();
    if (found != launches.end()) {
      const QueueCall& call = found->second;
      const TrackId track = device.track[row.device.value];
      series[row.stream].push_back({call.ts_us, 1, IndexOf(host, call.id.value), track});
      series[row.stream].push_back({row.ts_us, -1, IndexOf(device, row.device.value), track});
    }
  }
  for (auto& [stream, points] : series) {
    std::stable_sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
      return a.ts_us != b.ts_us ? a.ts_us < b.ts_us : a.length > b.length;
    });
    int64_t length = 0;
    for (Point& point : points) {
      length += point.length;
      point.length = length;
    }
  }
  return series;
}

// The time from the first to the last start of any kept row.
double SpanUs(const HtaFrame& frame) {
  double first = std::numeric_limits<double>::infinity();
  double last = -first;
  const auto look_at = [&](double ts) {
    first = std::min(first, ts);
    last = std::max(last, ts);
  };
  for (const uint32_t row : EachRow(frame.trace().host().size())) {
    if (frame.Keeps(HostId{row})) {
      look_at(frame.TimesOf(HostId{row}).ts_us);
    }
  }
  for (const uint32_t row : EachRow(frame.trace().device().size())) {
    if (frame.Repeats(DeviceId{row}) > 0) {
      look_at(frame.TimesOf(DeviceId{row}).ts_us);
    }
  }
  return std::max(0.0, last - first);
}

double BlockedUs(const std::vector<Point>& points, int64_t limit) {
  double blocked = 0;
  for (size_t i = 0; i + 1 < points.size(); ++i) {
    blocked += points[i].length >= limit ? points[i + 1].ts_us - points[i].ts_us : 0;
  }
  return blocked;
}

Table NewQueueTable() {
  Table table{"queue", "Queue lengths (as HolisticTraceAnalysis)", {}};
  AddRankKey(table);
  AddInt(table, "stream", Unit::kNone, Role::kKey, "Stream number; all devices pooled.");
  AddHtaStats(table, Unit::kNone, "", "changes of the length");
  AddInt(table, "blocked_us", Unit::kMicroseconds, Role::kSum,
         "Time with a length of --queue-limit or more.");
  AddFloat(table, "blocked_ratio", Unit::kShare, Role::kDerived,
           "That time as part of the time from the first to the last start of any event.");
  return table;
}

Table NewSeriesTable() {
  Table table{"queue_series", "Queue length over time (as HolisticTraceAnalysis)", {}};
  AddRankKey(table);
  AddInt(table, "stream", Unit::kNone, Role::kDerived, "Stream number; all devices pooled.");
  AddInt(table, "event_index", Unit::kNone, Role::kDerived,
         "The call, or the work, in the file, from 0.");
  AddInt(table, "pid", Unit::kNone, Role::kDerived, "Device of the work.");
  AddInt(table, "tid", Unit::kNone, Role::kDerived, "Its stream.");
  AddInt(table, "ts_us", Unit::kMicroseconds, Role::kDerived, "When, on the clock of the file.");
  AddInt(table, "queue_length", Unit::kCount, Role::kDerived, "Length from then on.");
  table.preview_rows = 20;
  return table;
}

HtaStats StatsOf(const std::vector<Point>& points) {
  std::vector<HtaRepeated> lengths;
  lengths.reserve(points.size());
  for (const Point& point : points) {
    lengths.push_back({static_cast<double>(point.length)});
  }
  return HtaDescribe(std::move(lengths));
}

Table SeriesTable(const Series& series, const RankView& view) {
  Table table = NewSeriesTable();
  const Tracks& tracks = view.trace.tracks();
  for (const auto& [stream, points] : series) {
    for (const Point& point : points) {
      Row(table)
          .Int(view.rank)
          .Int(stream)
          .MaybeInt(point.index)
          .Int(tracks.pid[point.track.value])
          .Int(tracks.tid[point.track.value])
          .Int(std::llround(point.ts_us))
          .Int(point.length);
    }
  }
  return table;
}

}  // namespace

Result<Tables> MapHtaQueue(const RankView& view, const Params& params) {
  const HtaFrame frame(view, HtaFrame::StepsOf(params));
  const Series series = FindSeries(frame);
  const double span = SpanUs(frame);
  Tables findings{NewQueueTable()};
  for (const auto& [stream, points] : series) {
    const double blocked = BlockedUs(points, params.Number(kQueueLimitParam));
    Row row(findings[0]);
    row.Int(view.rank).Int(stream);
    PushHtaStats(row, StatsOf(points));
    row.Int(std::llround(blocked)).Float(span == 0 ? 0.0 : blocked / span);
  }
  if (params.Flag(kSeriesParam)) {
    findings.push_back(SeriesTable(series, view));
  }
  return findings;
}

}  // namespace borescope::internal
