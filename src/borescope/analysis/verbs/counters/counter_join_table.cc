#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/verbs/counters/counter_tables.h"
#include "borescope/base/saturating.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {

namespace {

std::string_view CacheName(CounterSetting flushed) {
  return flushed == CounterSetting::kYes  ? "flushed"
         : flushed == CounterSetting::kNo ? "kept"
                                          : "unknown";
}

struct CounterJoinRow {
  int64_t rank = 0;
  int64_t gpu = 0;
  std::string_view file = {};
  std::optional<std::string_view> tool = {};
  int64_t profiled = 0;
  int64_t launches = 0;
  int64_t range = 0;
  int64_t order = 0;
  int64_t broadcast = 0;
  int64_t ambiguous = 0;
  int64_t other_work = 0;
  int64_t none = 0;
  int64_t only_in_report = 0;
  std::optional<double> valued = {};
  int64_t other_build = 0;
  int64_t disagreeing = 0;
  std::string_view cache = {};
  std::optional<double> clock_ratio = {};
  std::optional<int64_t> passes = {};
  int64_t counters = 0;
  std::optional<double> ambiguous_share = {};
  std::optional<double> none_share = {};
  std::optional<double> only_in_report_share = {};
  std::optional<std::string_view> first_without = {};
  std::optional<std::string_view> largest_none = {};
  std::optional<std::string_view> largest_only_in_report = {};
  std::optional<std::string> remedy = {};

  static constexpr TableNames kTable{"counter_join", "Reports of counters, matched with kernels"};
  static constexpr ColumnOf<CounterJoinRow> kColumns[] = {
      {"rank", &CounterJoinRow::rank, Role::kKey, kRankDoc},
      {"gpu", &CounterJoinRow::gpu, Role::kKey, kGpuDoc},
      {"file", &CounterJoinRow::file, Role::kKey, "The report."},
      {"tool", &CounterJoinRow::tool, Role::kDerived, "What wrote it."},
      {"profiled", &CounterJoinRow::profiled, Unit::kCount, Role::kDerived,
       "Kernels in it, of this process and device."},
      {"launches", &CounterJoinRow::launches, Unit::kCount, Role::kDerived,
       "Kernels of the device in the trace."},
      {"range", &CounterJoinRow::range, Unit::kCount, Role::kDerived,
       "Kernels of the trace matched within a range that both recordings name."},
      {"order", &CounterJoinRow::order, Unit::kCount, Role::kDerived,
       "Kernels matched by their order alone."},
      {"broadcast", &CounterJoinRow::broadcast, Unit::kCount, Role::kDerived,
       "Kernels with the mean of others that did the same work: of the same name, size, operator "
       "and arguments."},
      {"ambiguous", &CounterJoinRow::ambiguous, Unit::kCount, Role::kDerived,
       "Kernels without counters, as what has their name and size does several amounts of work."},
      {"other_work", &CounterJoinRow::other_work, Unit::kCount, Role::kDerived,
       "Kernels without counters, as what was measured under their name and size took another "
       "time."},
      {"none", &CounterJoinRow::none, Unit::kCount, Role::kDerived,
       "Kernels whose name and size were not measured."},
      {"only_in_report", &CounterJoinRow::only_in_report, Unit::kCount, Role::kDerived,
       "Kernels of the report whose name and size the trace does not have."},
      {"valued", &CounterJoinRow::valued, Unit::kShare, Role::kDerived,
       "Part of the kernel time that has counters."},
      {"other_build", &CounterJoinRow::other_build, Unit::kCount, Role::kDerived,
       "Matched kernels whose registers or shared memory differ: another build of the program."},
      {"disagreeing", &CounterJoinRow::disagreeing, Unit::kCount, Role::kDerived,
       "Kernels that have counters from a report before, which counted other operations (by more "
       "than 2 %)."},
      {"cache", &CounterJoinRow::cache, Role::kDerived,
       "Whether caches were flushed before each kernel, so that what the kernel before has just "
       "written is read from memory again: flushed, kept or unknown."},
      {"clock_ratio", &CounterJoinRow::clock_ratio, Role::kDerived,
       "Clock of the measurement / highest clock of the device, weighted by time."},
      {"passes", &CounterJoinRow::passes, Unit::kCount, Role::kDerived,
       "How often each kernel was run to measure all counters."},
      {"counters", &CounterJoinRow::counters, Unit::kCount, Role::kDerived,
       "Counters in the report."},
      {"ambiguous_share", &CounterJoinRow::ambiguous_share, Unit::kShare, Role::kDerived,
       "Part of the kernel time that is ambiguous."},
      {"none_share", &CounterJoinRow::none_share, Unit::kShare, Role::kDerived,
       "Part of the kernel time that was not measured."},
      {"only_in_report_share", &CounterJoinRow::only_in_report_share, Unit::kShare, Role::kDerived,
       "Part of the time of the report's kernels whose name and size the trace does not have."},
      {"first_without", &CounterJoinRow::first_without, Role::kDerived,
       "The first kernel without counters."},
      {"largest_none", &CounterJoinRow::largest_none, Role::kDerived,
       "Of the kernels that were not measured the one with the most time."},
      {"largest_only_in_report", &CounterJoinRow::largest_only_in_report, Role::kDerived,
       "Of the kernels that only the report has the one with the most time."},
      {"remedy", &CounterJoinRow::remedy, Role::kDerived,
       "What does not fit, and what to do about it; missing where nothing is wrong."}};
};

std::optional<double> PartOf(double part, double whole) {
  return whole > 0 ? std::optional(part / whole) : std::nullopt;
}

CounterJoinRow RowOf(const RankView& view, const RankCounters& counters, const DeviceJoin& join) {
  const CounterReport& report = *counters.reports[join.report];
  const auto of = [&](JoinSource source) { return join.by_source[static_cast<size_t>(source)]; };
  const auto total_ns = static_cast<double>(join.total_ns);
  CounterJoinRow row;
  row.rank = view.rank;
  row.gpu = join.gpu;
  row.file = report.file;
  row.tool = Recorded(std::string_view(report.tool));
  row.profiled = join.profiled;
  row.launches = join.launches;
  row.range = of(JoinSource::kRange);
  row.order = of(JoinSource::kOrder);
  row.broadcast = of(JoinSource::kBroadcast);
  row.ambiguous = of(JoinSource::kAmbiguous);
  row.other_work = of(JoinSource::kOtherWork);
  row.none = of(JoinSource::kNone);
  row.only_in_report = join.only_in_report;
  row.valued = PartOf(static_cast<double>(join.valued_ns), total_ns);
  row.other_build = join.other_build;
  row.disagreeing = join.disagreeing;
  row.cache = CacheName(report.caches_flushed);
  row.clock_ratio = join.clock_ratio;
  if (join.passes.has_value()) row.passes = static_cast<int64_t>(*join.passes);
  row.counters = static_cast<int64_t>(report.metrics.size());
  row.ambiguous_share = PartOf(static_cast<double>(join.ambiguous_ns), total_ns);
  row.none_share = PartOf(static_cast<double>(join.unmatched_ns), total_ns);
  row.only_in_report_share = PartOf(join.only_in_report_ns, join.report_ns);
  row.first_without = Recorded(join.first_without);
  row.largest_none = Recorded(join.largest_none);
  row.largest_only_in_report = Recorded(join.largest_reported);
  const std::vector<std::string> remedies = RemediesOf(counters, join, view.trace);
  if (!remedies.empty()) row.remedy = fmt::format("{}.", fmt::join(remedies, ". "));
  return row;
}

}  // namespace

Table CounterJoinTable(const RankView& view, const RankCounters& counters) {
  std::vector<CounterJoinRow> rows;
  rows.reserve(counters.joins.size());
  for (const DeviceJoin& join : counters.joins) {
    rows.push_back(RowOf(view, counters, join));
  }
  return MakeTable(rows);
}

bool IsWithoutReports(const Table& table) {
  return table.rows() == 0 && (table.name == "counter_join" || table.name == "counter_ops" ||
                               table.name == "speed_of_light" || table.name == "counter_rules");
}

}  // namespace borescope::internal
