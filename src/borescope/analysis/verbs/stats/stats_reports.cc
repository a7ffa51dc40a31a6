#include "borescope/analysis/verbs/stats/stats_reports.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "borescope/analysis/core/reduce.h"
#include "borescope/base/check.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {

namespace {

constexpr std::string_view kMeasure = "measure";
constexpr std::string_view kValue = "value";
constexpr std::string_view kTimes = "times";

int64_t MultiplySaturating(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
}

// The merged samples, column by column.
struct SampleColumns {
  explicit SampleColumns(const Table& table)
      : measure(Ints(table, kMeasure)), value(Ints(table, kValue)), times(Ints(table, kTimes)) {}

  const IntValues& measure;
  const IntValues& value;
  const IntValues& times;
};

// Rows [begin, end) hold one measure of one key, by value.
struct Distribution {
  size_t begin = 0;
  size_t end = 0;
  int64_t count = 0;
  int64_t total = 0;
};

Distribution DistributionOf(const SampleColumns& samples, size_t begin, size_t end) {
  Distribution found{begin, end, 0, 0};
  for (size_t row = begin; row < end; ++row) {
    found.count = AddSaturating(found.count, samples.times[row]);
    found.total =
        AddSaturating(found.total, MultiplySaturating(samples.value[row], samples.times[row]));
  }
  return found;
}

// The value at `position` of all values in order.
int64_t ValueAt(const SampleColumns& samples, const Distribution& of, int64_t position) {
  size_t row = of.begin;
  for (int64_t passed = samples.times[row]; passed <= position && row + 1 < of.end;) {
    ++row;
    passed = AddSaturating(passed, samples.times[row]);
  }
  return samples.value[row];
}

double Median(const SampleColumns& samples, const Distribution& of) {
  const int64_t low = ValueAt(samples, of, (of.count - 1) / 2);
  const int64_t high = ValueAt(samples, of, of.count / 2);
  return static_cast<double>(low) + static_cast<double>(SubtractSaturating(high, low)) / 2;
}

double Deviation(const SampleColumns& samples, const Distribution& of) {
  if (of.count < 2) {
    return 0;
  }
  const double mean = ShareOf(of.total, of.count);
  double squares = 0;
  for (size_t row = of.begin; row < of.end; ++row) {
    const double distance = static_cast<double>(samples.value[row]) - mean;
    squares += distance * distance * static_cast<double>(samples.times[row]);
  }
  return std::sqrt(squares / static_cast<double>(of.count - 1));
}

// A row of the report: some row that holds its keys, and its measures, empty where it has none.
struct ReportRow {
  size_t key_row = 0;
  std::vector<Distribution> measures;

  const Distribution* Find(int64_t measure) const {
    const auto number = static_cast<size_t>(measure);
    const bool found = number < measures.size() && measures[number].count > 0;
    return found ? &measures[number] : nullptr;
  }
  int64_t total() const { return measures.empty() ? 0 : measures.front().total; }
};

bool HaveSameKeys(const Table& table, size_t a, size_t b) {
  return std::all_of(table.columns.begin(), table.columns.end(), [&](const Column& column) {
    return column.role != Role::kKey || column.name == kMeasure || column.name == kValue ||
           CompareCells(column, a, b) == 0;
  });
}

std::vector<ReportRow> ReportRows(const Table& table, const SampleColumns& samples) {
  std::vector<ReportRow> rows;
  for (size_t begin = 0; begin < table.rows();) {
    if (rows.empty() || !HaveSameKeys(table, rows.back().key_row, begin)) {
      rows.push_back({begin, {}});
    }
    const int64_t measure = samples.measure[begin];
    size_t end = begin + 1;
    while (end < table.rows() && samples.measure[end] == measure &&
           HaveSameKeys(table, begin, end)) {
      CheckStopAt(++end);
    }
    BS_CHECK(measure >= 0);
    std::vector<Distribution>& measures = rows.back().measures;
    measures.resize(std::max(measures.size(), static_cast<size_t>(measure) + 1));
    measures[static_cast<size_t>(measure)] = DistributionOf(samples, begin, end);
    begin = end;
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const ReportRow& a, const ReportRow& b) { return a.total() > b.total(); });
  return rows;
}

double StatOf(Stat stat, const SampleColumns& samples, const Distribution& of) {
  switch (stat) {
    case Stat::kTotal:
      return static_cast<double>(of.total);
    case Stat::kCount:
      return static_cast<double>(of.count);
    case Stat::kMean:
      return ShareOf(of.total, of.count);
    case Stat::kMedian:
      return Median(samples, of);
    case Stat::kMin:
      return static_cast<double>(samples.value[of.begin]);
    case Stat::kMax:
      return static_cast<double>(samples.value[of.end - 1]);
    default:
      return Deviation(samples, of);
  }
}

int64_t IntegerOf(Stat stat, const SampleColumns& samples, const Distribution& of) {
  switch (stat) {
    case Stat::kTotal:
      return of.total;
    case Stat::kCount:
      return of.count;
    case Stat::kMin:
      return samples.value[of.begin];
    default:
      return samples.value[of.end - 1];
  }
}

bool IsInteger(const StatColumn& column) {
  const Stat stat = column.stat;
  const bool counts = stat == Stat::kCount;
  return counts ||
         (column.unit == 1 && (stat == Stat::kTotal || stat == Stat::kMin || stat == Stat::kMax));
}

std::string_view DocOf(Stat stat) {
  switch (stat) {
    case Stat::kShare:
      return "Percent of the total of all rows.";
    case Stat::kTotal:
      return "Sum.";
    case Stat::kCount:
      return "How many.";
    case Stat::kMean:
      return "Mean.";
    case Stat::kMedian:
      return "Median.";
    case Stat::kMin:
      return "Smallest.";
    case Stat::kMax:
      return "Largest.";
    default:
      return "Sample standard deviation; 0 for a single value.";
  }
}

void CopyKeys(const Table& samples, const std::vector<ReportRow>& rows, std::string_view name,
              Table& report) {
  const Column* source = samples.Find(name);
  BS_CHECK(source != nullptr);
  std::vector<uint32_t> taken;
  taken.reserve(rows.size());
  for (const ReportRow& row : rows) {
    taken.push_back(static_cast<uint32_t>(row.key_row));
  }
  Table one = TakeRows({samples.name, samples.title, {*source}}, taken);
  report.columns.push_back(std::move(one.columns.front()));
}

void AddNumbers(const SampleColumns& samples, const std::vector<ReportRow>& rows,
                const StatColumn& spec, Table& report) {
  const int64_t whole = std::accumulate(
      rows.begin(), rows.end(), int64_t{0},
      [](int64_t sum, const ReportRow& row) { return AddSaturating(sum, row.total()); });
  const bool is_integer = IsInteger(spec);
  Column& column = is_integer
                       ? AddInt(report, spec.name, Unit::kNone, Role::kDerived, DocOf(spec.stat))
                       : AddFloat(report, spec.name, Unit::kNone, Role::kDerived, DocOf(spec.stat));
  for (const ReportRow& row : rows) {
    const Distribution* of = row.Find(spec.measure);
    if (of == nullptr) {
      spec.stat == Stat::kCount ? Push(column, int64_t{0}) : PushMissing(column);
    } else if (is_integer) {
      Push(column, IntegerOf(spec.stat, samples, *of));
    } else if (spec.stat == Stat::kShare) {
      Push(column, 100 * ShareOf(of->total, whole));
    } else {
      Push(column, StatOf(spec.stat, samples, *of) / spec.unit);
    }
  }
}

}  // namespace

void SampleGroups::Add(std::span<const int64_t> key, int64_t measure, int64_t value,
                       int64_t times) {
  key_.assign(key.begin(), key.end());
  key_.push_back(measure);
  const uint32_t group = groups_.Find(key_);
  values_.resize(groups_.size());
  values_[group].push_back({value, times});
}

void SampleGroups::AddColumns(Table& table) {
  AddInt(table, kMeasure, Unit::kNone, Role::kKey, "Which quantity; dropped at the end.");
  AddInt(table, kValue, Unit::kNone, Role::kKey, "A value; dropped at the end.");
  AddInt(table, kTimes, Unit::kCount, Role::kSum, "How often it came; dropped at the end.");
}

const std::vector<SampleGroups::Sample>& SampleGroups::Distinct(std::vector<Sample>& samples) {
  std::sort(samples.begin(), samples.end(),
            [](const Sample& a, const Sample& b) { return a.value < b.value; });
  size_t kept = 0;
  for (size_t i = 1; i < samples.size(); ++i) {
    if (samples[i].value == samples[kept].value) {
      samples[kept].times = AddSaturating(samples[kept].times, samples[i].times);
    } else {
      samples[++kept] = samples[i];
    }
  }
  samples.resize(samples.empty() ? 0 : kept + 1);
  return samples;
}

Table FinishSamples(const Table& samples, std::span<const StatColumn> columns) {
  const SampleColumns values(samples);
  const std::vector<ReportRow> rows = ReportRows(samples, values);
  Table report{samples.name, samples.title, {}};
  for (const StatColumn& column : columns) {
    column.stat == Stat::kKey ? CopyKeys(samples, rows, column.name, report)
                              : AddNumbers(values, rows, column, report);
  }
  return report;
}

namespace {

// Measure 0 in nanoseconds by one name.
constexpr StatColumn kInstancesByName[] = {
    {"Time (%)", Stat::kShare}, {"Total Time (ns)", Stat::kTotal}, {"Instances", Stat::kCount},
    {"Avg (ns)", Stat::kMean},  {"Med (ns)", Stat::kMedian},       {"Min (ns)", Stat::kMin},
    {"Max (ns)", Stat::kMax},   {"StdDev (ns)", Stat::kStdDev},    {"Name", Stat::kKey},
};
constexpr StatColumn kCallsByName[] = {
    {"Time (%)", Stat::kShare}, {"Total Time (ns)", Stat::kTotal}, {"Num Calls", Stat::kCount},
    {"Avg (ns)", Stat::kMean},  {"Med (ns)", Stat::kMedian},       {"Min (ns)", Stat::kMin},
    {"Max (ns)", Stat::kMax},   {"StdDev (ns)", Stat::kStdDev},    {"Name", Stat::kKey},
};
constexpr StatColumn kTimesByOperation[] = {
    {"Time (%)", Stat::kShare}, {"Total Time (ns)", Stat::kTotal}, {"Count", Stat::kCount},
    {"Avg (ns)", Stat::kMean},  {"Med (ns)", Stat::kMedian},       {"Min (ns)", Stat::kMin},
    {"Max (ns)", Stat::kMax},   {"StdDev (ns)", Stat::kStdDev},    {"Operation", Stat::kKey},
};
constexpr StatColumn kSizesByOperation[] = {
    {"Total (MB)", Stat::kTotal, 0, kMegabyte},   {"Count", Stat::kCount},
    {"Avg (MB)", Stat::kMean, 0, kMegabyte},      {"Med (MB)", Stat::kMedian, 0, kMegabyte},
    {"Min (MB)", Stat::kMin, 0, kMegabyte},       {"Max (MB)", Stat::kMax, 0, kMegabyte},
    {"StdDev (MB)", Stat::kStdDev, 0, kMegabyte}, {"Operation", Stat::kKey},
};
// Measures: total, API call, queue, kernel.
constexpr StatColumn kExecution[] = {
    {"PID", Stat::kKey},
    {"TID", Stat::kKey},
    {"DevId", Stat::kKey},
    {"Count", Stat::kCount, 0},
    {"QCount", Stat::kCount, 2},
    {"TAvg (ns)", Stat::kMean, 0},
    {"TMed (ns)", Stat::kMedian, 0},
    {"TMin (ns)", Stat::kMin, 0},
    {"TMax (ns)", Stat::kMax, 0},
    {"TStdDev (ns)", Stat::kStdDev, 0},
    {"AAvg (ns)", Stat::kMean, 1},
    {"AMed (ns)", Stat::kMedian, 1},
    {"AMin (ns)", Stat::kMin, 1},
    {"AMax (ns)", Stat::kMax, 1},
    {"AStdDev (ns)", Stat::kStdDev, 1},
    {"QAvg (ns)", Stat::kMean, 2},
    {"QMed (ns)", Stat::kMedian, 2},
    {"QMin (ns)", Stat::kMin, 2},
    {"QMax (ns)", Stat::kMax, 2},
    {"QStdDev (ns)", Stat::kStdDev, 2},
    {"KAvg (ns)", Stat::kMean, 3},
    {"KMed (ns)", Stat::kMedian, 3},
    {"KMin (ns)", Stat::kMin, 3},
    {"KMax (ns)", Stat::kMax, 3},
    {"KStdDev (ns)", Stat::kStdDev, 3},
    {"API Name", Stat::kKey},
    {"Kernel Name", Stat::kKey},
};
constexpr StatColumn kRanges[] = {
    {"Time (%)", Stat::kShare}, {"Total Time (ns)", Stat::kTotal}, {"Instances", Stat::kCount},
    {"Avg (ns)", Stat::kMean},  {"Med (ns)", Stat::kMedian},       {"Min (ns)", Stat::kMin},
    {"Max (ns)", Stat::kMax},   {"StdDev (ns)", Stat::kStdDev},    {"Style", Stat::kKey},
    {"Range", Stat::kKey},
};
// Measures: projected time, time of the range, operations, level, children.
constexpr StatColumn kProjections[] = {
    {"Range", Stat::kKey},
    {"Style", Stat::kKey},
    {"Total Proj Time (ns)", Stat::kTotal, 0},
    {"Total Range Time (ns)", Stat::kTotal, 1},
    {"Range Instances", Stat::kCount, 0},
    {"Proj Avg (ns)", Stat::kMean, 0},
    {"Proj Med (ns)", Stat::kMedian, 0},
    {"Proj Min (ns)", Stat::kMin, 0},
    {"Proj Max (ns)", Stat::kMax, 0},
    {"Proj StdDev (ns)", Stat::kStdDev, 0},
    {"Total GPU Ops", Stat::kTotal, 2},
    {"Avg GPU Ops", Stat::kMean, 2},
    {"Avg Range Lvl", Stat::kMean, 3},
    {"Avg Num Child", Stat::kMean, 4},
};
// Measures: time of the kernels, ranges that launched any.
constexpr StatColumn kRangeKernels[] = {
    {"NVTX Range", Stat::kKey},
    {"Style", Stat::kKey},
    {"PID", Stat::kKey},
    {"TID", Stat::kKey},
    {"NVTX Inst", Stat::kCount, 1},
    {"Kern Inst", Stat::kCount, 0},
    {"Total Time (ns)", Stat::kTotal, 0},
    {"Avg (ns)", Stat::kMean, 0},
    {"Med (ns)", Stat::kMedian, 0},
    {"Min (ns)", Stat::kMin, 0},
    {"Max (ns)", Stat::kMax, 0},
    {"StdDev (ns)", Stat::kStdDev, 0},
    {"Kernel Name", Stat::kKey},
};

constexpr StatsReport kReports[] = {
    {"cuda_api_sum", "Calls of the runtime and driver", CollectApiCalls, kCallsByName},
    {"cuda_gpu_kern_sum", "Kernels", CollectKernels, kInstancesByName},
    {"cuda_gpu_mem_size_sum", "Bytes of memcpys and memsets", CollectCopySizes, kSizesByOperation},
    {"cuda_gpu_mem_time_sum", "Time of memcpys and memsets", CollectCopyTimes, kTimesByOperation},
    {"cuda_gpu_trace", "Kernels, memcpys and memsets by start", CollectTrace, {}},
    {"cuda_kern_exec_sum", "Kernels from call to end", CollectKernelLaunches, kExecution},
    {"nvtx_gpu_proj_sum", "Ranges as their device work runs", CollectRangeProjections,
     kProjections},
    {"nvtx_kern_sum", "Kernels by the ranges that launched them", CollectRangeKernels,
     kRangeKernels},
    {"nvtx_sum", "Ranges on the host", CollectRanges, kRanges},
    {"osrt_sum", "Calls of the operating system", CollectOsCalls, kCallsByName},
};

Error UnknownReport(std::string_view name) {
  std::vector<std::string_view> names;
  names.reserve(std::size(kReports));
  for (const StatsReport& report : kReports) {
    names.push_back(report.name);
  }
  return {
      ErrorCode::kInvalidArgument,
      fmt::format("stats: unknown report '{}'; reports are all, {}", name, fmt::join(names, ", "))};
}

}  // namespace

std::span<const StatsReport> StatsReports() { return kReports; }

Result<std::vector<const StatsReport*>> FindStatsReports(std::string_view list) {
  std::vector<const StatsReport*> found;
  for (bool is_last = false; !is_last;) {
    const size_t comma = list.find(',');
    is_last = comma == std::string_view::npos;
    const std::string_view name = list.substr(0, comma);
    list.remove_prefix(is_last ? list.size() : comma + 1);
    bool is_known = false;
    for (const StatsReport& report : kReports) {
      if (name != report.name && name != "all") {
        continue;
      }
      is_known = true;
      if (std::find(found.begin(), found.end(), &report) == found.end()) {
        found.push_back(&report);
      }
    }
    if (!is_known) {
      return UnknownReport(name);
    }
  }
  return found;
}

}  // namespace borescope::internal
