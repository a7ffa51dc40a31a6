// counters: hardware counters of profiler ranges with the kernel launch behind each.
//
//   counter_lineup  per device, how ranges and launches were brought together (counters.h)
//   counter_flops   operations, rate and intensity per kernel (counter_flops.h)
//   counters        every range with its operators and one column per counter, named as recorded
//
// Of a single range over many launches the operators are the outermost ones it spans.
#include "borescope/analysis/measures/flops/counters.h"

#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/stacks/op_stacks.h"
#include "borescope/analysis/verbs/counters/counter_flops.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/hash/hash_tables.h"

namespace borescope::internal {
namespace {

constexpr size_t kPreviewRows = 5;  // wide ones

Table NewCounters(const Trace& trace, const CounterColumns& counters) {
  Table table{"counters", "Hardware counters per range", {}};
  AddRankKey(table);
  AddGpuKey(table);
  AddString(table, "kernel", Role::kKey, "Name of the range: the kernel it was measured for.");
  AddInt(table, "ts_ns", Unit::kNanoseconds, Role::kKey,
         "Start of the range, on the clock of the file; often only its order means something.");
  AddInt(table, "dur_ns", Unit::kNanoseconds, Role::kDerived,
         "Length of the range, in which the kernel is replayed; often a made-up share.");
  AddString(table, "top_op", Role::kDerived, "Outermost operator around the launch.");
  AddString(table, "bottom_op", Role::kDerived, "Innermost operator around the launch.");
  AddString(
      table, "op_stack", Role::kDerived,
      "All operators around the launch as a JSON array, outermost first; of a range over "
      "many launches the outermost operators that it spans. \"…\" stands for what is beyond 256 "
      "operators or 4096 bytes.");
  for (const StringId name : counters.names) {
    std::string column(trace.Text(name));
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

// Where a table has its first counter, after the columns that all have.
std::vector<Column>::iterator FirstCounter(Table& table) {
  const Column* const last = table.Find("op_stack");
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

Result<Tables> MapCounters(const RankView& view, const Params& params) {
  BS_TRY(CheckSelection(view.trace, params.selection));
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  Source source{view, OpStacks(view), FindCounterColumns(view.trace), {}};
  Table lineup_table = NewLineup();
  Table counters = NewCounters(view.trace, source.columns);
  std::vector<CounterLineup> lineups = LineUpCounters(view);
  for (CounterLineup& lineup : lineups) {
    PushLineup(lineup_table, view.rank, lineup, source.columns);
    Select(view, selected, lineup);
    for (const LinedUpRange& range : lineup.ranges) {
      PushRange(counters, source, lineup, range);
    }
  }
  return Tables{std::move(lineup_table), CounterFlops(view, source.stacks, lineups),
                std::move(counters)};
}

constexpr const ParamSpec* kHtaParams[] = {&kIncludeLastStepParam};

}  // namespace

const AnalysisSpec kCountersVerb{
    .name = "counters",
    .summary = "hardware counters per kernel with the operators behind, FLOPs from them",
    .example = "borescope counters trace.json.gz -f csv",
    .needs = Needs::kCounters,
    .params = kHtaParams,
    .answer = {.map = MapCounters, .reduce = ReduceCounters, .adds_columns = true}};

}  // namespace borescope::internal
