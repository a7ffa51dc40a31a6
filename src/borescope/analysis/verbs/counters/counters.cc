// counters: hardware counters of profiler ranges with the kernel launch behind each, or of reports
// of another run with the kernel of the trace behind each.
//
//   counter_lineup  per device, how ranges and launches were brought together (counters.h)
//   counter_flops   operations, rate and intensity per kernel (counter_flops.h)
//   counters        every range with its operators and one column per counter, named as recorded;
//                   with reports every kernel, whether it has counters or not
//   counter_join, counter_ops   of reports for a trace alone (counter_tables.h)
//   speed_of_light  also of a recording that says which kernel its counters are of
//
// Of a single range over many launches the operators are the outermost ones it spans.
#include "borescope/analysis/measures/flops/counters.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/counter_join/counter_join.h"
#include "borescope/analysis/measures/flops/modelled_work.h"
#include "borescope/analysis/measures/stacks/op_stacks.h"
#include "borescope/analysis/verbs/counters/counter_flops.h"
#include "borescope/analysis/verbs/counters/counter_tables.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

constexpr size_t kPreviewRows = 5;  // wide ones

Table NewCounters(std::span<const std::string_view> counters) {
  Table table{"counters", "Hardware counters per range", {}};
  AddRankKey(table);
  AddGpuKey(table);
  AddString(table, "kernel", Role::kKey, "Name of the range: the kernel it was measured for.");
  AddInt(table, "ts_ns", Unit::kNanoseconds, Role::kKey,
         "Start of the range, on the clock of the file, of which often only the order means "
         "something; with reports of another run, of the kernel in the trace.");
  AddInt(table, "dur_ns", Unit::kNanoseconds, Role::kDerived,
         "Length of the range, in which the kernel is replayed, and which is often a made-up "
         "share; with reports of another run, of the kernel in the trace.");
  AddString(table, "top_op", Role::kDerived, "Outermost operator around the launch.");
  AddString(table, "bottom_op", Role::kDerived, "Innermost operator around the launch.");
  AddString(
      table, "op_stack", Role::kDerived,
      "All operators around the launch as a JSON array, outermost first; of a range over "
      "many launches the outermost operators that it spans. \"…\" stands for what is beyond 256 "
      "operators or 4096 bytes.");
  AddString(table, "source", Role::kDerived,
            "Where the counters are from: recorded with the trace, or a report: matched within a "
            "range that both recordings name, by order, or broadcast (the mean of others that did "
            "the same work). Without counters: ambiguous (what has this name and size does "
            "several amounts of work), other work (what was measured took another time), or none "
            "(not measured).");
  for (const std::string_view name : counters) {
    std::string column(name);
    while (table.Find(column) != nullptr) {
      column += " (counter)";
    }
    AddFloat(table, column, Unit::kCount, Role::kDerived, "Hardware counter of this name.");
  }
  table.preview_rows = kPreviewRows;
  return table;
}

Table NewLineup() {
  Table table{"counter_lineup", "Ranges brought together with kernel launches", {}};
  AddRankKey(table);
  AddInt(table, "gpu", Unit::kNone, Role::kKey,
         "Device number; missing: several, and the launches do not tell theirs.");
  AddInt(table, "ranges", Unit::kCount, Role::kDerived, "Profiler ranges.");
  AddInt(table, "launches", Unit::kCount, Role::kDerived, "Kernel launches.");
  AddInt(table, "lined_up", Unit::kCount, Role::kDerived, "Ranges whose launch was found.");
  AddString(
      table, "mode", Role::kDerived,
      "\"by position\": as many ranges as launches; \"by names\" of kernels or \"in order\" "
      "where the numbers, or the names of recorded kernels, differ; \"whole range\": one "
      "range over all launches; \"by correlation\": the recording says which launch is whose.");
  AddInt(table, "counters", Unit::kCount, Role::kDerived, "Counters measured.");
  AddInt(table, "left_out", Unit::kCount, Role::kDerived,
         "Counters without a column, because there are too many.");
  return table;
}

// What every row is made from.
struct Source {
  const RankView& view;
  OpStacks stacks;
  CounterColumns columns;
  HashMap<uint32_t, std::string> stack_texts;  // by host row of the innermost operator
};

// The distinct outermost operators of some launches, in their order.
std::vector<HostId> OutermostOps(const Source& source, const std::vector<KernelLaunch>& launches) {
  const HostEvents& host = source.view.trace.host();
  std::vector<HostId> ops;
  std::set<uint32_t> seen;
  for (const KernelLaunch& launch : launches) {
    const HostId top = source.stacks.Outermost(launch.call);
    if (top.valid() && seen.insert(host.name[top.value].value).second) {
      ops.push_back(top);
    }
  }
  return ops;
}

void PushOpsOfWholeRange(Row& row, const Source& source, const CounterLineup& lineup) {
  const std::vector<HostId> ops = OutermostOps(source, lineup.launches);
  row.Missing().Missing();
  ops.empty() ? row.Missing() : row.Text(NamesAsJson(source.view.trace, ops));
}

// Made once per innermost operator: thousands of launches may share a deep stack.
const std::string& StackOf(Source& source, HostId call) {
  std::string& text = source.stack_texts[source.stacks.Innermost(call).value];
  if (text.empty()) {
    const std::vector<HostId> ops = source.stacks.Around(call);
    text = NamesAsJson(source.view.trace, ops);
    if (ops.front() != source.stacks.Outermost(call)) {
      text.insert(1, "\"…\", ");
    }
  }
  return text;
}

void PushOps(Row& row, Source& source, const CounterLineup& lineup, HostId call) {
  const Trace& trace = source.view.trace;
  if (lineup.mode == LineupMode::kWholeRange) {
    PushOpsOfWholeRange(row, source, lineup);
  } else if (source.stacks.Innermost(call).valid()) {
    row.Text(trace.Name(source.stacks.Outermost(call)));
    row.Text(trace.Name(source.stacks.Innermost(call))).Text(StackOf(source, call));
  } else {
    row.Missing().Missing().Missing();
  }
}

void PushCounters(Row& row, const Source& source, DeviceId range) {
  for (const std::optional<double>& value :
       CounterValues(source.view.trace, range, source.columns)) {
    value.has_value() && std::isfinite(*value) ? row.Float(*value) : row.Missing();
  }
}

void PushRange(Table& table, Source& source, const CounterLineup& lineup,
               const LinedUpRange& range) {
  const Trace& trace = source.view.trace;
  Row row(table);
  row.Int(source.view.rank).Int(trace.DeviceOf(range.range)).MaybeText(trace.Name(range.range));
  row.Int(trace.device().ts_ns[range.range.value]).Int(trace.device().dur_ns[range.range.value]);
  PushOps(row, source, lineup, range.launch.call);
  row.Text(JoinSourceName(JoinSource::kRecorded));
  PushCounters(row, source, range.range);
}

void PushLineup(Table& table, int64_t rank, const CounterLineup& lineup,
                const CounterColumns& counters) {
  Row(table)
      .Int(rank)
      .MaybeInt(lineup.gpu)
      .Count(lineup.ranges.size())
      .Count(lineup.launches.size())
      .Int(lineup.lined_up())
      .Text(LineupModeName(lineup.mode))
      .Int(static_cast<int64_t>(counters.names.size()) + counters.left_out)
      .Int(counters.left_out);
}

// Drops the ranges that are not selected: by their device, and by the start of their launch, or
// their own where it is unknown.
void Select(const RankView& view, const Selected& selected, CounterLineup& lineup) {
  const Trace& trace = view.trace;
  std::erase_if(lineup.ranges, [&](const LinedUpRange& row) {
    const HostId call = row.launch.call;
    const int64_t ts_ns = trace.device().ts_ns[row.range.value];
    const int64_t asked_ns = call.valid() ? trace.host().ts_ns[call.value] : ts_ns;
    return !selected.KeepsTrack(trace.device().track[row.range.value]) ||
           !selected.KeepsTime(ts_ns, asked_ns);
  });
}

// What is not recorded cannot be selected by.
Result<void> CheckSelection(const Trace& trace, const Selection& selection) {
  if (!selection.streams.empty()) {
    return Error{ErrorCode::kMissingData, "profiler ranges name no stream", "leave out `stream`",
                 trace.meta().file};
  }
  const DeviceEvents& device = trace.device();
  for (uint32_t row = 0; row < device.size() && !selection.gpus.empty(); ++row) {
    if (device.kind[row] == DeviceKind::kRange &&
        selection.gpus.Contains(trace.DeviceOf(DeviceId{row}))) {
      return {};
    }
  }
  if (!selection.gpus.empty()) {
    return Error{ErrorCode::kMissingData,
                 "no profiler ranges of the selected device",
                 {},
                 trace.meta().file};
  }
  return {};
}

// Counters of reports.

void PushOps(Row& row, Source& source, HostId call) {
  const Trace& trace = source.view.trace;
  if (source.stacks.Innermost(call).valid()) {
    row.Text(trace.Name(source.stacks.Outermost(call)));
    row.Text(trace.Name(source.stacks.Innermost(call))).Text(StackOf(source, call));
  } else {
    row.Missing().Missing().Missing();
  }
}

// Every kernel of the trace with the counters of reports.
Table JoinedCounters(const CountersInput& in, Source& source, bool all) {
  const Trace& trace = in.view.trace;
  const std::vector<std::string_view> names =
      NamesOfCounters(in.counters, all, MostCounterColumns(in.counters.kernels.size()));
  std::map<std::string_view, size_t> place;
  for (size_t i = 0; i < names.size(); ++i) {
    place[names[i]] = i;
  }
  Table table = NewCounters(names);
  std::vector<std::optional<double>> values(names.size());
  for (const DeviceId id : in.counters.kernels) {
    CheckStop();
    if (!in.selected.Keeps(id)) continue;
    Row row(table);
    row.Int(in.view.rank).Int(trace.DeviceOf(id)).MaybeText(trace.Name(id));
    row.Int(trace.device().ts_ns[id.value]).Int(trace.device().dur_ns[id.value]);
    PushOps(row, source, in.view.index.correlation.OriginOf(id));
    row.Text(JoinSourceName(in.counters.SourceOf(id)));
    std::fill(values.begin(), values.end(), std::nullopt);
    if (const CounterGroup* const group = in.counters.GroupOf(id); group != nullptr) {
      for (const CounterValue& value : group->mean) {
        const auto found = place.find(in.counters.metrics[group->report][value.counter]);
        if (found != place.end()) values[found->second] = value.value;
      }
    }
    for (const std::optional<double>& value : values) {
      value.has_value() ? row.Float(*value) : row.Missing();
    }
  }
  return table;
}

// Where a table has its first counter, after the columns that all have.
std::vector<Column>::iterator FirstCounter(Table& table) {
  const Column* const last = table.Find("source");
  return last == nullptr ? table.columns.end()
                         : table.columns.begin() + (last - table.columns.data()) + 1;
}

// Ranks may have measured different counters. Of several ranks these are by name: the order in
// which ranks are reduced must not show.
Result<Tables> ReduceCounters(std::span<const Tables> tables, const Params& params) {
  BS_ASSIGN(Tables reduced, ConcatTables(tables, params));
  for (Table& table : reduced) {
    if (tables.size() > 1) {
      std::sort(FirstCounter(table), table.columns.end(),
                [](const Column& a, const Column& b) { return a.name < b.name; });
    }
  }
  return reduced;
}

// The counters that the trace itself has.
Result<Tables> MapRecorded(const RankView& view, const Params& params) {
  BS_TRY(CheckSelection(view.trace, params.selection));
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  Source source{view, OpStacks(view), FindCounterColumns(view.trace), {}};
  std::vector<std::string_view> names;
  names.reserve(source.columns.names.size());
  for (const StringId name : source.columns.names) {
    names.push_back(view.trace.Text(name));
  }
  Table lineup_table = NewLineup();
  Table counters = NewCounters(names);
  std::vector<CounterLineup> lineups = LineUpCounters(view);
  for (CounterLineup& lineup : lineups) {
    PushLineup(lineup_table, view.rank, lineup, source.columns);
    Select(view, selected, lineup);
    for (const LinedUpRange& range : lineup.ranges) {
      PushRange(counters, source, lineup, range);
    }
  }
  const ModelledWork no_work;
  const RankCounters no_counters;
  BS_ASSIGN(const std::shared_ptr<const RankCounters> recorded, SharedKernelCounters(view));
  BS_ASSIGN(const ModelledWork work,
            recorded->empty() ? Result<ModelledWork>(ModelledWork()) : ModelWork(view, {}));
  const CountersInput none{view, selected, no_counters, no_work};
  return Tables{std::move(lineup_table),
                CounterFlops(view, source.stacks, lineups),
                CounterJoinTable(view, no_counters),
                CounterOpsTable(none, {}, 0),
                SpeedOfLightTable({view, selected, *recorded, work}),
                CounterRulesTable(none),
                std::move(counters)};
}

// Those of reports, which another run of the program measured.
Result<Tables> MapJoined(const RankView& view, const RankCounters& counters, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  BS_ASSIGN(const ModelledWork work, ModelWork(view, {}));
  Source source{view, OpStacks(view), {}, {}};
  const CountersInput in{view, selected, counters, work};
  return Tables{NewLineup(),
                CounterFlops(in),
                CounterJoinTable(view, counters),
                CounterOpsTable(in, params.by, params.Share(kDisagreeParam)),
                SpeedOfLightTable(in),
                CounterRulesTable(in),
                JoinedCounters(in, source, params.Flag(kAllCountersParam))};
}

Result<Tables> MapCounters(const RankView& view, const Params& params) {
  BS_ASSIGN(const std::shared_ptr<const RankCounters> counters, SharedRankCounters(view));
  return counters->empty() ? MapRecorded(view, params) : MapJoined(view, *counters, params);
}

Result<Tables> FinishCounters(Tables tables, const Params&) {
  // Of an empty trace, which the schema describes, the tables of counters in the trace stay.
  const bool is_joined = std::any_of(tables.begin(), tables.end(), [](const Table& table) {
    return table.name == "counter_join" && table.rows() > 0;
  });
  std::erase_if(tables, [&](const Table& table) {
    return IsWithoutReports(table) ||
           (is_joined && table.name == "counter_lineup" && table.rows() == 0);
  });
  return tables;
}

constexpr std::string_view kCounterKeys[] = {"shape", "dtype"};
constexpr const ParamSpec* kCounterParams[] = {&kAllCountersParam, &kDisagreeParam,
                                               &kIncludeLastStepParam};

}  // namespace

const AnalysisSpec kCountersVerb{
    .name = "counters",
    .summary = "hardware counters per kernel with the operators behind, FLOPs from them",
    .example = "borescope counters trace.json.gz -f csv",
    .needs = Needs::kCounters,
    .by = kCounterKeys,
    .params = kCounterParams,
    .answer = {.map = MapCounters,
               .reduce = ReduceCounters,
               .finish = FinishCounters,
               .adds_columns = true}};

}  // namespace borescope::internal
