// summary: one page that says what costs the time, and the heads of the tables it is read from. The
// analyses behind it run once; their tables are merged as they would be alone, so that a number in
// the verdict is the number in the table. verdict.h says where the rules of the verdict are.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <vector>

#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/counter_join/counter_join.h"
#include "borescope/analysis/measures/flops/modelled_work.h"
#include "borescope/analysis/measures/flops/roofs.h"
#include "borescope/analysis/measures/graphs/graph_launches.h"
#include "borescope/analysis/measures/idle/device_use.h"
#include "borescope/analysis/measures/idle/idle_causes.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/measures/rank_clocks/clock_estimate.h"
#include "borescope/analysis/measures/recorded.h"
#include "borescope/analysis/measures/replay/run_scenario.h"
#include "borescope/analysis/measures/stacks/op_stacks.h"
#include "borescope/analysis/measures/time/duration_stats.h"
#include "borescope/analysis/measures/time/rank_groups.h"
#include "borescope/analysis/measures/time/slower_kernels.h"
#include "borescope/analysis/measures/time/step_times.h"
#include "borescope/analysis/measures/true_time/true_time.h"
#include "borescope/analysis/verbs/counters/counter_tables.h"
#include "borescope/analysis/verbs/kernels/kernels.h"
#include "borescope/analysis/verbs/stragglers/straggler_match.h"
#include "borescope/analysis/verbs/summary/call_times.h"
#include "borescope/analysis/verbs/summary/evidence.h"
#include "borescope/analysis/verbs/summary/named_causes.h"
#include "borescope/analysis/verbs/summary/prices.h"
#include "borescope/analysis/verbs/summary/summary_tables.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/analysis/verbs/whatif/comm_waiting.h"
#include "borescope/base/check.h"
#include "borescope/base/each_row.h"
#include "borescope/base/parallel.h"
#include "borescope/base/saturating.h"
#include "borescope/table/table_ops.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {
namespace {

constexpr size_t kShown = 5;  // rows of the longer tables

constexpr size_t kStragglerTables = 3;

// The tables that travel from map to finish, in this order; ReduceByRank joins them.
enum Part {
  kOverview,
  kWorkPlaces,
  kFewEvents,
  kRoundTrips,
  kCallTimes,
  kSlower,
  kHostUse,
  kStragglers,  // the first of several
  kKernels = kStragglers + kStragglerTables,
  kCopies,
  kBreakdown,
  kSteps,
  kIdleCauses,
  kIdlePlaces,
  kDeviceUse,
  kQuality,
  kClocks,
  kInherited,
  kOps,
  kMemoryBound,
  kNamedCauses,
  kTrueTime,
  kCostOfGaps,
  kInferencePhases,
  kCountedOps,
  kPrices
};

int64_t CountHostEvents(const Trace& trace, const Selected& selected) {
  int64_t count = 0;
  for (uint32_t row = 0; row < trace.host().size(); ++row) {
    count += selected.Keeps(HostId{row}) ? 1 : 0;
  }
  return count;
}

struct LaunchedWork {
  int64_t all = 0;
  int64_t in_graphs = 0;
};

// Counts the selected device work whose launch was recorded, or that has the number of a graph
// node.
LaunchedWork CountLaunchedWork(const RankView& view, const Selected& selected) {
  const Trace& trace = view.trace;
  std::vector<char> is_graph(trace.strings().size(), 2);
  LaunchedWork work;
  for (const uint32_t row : EachRow(trace.device().size())) {
    const DeviceId id{row};
    const HostId launch = view.index.correlation.launch_of[row];
    const bool is_node = GraphNodeOf(trace, id) != kMissing;
    if ((!launch.valid() && !is_node) || !selected.Keeps(id)) {
      continue;
    }
    if (launch.valid()) {
      char& known = is_graph[trace.host().name[launch.value].value];
      known = known == 2 ? static_cast<char>(IsGraphLaunchName(trace.Name(launch))) : known;
      work.in_graphs += is_node || known == 1 ? 1 : 0;
    } else {
      ++work.in_graphs;
    }
    ++work.all;
  }
  return work;
}

Table SlowerTable(const RankView& view, const Selected& selected) {
  std::vector<SlowerRow> rows;
  const SharedDeviceTimes times = DeviceTimes(view, selected, PerTrack::kGpu);
  for (const DeviceTime& time : *times) {
    const KernelTimes kernels = TimesOfKernels(view, selected, time.tracks);
    const std::optional<SlowerKernels> slower = FindSlowerKernels(kernels.launches, kernels.least);
    if (slower) {
      const KernelTime& last = kernels.launches.back();
      rows.push_back({.rank = view.rank,
                      .gpu = Recorded(time.gpu),
                      .from_ns = kernels.launches[slower->first].begin_ns,
                      .end_ns = AddSaturating(last.begin_ns, last.dur_ns),
                      .ratio = slower->ratio,
                      .launches = slower->launches,
                      .compared_ns = slower->compared_ns,
                      .all_ns = kernels.all_ns,
                      .lost_ns = slower->lost_ns});
    }
  }
  return MakeTable(rows);
}

// Everything counted or measured is what was selected, as in the other tables.
Table Overview(const RankView& view, const Selected& selected) {
  const Trace& trace = view.trace;
  const DeviceEvents& device = trace.device();
  int64_t work = 0;
  DurationStats all;
  DurationStats brief;
  for (const uint32_t row : EachRow(device.size())) {
    if (!selected.Keeps(DeviceId{row})) {
      continue;
    }
    ++work;
    if (device.kind[row] == DeviceKind::kKernel) {
      all.Add(device.dur_ns[row]);
      if (device.dur_ns[row] < kShortKernelNs) {
        brief.Add(device.dur_ns[row]);
      }
    }
  }
  const LaunchedWork launched = CountLaunchedWork(view, selected);
  const std::string devices = DescribeUsedDevices(trace);
  return MakeTable<OverviewRow>(
      {{.rank = view.rank,
        .file = trace.meta().file,
        .devices = Recorded(std::string_view(devices)),
        .world_size = trace.meta().world_size,
        .steps = static_cast<int64_t>(selected.steps().size()),
        .span_ns = Coverage(SelectedTime(view, selected)),
        .host_events = CountHostEvents(trace, selected),
        .device_events = work,
        .kernels = all.count,
        .kernel_time_ns = all.total_ns,
        .short_kernels = brief.count,
        .short_kernel_time_ns = brief.total_ns,
        .is_pytorch = IsOfPyTorchProgram(trace) && !IsOfOtherFramework(trace) ? 1 : 0,
        .is_whole_process = IsOfWholeProcess(trace) ? 1 : 0,
        .launched_work = launched.all,
        .graph_work = launched.in_graphs,
        .recording_begin_ns = trace.begin_ns()}});
}

Table ShownDeviceUse(Table device_use) {
  DropCarried<DeviceUseRow>(device_use);
  return device_use;
}

// The overview as people see it.
Table ShownOverview(Table overview) {
  DropCarried<OverviewRow>(overview);
  return overview;
}

std::vector<int64_t> RanksOfWholeProcesses(const std::vector<OverviewRow>& overview) {
  std::vector<int64_t> ranks;
  for (const OverviewRow& row : overview) {
    if (row.is_whole_process != 0) {
      ranks.push_back(row.rank);
    }
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

// What class "copy" holds of all device work, blit kernels included, with its share of all.
Result<Table> OnlyCopies(const Table& kernels, Table copies) {
  copies.name = kernels.name;
  const Tables both[] = {{kernels}, {std::move(copies)}};
  BS_ASSIGN(Tables merged, MergeTables(both, {}));
  const Table device_work = FinishStatsTable(std::move(merged[0]));
  std::vector<uint32_t> rows;
  const StringValues& classes = Texts(device_work, "class");
  for (uint32_t row = 0; row < classes.size(); ++row) {
    if (classes[row] == KernelClassName(KernelClass::kCopy)) {
      rows.push_back(row);
    }
  }
  Table found = TakeRows(device_work, rows);
  found.name = "copies";
  found.title = "Device time per kind of copy";
  return found;
}

int64_t CountWorks(const Trace& trace, const Selected& selected,
                   const std::vector<uint32_t>& tracks) {
  int64_t works = 0;
  for (const uint32_t track : tracks) {
    for (const uint32_t row :
         EachRow(trace.tracks().first_row[track], trace.tracks().end_row[track])) {
      works += selected.Keeps(DeviceId{row}) ? 1 : 0;
    }
  }
  return works;
}

// No rows for a rank without device work, as in `breakdown` and `idle`: it has no idle device.
Table OfDevices(const RankView& view, Table table) {
  const auto& kinds = view.trace.device().kind;
  const bool works = std::any_of(kinds.begin(), kinds.end(), IsDeviceWork);
  return works ? std::move(table) : Head(table, 0);
}

// One page: a trace of one rank, without device work, copies or steps, needs no empty table to say
// so.
bool SaysNothing(const Table& table, bool has_device_work) {
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), table.name) != names.end();
  };
  return table.rows() == 0 &&
         (table.name.empty() ||
          is_one_of({"breakdown_spread", "copies", "inherited", "left_out", "memory_bound",
                     "device_use", "host_use", "prices", "rank_groups", "step_spread",
                     "true_time"}) ||
          (!has_device_work && is_one_of({"breakdown", "idle_causes", "kernels"})));
}

// From completion to completion, which is the same for every GPU of a rank, so each step of a
// process counts once. Processes have steps of their own, which say nothing about those of others.
std::vector<StepSpreadRow> StepSpread(const std::vector<StepRow>& steps) {
  using Process = std::pair<int64_t, std::optional<int64_t>>;                    // of a rank
  using StepKey = std::pair<int64_t, std::string_view>;                          // begin, name
  std::map<Process, std::map<StepKey, std::pair<int64_t, int64_t>>> by_process;  // length, number
  for (const StepRow& row : steps) {
    if (row.step) {  // else it is work in no step
      by_process[{row.rank, row.process}][{row.begin_ns, row.name}] = {row.length_ns.value_or(0),
                                                                       *row.step};
    }
  }
  std::vector<StepSpreadRow> rows;
  for (const auto& [process, by_begin] : by_process) {
    std::vector<std::pair<int64_t, int64_t>> lengths;
    lengths.reserve(by_begin.size());
    for (const auto& [begin, length_and_step] : by_begin) {
      lengths.push_back(length_and_step);
    }
    std::sort(lengths.begin(), lengths.end());
    std::vector<int64_t> all;
    all.reserve(lengths.size());
    for (const auto& [length, step] : lengths) {
      all.push_back(length);
    }
    const int64_t median = MedianOf(all);
    int64_t above = 0;
    for (const auto& [length, step] : lengths) {
      above = AddSaturating(above, std::max<int64_t>(0, SubtractSaturating(length, median)));
    }
    rows.push_back({.rank = process.first,
                    .process = process.second,
                    .steps = static_cast<int64_t>(lengths.size()),
                    .min_ns = lengths.front().first,
                    .median_ns = median,
                    .max_ns = lengths.back().first,
                    .slowest_step = lengths.back().second,
                    .above_median_ns = above});
  }
  return rows;
}

// Only what is not in order. The checks always look at whole recordings.
Table OnlyFaults(const Table& quality, bool selects) {
  Table faults = RowsWhere<QualityRow>(quality, [](const QualityRow& row) {
    return row.severity == "warning" || row.severity == "error";
  });
  faults.title = fmt::format("Failed checks of the {}recording (borescope doctor lists every one)",
                             selects ? "whole " : "");
  return faults;
}

Table Top(const Table& table) {
  Table top = Head(table, kShown);
  if (top.rows() < table.rows()) {
    top.title = "Top " + std::to_string(kShown) + ": " + table.title;
  }
  return top;
}

// One page of text, whatever the number of ranks.
void ShortenLongTables(Tables& page) {
  for (Table& table : page) {
    const bool is_long = table.Find("rank") != nullptr && table.rows() >= kManyRanks;
    table.preview_rows = is_long && table.preview_rows == 0 ? kShownRanks : table.preview_rows;
  }
}

// The ranks by the waiting they cause, and the longest wait for each; no rows where ranks have
// nothing in common.
Result<Tables> Stragglers(const Tables& findings, const Table& spread) {
  if (spread.rows() == 0) {
    return Tables(2);
  }
  const auto first = findings.begin() + kStragglers;
  BS_ASSIGN(Tables tables, ScoreStragglers(Tables(first, first + kStragglerTables)));
  return SumOf(tables[0], "collectives") == 0
             ? Tables(2)
             : Tables{std::move(tables.front()), std::move(tables.back())};
}

template <auto MakeTable>
Result<Tables> MapTable(const RankView& view, const Params& params) {
  BS_ASSIGN(Table table, MakeTable(view, params.selection));
  return Tables{std::move(table)};
}

Result<Tables> MapOverview(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  BS_ASSIGN(Table places, WorkPlaces(view, selected));
  BS_ASSIGN(Table few, FewEventsTable(view, selected, params.selection));
  return Tables{Overview(view, selected),
                std::move(places),
                std::move(few),
                RoundTripsTable(view, selected),
                CallTimesTable(view, selected),
                SlowerTable(view, selected),
                HostUseTable(view, selected)};
}

// No rows for a rank with one device.
Table DeviceUseTable(const RankView& view, const Selected& selected, const IdleTimes& idle) {
  std::vector<DeviceUseRow> rows;
  if (idle.devices.size() < 2) {
    return MakeTable(rows);
  }
  const std::vector<DeviceUse> uses = FindDeviceUse(view, idle);
  for (size_t i = 0; i < uses.size(); ++i) {
    const DeviceUse& use = uses[i];
    const auto held = [&](IdleCause cause) { return use.held_ns[static_cast<size_t>(cause)]; };
    DeviceUseRow& row = rows.emplace_back();
    row = {.rank = view.rank,
           .gpu = Recorded(use.gpu),
           .process = Recorded(use.process),
           .busy_ns = use.busy_ns,
           .any_busy_ns = use.any_ns,
           .together_ns = use.together_ns,
           .is_hardly_used = use.is_hardly_used ? 1 : 0,
           .span_ns = use.span_ns,
           .works = CountWorks(view.trace, selected, idle.devices[i].time->tracks),
           .held_sync_ns = held(IdleCause::kSync),
           .held_host_ns = held(IdleCause::kHost),
           .held_device_ns = held(IdleCause::kDevice),
           .held_unrecorded_ns =
               SubtractSaturating(held(IdleCause::kUnrecorded), use.held_at_begin_ns),
           .held_at_begin_ns = use.held_at_begin_ns,
           .held_tail_ns = held(IdleCause::kTail),
           .begin_ns = use.longest.begin,
           .end_ns = use.longest.end};
    for (const int64_t ns : use.held_ns) {
      AddSaturatingTo(row.held_ns, ns);
    }
  }
  return MakeTable(rows);
}

// Not what the host did.
Result<Tables> MapIdleCauses(const RankView& view, const Params& params) {
  const auto found = SharedIdleTimes(view, params.selection);
  if (!found->ok()) {
    return found->error();
  }
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  const Tables& tables = (*found)->tables;
  return Tables{OfDevices(view, tables[0]), OfDevices(view, tables[2]),
                DeviceUseTable(view, selected, **found)};
}

// Replays are of whole recordings, or of steps.
bool SelectsOtherThanSteps(const Selection& selection) {
  return !selection.gpus.empty() || !selection.streams.empty() || !selection.annotation.empty() ||
         !selection.range.is_open();
}

// Only where recording costs so much that it matters; `whatif` has the table of every rank.
Result<Tables> MapTrueTime(const RankView& view, const Params& params) {
  if (SelectsOtherThanSteps(params.selection)) {
    return Tables{EmptyTrueTimeTable(), CostOfGapsTable(view, {})};
  }
  const std::shared_ptr<const TrueTimes> times = SharedTrueTimes(view, params);
  BS_ASSIGN(Table table, TrueTimeTable(view, params));
  const bool is_shown = times->is_given || times->status == TrueTimeStatus::kCorrected;
  return Tables{is_shown ? std::move(table) : EmptyTrueTimeTable(), CostOfGapsTable(view, *times)};
}

// By counters of reports; without them no rows.
Result<Tables> MapCountedOps(const RankView& view, const Params& params) {
  constexpr double kDisagree = 0.1;
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  BS_ASSIGN(const std::shared_ptr<const RankCounters> counters, SharedRankCounters(view));
  if (counters->empty()) {
    return Tables{CounterOpsTable({view, selected, *counters, ModelledWork()}, {}, kDisagree)};
  }
  BS_ASSIGN(const ModelledWork work, ModelWork(view, {}));
  return Tables{CounterOpsTable({view, selected, *counters, work}, {}, kDisagree)};
}

Result<Tables> MapPrices(const RankView& view, const Params& params) {
  BS_ASSIGN(Table table, PriceTable(view, params));
  return Tables{std::move(table)};
}

template <const AnalysisSpec& spec>
Result<Tables> MapOf(const RankView& view, const Params& params) {
  return spec.answer.map(view, params);
}

// Each gives the first `tables` of what it maps, which are the Parts from `first` on. They know
// nothing of each other and may run at once.
struct MappedParts {
  Part first;
  size_t tables;
  Result<Tables> (*map)(const RankView&, const Params&);
};
constexpr MappedParts kMapped[] = {
    {kOverview, 7, MapOverview},
    {kStragglers, kStragglerTables, MapOf<kStragglersVerb>},
    {kKernels, 1, MapOf<kKernelsVerb>},
    {kCopies, 1, MapCopiesOfKernels},
    {kBreakdown, 1, MapOf<kBreakdownVerb>},
    {kSteps, 1, MapOf<kStepsVerb>},
    {kIdleCauses, 3, MapIdleCauses},
    {kQuality, 3, MapOf<kDoctorVerb>},
    {kOps, 1, MapOf<kOpsVerb>},
    {kMemoryBound, 1, MapTable<MemoryBoundTable>},
    {kNamedCauses, 1, MapTable<NamedCausesTable>},
    {kTrueTime, 2, MapTrueTime},
    {kInferencePhases, 1, MapOf<kInferenceVerb>},
    {kCountedOps, 1, MapCountedOps},
    {kPrices, 1, MapPrices},
};

// Whether every table gets to the place of its Part.
constexpr bool AreInOrder() {
  size_t place = 0;
  for (const MappedParts& parts : kMapped) {
    if (parts.first != place) {
      return false;
    }
    place += parts.tables;
  }
  return place == kPrices + 1;
}
static_assert(AreInOrder());

Result<Tables> MapSummary(const RankView& whole, const Params& params) {
  SharedMeasures own;
  RankView view = whole;
  view.shared = whole.shared == nullptr ? &own : whole.shared;
  std::vector<Result<Tables>> answers(std::size(kMapped), Tables());
  ParallelFor(answers.size(), view.threads, [&](size_t i) {
    const size_t row = answers.size() - 1 - i;  // the most costly ones are last
    answers[row] = kMapped[row].map(view, params);
  });
  Tables findings;
  for (size_t row = 0; row < answers.size(); ++row) {
    BS_ASSIGN(Tables answer, std::move(answers[row]));
    const size_t tables = kMapped[row].tables;
    BS_CHECK(answer.size() >= tables);
    std::move(answer.begin(), answer.begin() + static_cast<ptrdiff_t>(tables),
              std::back_inserter(findings));
  }
  findings[kBreakdown] = OfDevices(view, std::move(findings[kBreakdown]));
  return findings;
}

Result<void> CheckSummary(const Tables& tables, const Params& params) {
  const auto first = tables.begin() + kStragglers;
  return kStragglersVerb.answer.check_tables(Tables(first, first + kStragglerTables), params);
}

Result<void> CheckPrices(const Params& params) {
  BS_TRY(CheckTrueTimeParams("summary", params));
  return params.Flag(kPriceParam) && SelectsOtherThanSteps(params.selection)
             ? UsageError("summary: `price` replays whole recordings",
                          "choose steps, with `step` or `step_pattern`", "price")
             : Result<void>();
}

// Of each rank what its waiting for others leaves of an answer, as in whatif.
std::vector<PriceRow> LimitedPrices(const Tables& findings) {
  std::vector<PriceRow> prices = ReadRows<PriceRow>(findings[kPrices]);
  if (prices.empty()) {
    return prices;
  }
  const auto first = findings.begin() + kStragglers;
  const std::map<int64_t, CommWaiting> waiting =
      CommWaitingOf(Tables(first, first + kStragglerTables));
  for (PriceRow& row : prices) {
    LimitByWaiting(WaitingOf(waiting, row.rank), row);
  }
  return prices;
}

Table ShownPrices(const std::vector<PriceRow>& prices) {
  Table table = MakeTable(prices);
  DropCarried<PriceRow>(table);
  return table;
}

Result<Tables> FinishSummary(Tables findings, const Params& params) {
  const std::vector<PriceRow> prices = LimitedPrices(findings);
  BS_ASSIGN(Tables ops, kOpsVerb.answer.finish({findings[kOps]}, params));
  BS_ASSIGN(Tables doctor,
            kDoctorVerb.answer.finish({findings[kQuality], findings[kClocks]}, params));
  BS_ASSIGN(Table copies, OnlyCopies(findings[kKernels], findings[kCopies]));
  Table spread = BreakdownSpread(findings[kBreakdown]);
  BS_ASSIGN(const Tables stragglers, Stragglers(findings, spread));
  const std::vector<OverviewRow> overview = ReadRows<OverviewRow>(findings[kOverview]);
  const std::vector<StepRow> steps = ReadRows<StepRow>(findings[kSteps]);
  SummaryTables tables{.overview = overview,
                       .breakdown = findings[kBreakdown],
                       .spread = std::move(spread),
                       .stragglers = ReadRows<StragglerRow>(stragglers.front()),
                       .idle_causes = findings[kIdleCauses],
                       .kernels = FinishStatsTable(findings[kKernels]),
                       .copies = std::move(copies),
                       .ops = ops[0],
                       .memory_bound = findings[kMemoryBound],
                       .counted_ops = ReadRows<CountedOpRow>(findings[kCountedOps]),
                       .steps = steps,
                       .step_spread = StepSpread(steps),
                       .quality = ReadRows<QualityRow>(doctor[0]),
                       .named_causes = findings[kNamedCauses],
                       .true_time = findings[kTrueTime],
                       .cost_of_gaps = findings[kCostOfGaps],
                       .prices = prices,
                       .idle_places = ReadRows<IdlePlaceRow>(findings[kIdlePlaces]),
                       .work_places = ReadRows<WorkPlaceRow>(findings[kWorkPlaces]),
                       .few_events = ReadRows<FewEventsRow>(findings[kFewEvents]),
                       .round_trips = ReadRows<RoundTripRow>(findings[kRoundTrips]),
                       .call_times = ReadRows<CallTimeRow>(findings[kCallTimes]),
                       .slower = ReadRows<SlowerRow>(findings[kSlower]),
                       .host_use = ReadRows<HostUseRow>(findings[kHostUse]),
                       .phases = ReadRows<InferencePhaseRow>(findings[kInferencePhases]),
                       .longest_waits = ReadRows<LongestWaitRow>(stragglers.back()),
                       .run_faults = params.run_faults,
                       .selects = !params.selection.empty(),
                       .is_pytorch = SumOf(overview, &OverviewRow::is_pytorch) > 0,
                       .process_ranks = RanksOfWholeProcesses(overview),
                       .device_use = ReadRows<DeviceUseRow>(findings[kDeviceUse])};
  LeaveOutHardlyUsed(tables);
  tables.left_out = LeftOutRows(tables);
  LeaveOutHeldTails(tables);
  // In the order of what people ask for, as text shows what fits two screens.
  Tables page{Verdict(tables),
              ShownPrices(prices),
              RankGroups(tables.breakdown),
              tables.true_time,
              tables.breakdown,
              Top(tables.kernels),
              ShownOverview(findings[kOverview]),
              findings[kHostUse],
              tables.spread,
              Top(stragglers.front()),
              ShownCauses(findings[kIdleCauses]),
              ShownLeftOut(AllLeftOut(tables)),
              ShownDeviceUse(findings[kDeviceUse]),
              findings[kInherited],
              tables.memory_bound,
              Top(tables.ops),
              Top(tables.copies),
              MakeTable(tables.step_spread),
              OnlyFaults(doctor[0], tables.selects)};
  ShortenLongTables(page);
  const bool has_device_work = tables.breakdown.rows() > 0;
  std::erase_if(page, [&](const Table& table) {
    return params.keeps_empty ? table.name.empty() : SaysNothing(table, has_device_work);
  });
  return page;
}

constexpr const ParamSpec* kSummaryParams[] = {&kPriceParam, &kPlainStepParam};
constexpr std::string_view kPlace[] = {"rank", "gpu", "step", "begin_ns", "end_ns"};
constexpr std::string_view kInheritedTime[] = {"inherited_ns"};
constexpr std::string_view kAlignedTime[] = {"aligned_ns"};
constexpr std::string_view kAlignment[] = {"alike_runs", "back", "forward", "self_recall"};
constexpr ViewSpec kViews[] = {
    {"verdict", ViewKind::kAside, "Where findings are seen", kPlace, {}},
    {"inherited", ViewKind::kAside, "How it was aligned", kAlignment, {}},
    {"breakdown", ViewKind::kAside, "Work from before the recording", {}, kInheritedTime},
    {"idle_causes", ViewKind::kAside, "Work from before the recording", {}, kInheritedTime},
    {"ops", ViewKind::kAside, "Work from before the recording", {}, kAlignedTime}};
constexpr std::string_view kOverviewTables[] = {"verdict", "overview", "true_time", "left_out",
                                                "step_spread"};

}  // namespace

const AnalysisSpec kSummaryVerb{.name = "summary",
                                .summary = "one page: what costs the time, with the numbers",
                                .example = "borescope summary run/",
                                .params = kSummaryParams,
                                .answer = {.map = MapSummary,
                                           .reduce = ReduceByRank,
                                           .finish = FinishSummary,
                                           .check_tables = CheckSummary},
                                .check = CheckPrices,
                                .dear = ReplayModelIsDear,
                                .views = kViews,
                                .report_tables = kOverviewTables,
                                .draws_other_verbs = true};

}  // namespace borescope::internal
