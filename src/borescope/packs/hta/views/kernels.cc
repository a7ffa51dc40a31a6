// HTA's get_gpu_kernel_breakdown: a frame of types, where time is credited to the set of types that
// run at once, and a frame of kernels per rank and type.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/row.h"
#include "borescope/base/stop.h"
#include "borescope/packs/hta/numbers.h"
#include "borescope/packs/hta/rows.h"
#include "borescope/packs/hta/sweep.h"
#include "borescope/packs/hta/tables.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {
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
  for (size_t i = 0; i < rows.size(); ++i) {
    CheckStopAt(i);
    const auto& allowed = folding.allowlist;
    // Without an allowlist HTA keeps names whose sum is below 0: calls that its rounding made so.
    const bool is_allowed =
        allowed.empty() ? rows[i].sum < 0
                        : std::find(allowed.begin(), allowed.end(), rows[i].name) != allowed.end();
    const bool kept = is_allowed || (cumulative[i].value <= threshold && i < folding.num_kernels);
    folded[kept ? rows[i].name : "others"].push_back({rows[i].sum, 1});
  }
  return AggregateAll(folded);
}

// Whether HTA lists types that run for no time at all depends on how its unstable sort orders the
// start and the end of such work; here they have no row.
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
