// HTA's views of how device time is spent: breakdown, overlap, idle time and kernels.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/base/each_row.h"
#include "borescope/packs/hta/frame.h"
#include "borescope/packs/hta/hta.h"
#include "borescope/packs/hta/numbers.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {

// HTA's get_temporal_breakdown. All devices and streams of a rank are pooled. The window is the
// wall time from the first to the last device row; what is neither compute nor idle is "non
// compute".

namespace {

double Percent(double part, double whole) { return HtaRound(100 * part / whole, 2); }

Table NewBreakdownTable() {
  Table table{"breakdown", "Temporal breakdown (as HolisticTraceAnalysis)", {}};
  AddRankKey(table);
  const auto us = [&](std::string_view name, std::string_view doc) {
    AddInt(table, name, Unit::kMicroseconds, Role::kSum, doc);
  };
  us("idle_us", "Wall time less the union of all device rows.");
  us("compute_us", "Union of rows whose name HTA takes for computation.");
  us("non_compute_us", "The rest of the wall time.");
  us("kernel_us", "Wall time from the first to the last device row.");
  for (const std::string_view part : {"idle", "compute", "non_compute"}) {
    AddFloat(table, std::string(part) + "_pctg", Unit::kPercent, Role::kDerived,
             "Part of the wall time, rounded to two decimals.");
  }
  return table;
}

struct Parts {
  double idle = 0;
  double compute = 0;
  double kernel = 0;

  double rest() const { return kernel - compute - idle; }
  // What HTA asserts before it answers.
  bool AreOfOneWhole() const { return idle <= kernel && compute <= kernel && rest() >= 0; }
};

// REQUIRES: rows by start, one at least.
Parts PartsOf(const std::vector<HtaRow>& rows) {
  std::vector<HtaRow> computing;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(computing),
               [](const HtaRow& row) { return row.type == HtaType::kComputation; });
  const std::vector<HtaInterval> merged = HtaMerge(rows);
  Parts parts;
  parts.kernel = merged.back().end_us - merged.front().begin_us;
  parts.idle = parts.kernel - HtaLength(merged);
  parts.compute = HtaLength(HtaMerge(computing));
  return parts;
}

// The same rows with the recorded times.
std::vector<HtaRow> WithRecordedTimes(const RankView& view, std::vector<HtaRow> rows) {
  const auto us = [](int64_t ns) { return static_cast<double>(ns) / 1000; };
  int64_t first_ns = std::numeric_limits<int64_t>::max();
  const auto begin_of = [&](const HtaRow& row) {
    return row.device.valid() ? view.trace.device().ts_ns[row.device.value]
                              : view.trace.host().ts_ns[row.op.value];
  };
  for (const HtaRow& row : rows) {
    first_ns = std::min(first_ns, begin_of(row));
  }
  for (HtaRow& row : rows) {
    row.ts_us = us(begin_of(row) - first_ns);
    row.dur_us = us(row.device.valid() ? view.trace.device().dur_ns[row.device.value]
                                       : view.trace.host().dur_ns[row.op.value]);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const HtaRow& a, const HtaRow& b) { return a.ts_us < b.ts_us; });
  return rows;
}

}  // namespace

// HTA rounds times so that work below a microsecond may last -1 us, which it subtracts from the
// time in which anything runs. If much of the work besides kernels is that short, the time of
// computation exceeds the time in which anything runs, and HTA stops with an assertion. There is no
// result to agree with then, so that the recorded times are used.
Table HtaBreakdown(const RankView& view, const Params& params) {
  Table table = NewBreakdownTable();
  const std::vector<HtaRow> rows = HtaDeviceRows(view, params);
  if (rows.empty()) {
    Row(table).Int(view.rank).Missing().Missing().Missing().Missing().Missing().Missing().Missing();
    return table;
  }
  Parts parts = PartsOf(rows);
  if (!parts.AreOfOneWhole()) {
    parts = PartsOf(WithRecordedTimes(view, rows));
  }
  const int64_t kernel_us = std::llround(parts.kernel);
  const int64_t compute_us = std::llround(parts.compute);
  const int64_t rest_us = std::llround(parts.rest());
  Row(table)
      .Int(view.rank)
      .Int(kernel_us - compute_us - rest_us)
      .Int(compute_us)
      .Int(rest_us)
      .Int(kernel_us)
      .Float(Percent(parts.idle, parts.kernel))
      .Float(Percent(parts.compute, parts.kernel))
      .Float(Percent(parts.rest(), parts.kernel));
  return table;
}

Result<Tables> MapHtaBreakdown(const RankView& view, const Params& params) {
  return Tables{HtaBreakdown(view, params)};
}

// HTA's get_comm_comp_overlap: how much of the communication of a rank runs beside computation,
// with all devices and streams pooled.

namespace {

Table NewOverlapTable() {
  Table table{"overlap", "Overlap of communication (as HolisticTraceAnalysis)", {}};
  AddRankKey(table);
  AddInt(table, "comm_us", Unit::kMicroseconds, Role::kSum,
         "Union of rows whose name HTA takes for communication.");
  AddInt(table, "overlapped_us", Unit::kMicroseconds, Role::kSum,
         "The part of it with computation beside it.");
  AddFloat(table, "comp_comm_overlap_pctg", Unit::kPercent, Role::kDerived,
           "That part in percent, rounded to two decimals; missing without communication.");
  return table;
}

// The time in which both types run at once, whatever else runs.
double OverlappedUs(const std::vector<HtaRow>& rows) {
  const HtaSweep sweep = SweepTypes(rows);
  constexpr HtaTypeSet kBoth = 3;
  return sweep.total_us[kBoth] + sweep.total_us[kAllHtaTypes];
}

}  // namespace

Result<Tables> MapHtaOverlap(const RankView& view, const Params& params) {
  const std::vector<HtaRow> rows = HtaDeviceRows(view, params);
  const double comm = HtaLength(HtaMerge(RowsOfType(rows, HtaType::kCommunication)));
  const double overlapped = OverlappedUs(rows);
  Tables findings{NewOverlapTable()};
  Row row(findings[0]);
  row.Int(view.rank).Int(std::llround(comm)).Int(std::llround(overlapped));
  if (comm > 0) {
    row.Float(HtaRound(100 * overlapped / comm, 2));
  } else {
    row.Missing();
  }
  return findings;
}

// HTA's get_idle_time_breakdown: the gaps of every stream, from the end of a row to the start of
// the next one by start, classified by what ended them. Rows that overlap make negative gaps.

namespace {

// In HTA's order. The first row of a stream, which has no gap before it, belongs to kOther.
enum Category : size_t { kHostWait, kKernelWait, kOther, kCategories };
constexpr std::string_view kNames[] = {"host_wait", "kernel_wait", "other"};

// A stream whose rows are added by start.
struct Stream {
  std::array<std::vector<HtaRepeated>, kCategories> gaps;
  std::optional<double> last_end_us;
};

class Gaps {
 public:
  Gaps(const HtaFrame& frame, double kernel_wait_us)
      : frame_(frame), kernel_wait_us_(kernel_wait_us) {}

  void Add(const HtaRow& row);
  const std::map<int64_t, Stream>& streams() const { return streams_; }

 private:
  void AddGap(Stream& stream, const HtaRow& row, double before_us, int64_t times) const;

  const HtaFrame& frame_;
  double kernel_wait_us_;
  std::map<int64_t, Stream> streams_;
};

void Gaps::AddGap(Stream& stream, const HtaRow& row, double before_us, int64_t times) const {
  const double gap = row.ts_us - before_us;
  const HostId launch = frame_.LaunchOf(row.device);
  Category category = gap < kernel_wait_us_ ? kKernelWait : kOther;
  if (launch.valid() && frame_.TimesOf(launch).ts_us > before_us) {
    category = kHostWait;
  }
  stream.gaps[category].push_back({gap, times});
}

void Gaps::Add(const HtaRow& row) {
  Stream& stream = streams_[row.stream];
  if (stream.last_end_us.has_value()) {
    AddGap(stream, row, *stream.last_end_us, 1);
  }
  stream.last_end_us = row.end_us();
  if (row.times > 1) {
    AddGap(stream, row, row.end_us(), row.times - 1);
  }
}

Gaps FindGaps(const HtaFrame& frame, const Params& params) {
  Gaps gaps(frame, static_cast<double>(params.Number(kKernelWaitParam)) / 1000.0);
  for (const HtaRow& row : HtaDeviceRows(frame)) {
    if (row.device.valid() && IsDeviceWork(frame.trace().device().kind[row.device.value])) {
      gaps.Add(row);
    }
  }
  return gaps;
}

double Sum(const std::vector<HtaRepeated>& gaps) {
  double sum = 0;
  for (const auto& [gap, times] : gaps) {
    sum += gap * static_cast<double>(times);
  }
  return sum;
}

void AddKeys(Table& table) {
  AddRankKey(table);
  AddInt(table, "stream", Unit::kNone, Role::kKey, "Stream number; all devices pooled.");
  AddString(table, "idle_category", Role::kKey,
            "host_wait: launched after the gap began; kernel_wait: a short gap; other.");
}

Table NewIdleTable() {
  Table table{"idle", "Idle time of streams (as HolisticTraceAnalysis)", {}};
  AddKeys(table);
  AddFloat(table, "idle_time_us", Unit::kMicroseconds, Role::kSum, "Sum of the gaps.");
  AddFloat(table, "idle_time_ratio", Unit::kShare, Role::kDerived,
           "Part of the idle time of the stream, rounded to two decimals; missing if that is 0.");
  return table;
}

Table NewIntervalTable() {
  Table table{"idle_intervals", "Gaps (as HolisticTraceAnalysis)", {}};
  AddKeys(table);
  AddHtaStats(table, Unit::kMicroseconds, "_us", "gaps");
  return table;
}

// Categories without rows are absent; kOther is there for the first row of a stream.
bool IsListed(const Stream& stream, size_t category) {
  return category == kOther || !stream.gaps[category].empty();
}

void AddIdleRows(Table& table, int64_t rank, int64_t number, const Stream& stream) {
  double total = 0;
  for (const std::vector<HtaRepeated>& gaps : stream.gaps) {
    total += Sum(gaps);
  }
  for (size_t category = 0; category < kCategories; ++category) {
    if (IsListed(stream, category)) {
      const double sum = Sum(stream.gaps[category]);
      Row row(table);
      row.Int(rank).Int(number).Text(kNames[category]).Float(HtaRound(sum, 2));
      total == 0 ? row.Missing() : row.Float(HtaRound(sum / total, 2));
    }
  }
}

void AddIntervalRows(Table& table, int64_t rank, int64_t number, const Stream& stream) {
  for (size_t category = 0; category < kCategories; ++category) {
    if (IsListed(stream, category)) {
      Row row(table);
      row.Int(rank).Int(number).Text(kNames[category]);
      PushHtaStats(row, HtaDescribe(stream.gaps[category]), 2);
    }
  }
}

}  // namespace

Result<Tables> MapHtaIdle(const RankView& view, const Params& params) {
  const HtaFrame frame(view, HtaFrame::StepsOf(params));
  const Gaps gaps = FindGaps(frame, params);
  Tables findings{NewIdleTable(), NewIntervalTable()};
  for (const auto& [number, stream] : gaps.streams()) {
    AddIdleRows(findings[0], view.rank, number, stream);
    AddIntervalRows(findings[1], view.rank, number, stream);
  }
  return findings;
}

// HTA's get_gpu_kernel_breakdown: a frame of types, in which time is attributed to the set of types
// that run at once, and a frame of kernels per rank and type.

namespace {

HtaAggregate Aggregate(std::string name, const std::vector<HtaRepeated>& values) {
  HtaAggregate result{std::move(name), 0, values.front().value, values.front().value, 0, 0};
  double count = 0;
  for (const auto& [value, times] : values) {
    result.sum += value * static_cast<double>(times);
    result.max = std::max(result.max, value);
    result.min = std::min(result.min, value);
    count += static_cast<double>(times);
  }
  result.mean = result.sum / count;
  double squares = 0;
  for (const auto& [value, times] : values) {
    squares += (value - result.mean) * (value - result.mean) * static_cast<double>(times);
  }
  result.stddev = count > 1 ? std::sqrt(squares / (count - 1)) : 0.0;
  return result;
}

using DurationsByName = std::map<std::string, std::vector<HtaRepeated>>;

std::vector<HtaAggregate> AggregateAll(const DurationsByName& names) {
  std::vector<HtaAggregate> result;
  result.reserve(names.size());
  for (const auto& [name, values] : names) {
    result.push_back(Aggregate(name, values));
  }
  return result;
}

Table NewKernelTable() {
  Table table{"kernels", "Kernels (as HolisticTraceAnalysis)", {}};
  AddString(table, "name", Role::kKey, "Kernel name, or \"others\" for the folded ones.");
  for (const std::string_view what : {"sum", "max", "min", "stddev", "mean"}) {
    AddFloat(table, std::string(what) + "_us", Unit::kMicroseconds, Role::kDerived,
             "Statistic of the durations; of the sums by name once kernels were folded.");
  }
  AddString(table, "kernel_type", Role::kKey, "COMMUNICATION, COMPUTATION or MEMORY.");
  AddRankKey(table);
  return table;
}

std::vector<HtaRow> DeviceRows(const RankView& view, const Params& params) {
  std::vector<HtaRow> rows = HtaDeviceRows(view, params);
  if (params.Flag(kNoMemoryKernelsParam)) {
    std::erase_if(rows, [](const HtaRow& row) { return row.type == HtaType::kMemory; });
  }
  return rows;
}

}  // namespace

std::vector<HtaAggregate> HtaAggregates(std::span<const HtaDuration> durations,
                                        const HtaFolding& folding) {
  DurationsByName names;
  for (const auto& [name, dur_us, times] : durations) {
    names[std::string(name)].push_back({dur_us, times});
  }
  std::vector<HtaAggregate> rows = AggregateAll(names);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const HtaAggregate& a, const HtaAggregate& b) { return a.sum > b.sum; });
  if (rows.size() <= folding.num_kernels) {
    return rows;
  }
  std::vector<HtaRepeated> cumulative;
  cumulative.reserve(rows.size());
  for (const HtaAggregate& row : rows) {
    cumulative.push_back({(cumulative.empty() ? 0.0 : cumulative.back().value) + row.sum});
  }
  const double threshold = HtaQuantile(cumulative, folding.duration_ratio);
  DurationsByName folded;
  for (const size_t i : EachIndex(rows.size())) {
    const auto& allowed = folding.allowlist;
    // Without an allowlist HTA keeps names whose sum is below 0, which its rounding can cause.
    const bool is_allowed =
        allowed.empty() ? rows[i].sum < 0
                        : std::find(allowed.begin(), allowed.end(), rows[i].name) != allowed.end();
    const bool kept = is_allowed || (cumulative[i].value <= threshold && i < folding.num_kernels);
    folded[kept ? rows[i].name : "others"].push_back({rows[i].sum, 1});
  }
  return AggregateAll(folded);
}

// Whether HTA lists types that run for no time depends on how its unstable sort orders the start
// and the end of such work. Here they have no row.
Table HtaKernelTypes(const RankView& view, const Params& params) {
  Table table{"kernel_types", "Kernel types (as HolisticTraceAnalysis)", {}};
  AddString(table, "type", Role::kKey, "Types of kernels that run at the same time.");
  AddInt(table, "total_us", Unit::kMicroseconds, Role::kSum, "Time, added over ranks.");
  AddFloat(table, "percent", Unit::kPercent, Role::kDerived,
           "Part of all rows listed, rounded to one decimal.");
  const HtaSweep sweep = SweepTypes(DeviceRows(view, params));
  for (HtaTypeSet types = 1; types <= kAllHtaTypes; ++types) {
    const int64_t total_us = std::llround(sweep.total_us[types]);
    if (total_us != 0) {
      Row(table).Text(HtaTypeSetName(types)).Int(total_us).Missing();
    }
  }
  return table;
}

Table HtaKernels(const RankView& view, const Params& params) {
  Table table = NewKernelTable();
  const std::vector<HtaRow> rows = DeviceRows(view, params);
  HtaFolding folding;
  folding.num_kernels = static_cast<size_t>(params.Number(kNumKernelsParam));
  folding.duration_ratio = params.Share(kDurationRatioParam);
  for (const HtaType type : kHtaTypes) {
    std::vector<HtaDuration> durations;
    for (const HtaRow& row : RowsOfType(rows, type)) {
      durations.push_back({view.trace.Text(row.name), row.dur_us, row.times});
    }
    for (const HtaAggregate& row : HtaAggregates(durations, folding)) {
      Row(table)
          .Text(row.name)
          .Float(row.sum)
          .Float(row.max)
          .Float(row.min)
          .Float(row.stddev)
          .Float(row.mean)
          .Text(HtaTypeName(type))
          .Int(view.rank);
    }
  }
  return table;
}

Result<Tables> MapHtaKernels(const RankView& view, const Params& params) {
  return Tables{HtaKernelTypes(view, params), HtaKernels(view, params)};
}

Result<Tables> FinishHtaKernels(Tables findings, const Params&) {
  Table& types = findings[0];
  const IntValues& total = Ints(types, "total_us");
  const int64_t all = SumOf(types, "total_us");
  FloatValues& percent = FillFloats(types, "percent");
  for (size_t row = 0; row < total.size(); ++row) {
    percent[row] = HtaRound(100 * ShareOf(total[row], all), 1);
  }
  findings[0] = Sorted(types, "total_us");

  const Table& kernels = findings[1];
  std::vector<uint32_t> order(kernels.rows());
  std::iota(order.begin(), order.end(), uint32_t{0});
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    for (const std::string_view key : {"kernel_type", "name", "rank"}) {
      if (const int sign = CompareCells(*kernels.Find(key), a, b); sign != 0) {
        return sign < 0;
      }
    }
    return false;
  });
  findings[1] = TakeRows(kernels, order);
  return findings;
}

}  // namespace borescope::internal
