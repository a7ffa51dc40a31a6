// diff: what changed between two runs. The answer comes first: what a step takes in both, and which
// parts of its time make the difference (step_change.h). Host rows (operators, annotations, runtime
// calls, Python frames, everything else of a thread) and device work are counted and their times
// summed by name, over all selected ranks and steps of each run; device work also by class, phase,
// annotation, module and operator. The rows of both runs are then put next to each other. Names are
// matched without what changes from run to run (run_sums.h), and kernels that have another
// name in the other run are paired where they were launched (changes.h).
//
// Runs are of different length, so that sums of them say nothing: all counts and times are those of
// one step, the mean of the recorded ones, and of what belongs to steps. Where one of the runs has
// no steps they are of one token that was generated; where a run has none of these, of a rank.
//
// Where ranks wait for each other in collectives, that waiting is compared as well
// (waiting_change.h): what is longer in communication may be a rank that comes later.
//
// Three columns say what changed: status judges the total time, count_status how many calls there
// are, and call_time_status how long one of them takes, each with words of its own.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/matching/match_calls.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/verbs/diff/changes.h"
#include "borescope/analysis/verbs/diff/run_sums.h"
#include "borescope/analysis/verbs/diff/step_change.h"
#include "borescope/analysis/verbs/diff/waiting_change.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/saturating.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {
namespace {

std::string_view SideName(bool is_device) { return is_device ? kDeviceSide : kHostSide; }

// What is compared: where both runs have steps, what belongs to them; else everything.
bool IsCompared(bool in_steps, const RunUnits& units) { return in_steps || !units.is_step(); }

void AddCall(const CallSum& call, CallSum& to) {
  AddSaturatingTo(to.count, call.count);
  AddSaturatingTo(to.total_ns, call.total_ns);
}

void AddRun(const Table& sums, const RunUnits& units, CallSum NameChange::* run, Changes& changes) {
  for (const NameSumRow& row : ReadRows<NameSumRow>(sums)) {
    if (IsCompared(row.in_steps, units)) {
      AddCall({row.count, row.total_ns},
              changes[{row.side == kDeviceSide, std::string(row.name)}].*run);
    }
  }
}

RunUnits UnitsOf(const RunSizeRow& base, const RunSizeRow& test) {
  if (base.steps > 0 && test.steps > 0) {
    return {base.steps, test.steps, "step", base.ranks, test.ranks};
  }
  if (base.tokens > 0 && test.tokens > 0) {
    return {base.tokens, test.tokens, "token"};
  }
  const bool is_one = base.ranks <= 1 && test.ranks <= 1;
  return {std::max<int64_t>(1, base.ranks), std::max<int64_t>(1, test.ranks),
          is_one ? "run" : "rank"};
}

// What is shown of both runs.
struct RunRow {
  std::string_view run = {};
  int64_t ranks = 0;
  int64_t steps = 0;
  int64_t units = 0;
  int64_t host_events = 0;
  int64_t device_events = 0;
  int64_t outside_events = 0;
  int64_t outside_ns = 0;
  int64_t inherited_events = 0;
  int64_t inherited_ns = 0;
  int64_t span_ns = 0;

  static constexpr TableNames kTable{"diff_runs", "The runs"};
  static constexpr ColumnOf<RunRow> kColumns[] = {
      {"run", &RunRow::run, Role::kKey, "base or test."},
      {"ranks", &RunRow::ranks, Unit::kCount, Role::kSum, "Ranks compared."},
      {"steps", &RunRow::steps, Unit::kCount, Role::kSum, "Selected steps of all of them."},
      {"units", &RunRow::units, Unit::kCount, Role::kSum,
       "Steps, tokens or ranks, as the title says, of which all other tables have the mean."},
      {"host_events", &RunRow::host_events, Unit::kCount, Role::kSum, "Host rows compared."},
      {"device_events", &RunRow::device_events, Unit::kCount, Role::kSum,
       "Device work compared: of the steps, if they are compared."},
      {"outside_events", &RunRow::outside_events, Unit::kCount, Role::kSum,
       "Device work in no step, where steps are compared: it is in no other table."},
      {"outside_ns", &RunRow::outside_ns, Unit::kNanoseconds, Role::kSum, "Its summed durations."},
      {"inherited_events", &RunRow::inherited_events, Unit::kCount, Role::kSum,
       "Selected device work that was launched before the recording began: how much there is says "
       "nothing of the program, so that it is in no other table."},
      {"inherited_ns", &RunRow::inherited_ns, Unit::kNanoseconds, Role::kSum,
       "Its summed durations."},
      {"span_ns", &RunRow::span_ns, Unit::kNanoseconds, Role::kSum, "Selected time of all ranks."}};
};

RunRow RowOfRun(std::string_view run, const RunSizeRow& size, const Table& sums, int64_t count,
                const RunUnits& units) {
  RunRow row{.run = run,
             .ranks = size.ranks,
             .steps = size.steps,
             .units = count,
             .inherited_events = size.inherited_events,
             .inherited_ns = size.inherited_ns,
             .span_ns = size.span_ns};
  for (const NameSumRow& sum : ReadRows<NameSumRow>(sums)) {
    if (sum.side == kHostSide) {
      AddSaturatingTo(row.host_events, IsCompared(sum.in_steps, units) ? sum.count : 0);
    } else if (IsCompared(sum.in_steps, units)) {
      AddSaturatingTo(row.device_events, sum.count);
    } else {
      AddSaturatingTo(row.outside_events, sum.count);
      AddSaturatingTo(row.outside_ns, sum.total_ns);
    }
  }
  return row;
}

Table RunsTable(const Tables& base, const Tables& test, const RunUnits& units) {
  Table table = MakeTable<RunRow>({RowOfRun("base", ReadRows<RunSizeRow>(base).front(),
                                            TableOf<NameSumRow>(base), units.base, units),
                                   RowOfRun("test", ReadRows<RunSizeRow>(test).front(),
                                            TableOf<NameSumRow>(test), units.test, units)});
  table.title = units.unit == "run"
                    ? "The runs, compared as a whole: not both have steps"
                    : fmt::format(
                          "The runs, compared by the mean {}: of {} in the base and {} in "
                          "the test",
                          units.unit, FormatCount(units.base), FormatCount(units.test));
  return table;
}

constexpr std::string_view kTimeDoc =
    "Time in the base run: of device work its durations; of host rows their own time, without "
    "that of rows within them.";
constexpr std::string_view kChangeDoc = "The difference of the times / the base.";
constexpr std::string_view kRatioDoc = "Time of the test / time of the base.";

struct SummaryRow {
  std::string_view side = {};
  Status status = Status::kUnchanged;
  CountStatus count_status = CountStatus::kUnknown;
  int64_t names = 0;
  int64_t renamed = 0;
  double delta_count = 0;
  int64_t base_ns = 0;
  int64_t test_ns = 0;
  int64_t delta_ns = 0;
  std::optional<double> change = {};
  std::optional<double> ratio = {};

  static constexpr TableNames kTable{"diff_summary", "What changed between base and test"};
  static constexpr ColumnOf<SummaryRow> kColumns[] = {
      {"side", &SummaryRow::side, Role::kKey, "Where it ran: host or device."},
      {"status", EnumText<&SummaryRow::status, StatusName, Status::kCount>(), Role::kKey,
       "How the total times compare; see the other table."},
      {"count_status", EnumText<&SummaryRow::count_status, CountStatusName, CountStatus::kCount>(),
       Role::kKey, "Whether there are more or fewer calls; see there, too."},
      {"names", &SummaryRow::names, Unit::kCount, Role::kSum,
       "Distinct names, a renamed kernel once."},
      {"renamed", &SummaryRow::renamed, Unit::kCount, Role::kSum,
       "Those of them that are kernels of another name in the test run."},
      {"delta_count", &SummaryRow::delta_count, Unit::kCount, Role::kSum,
       "Calls in the test run less the base."},
      {"base_ns", &SummaryRow::base_ns, Unit::kNanoseconds, Role::kSum, kTimeDoc},
      {"test_ns", &SummaryRow::test_ns, Unit::kNanoseconds, Role::kSum,
       "The same in the test run."},
      {"delta_ns", &SummaryRow::delta_ns, Unit::kNanoseconds, Role::kSum, "Test less base."},
      {"change", &SummaryRow::change, Unit::kShare, Role::kDerived, kChangeDoc},
      {"ratio", &SummaryRow::ratio, Role::kDerived, kRatioDoc}};
};

// Calls of one step.
double CallsOf(const CallSum& sum, int64_t units) {
  return static_cast<double>(sum.count) / static_cast<double>(units);
}

Table SummaryTable(const Changes& changes, const RunUnits& units) {
  std::map<std::tuple<bool, Status, CountStatus>, SummaryRow> groups;
  for (const auto& [key, change] : changes) {
    SummaryRow& sums = groups[{key.first, change.status(units), change.count_status(units)}];
    ++sums.names;
    sums.renamed += change.renamed_to.empty() ? 0 : 1;
    sums.delta_count += CallsOf(change.test, units.test) - CallsOf(change.base, units.base);
    AddSaturatingTo(sums.base_ns, MeanOf(change.base.total_ns, units.base));
    AddSaturatingTo(sums.test_ns, MeanOf(change.test.total_ns, units.test));
  }
  std::vector<SummaryRow> rows;
  for (auto& [key, sums] : groups) {
    sums.side = SideName(std::get<bool>(key));
    sums.status = std::get<Status>(key);
    sums.count_status = std::get<CountStatus>(key);
    sums.delta_ns = sums.test_ns - sums.base_ns;
    sums.change = ShareOfChange(sums.base_ns, sums.test_ns);
    sums.ratio = RatioOf(sums.base_ns, sums.test_ns);
    rows.push_back(sums);
  }
  Table table = MakeTable(rows);
  table.title += units.Words();
  return table;
}

// What changed of one name: a call, or what device work belongs to.
struct ChangeRow {
  std::string_view side = {};
  std::string_view name = {};
  std::optional<std::string_view> renamed_to = {};
  double base_count = 0;
  double test_count = 0;
  int64_t base_ns = 0;
  int64_t test_ns = 0;
  int64_t delta_ns = 0;
  std::optional<double> change = {};
  std::optional<double> ratio = {};
  Status status = Status::kUnchanged;
  CallTimeStatus call_time_status = CallTimeStatus::kUnknown;
  CountStatus count_status = CountStatus::kUnknown;

  static constexpr TableNames kTable{"diff", "Changes by name"};
  static constexpr ColumnOf<ChangeRow> kColumns[] = {
      {"side", &ChangeRow::side, Role::kKey, "Where it ran: host or device."},
      {"name", &ChangeRow::name, Role::kKey,
       "Name as recorded, or shortened by --short-names, without lines of Python functions and "
       "addresses; all steps are ProfilerStep#*."},
      {"renamed_to", &ChangeRow::renamed_to, Role::kDerived,
       "Name in the test run of the kernel of that class, operator and shape; missing for "
       "what has the same name.",
       AsNames()},
      {"base_count", &ChangeRow::base_count, Unit::kCount, Role::kSum, "Calls in the base run."},
      {"test_count", &ChangeRow::test_count, Unit::kCount, Role::kSum, "Calls in the test run."},
      {"base_ns", &ChangeRow::base_ns, Unit::kNanoseconds, Role::kSum, kTimeDoc},
      {"test_ns", &ChangeRow::test_ns, Unit::kNanoseconds, Role::kSum, "The same in the test run."},
      {"delta_ns", &ChangeRow::delta_ns, Unit::kNanoseconds, Role::kSum, "Test less base."},
      {"change", &ChangeRow::change, Unit::kShare, Role::kDerived, kChangeDoc},
      {"ratio", &ChangeRow::ratio, Role::kDerived, kRatioDoc},
      {"status", EnumText<&ChangeRow::status, StatusName, Status::kCount>(), Role::kDerived,
       "How base_ns and test_ns compare: slower or faster by 5 % and 1 us at least, else "
       "unchanged; added or deleted: in one run only."},
      {"call_time_status",
       EnumText<&ChangeRow::call_time_status, CallTimeStatusName, CallTimeStatus::kCount>(),
       Role::kDerived,
       "How the time of one call compares: longer or shorter if the time differs by 5 % and 1 us "
       "at least from that of as many calls in the base run, else same; missing for what is in "
       "one run only."},
      {"count_status", EnumText<&ChangeRow::count_status, CountStatusName, CountStatus::kCount>(),
       Role::kDerived,
       "How the counts compare: more, fewer, same; missing for what is in one run only."}};
};

// Largest change of time first, in either direction; ties by name, then host first.
std::vector<Changes::const_iterator> BySizeOfChange(const Changes& changes, const RunUnits& units) {
  std::vector<Changes::const_iterator> order;
  for (auto it = changes.begin(); it != changes.end(); ++it) {
    order.push_back(it);
  }
  std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    const int64_t delta_a = std::abs(a->second.delta_ns(units));
    const int64_t delta_b = std::abs(b->second.delta_ns(units));
    return delta_a != delta_b ? delta_a > delta_b : a->first.second < b->first.second;
  });
  return order;
}

Table ChangesTable(const Changes& changes, const RunUnits& units) {
  std::vector<ChangeRow> rows;
  for (const auto& it : BySizeOfChange(changes, units)) {
    const NameChange& change = it->second;
    const int64_t base_ns = MeanOf(change.base.total_ns, units.base);
    const int64_t test_ns = MeanOf(change.test.total_ns, units.test);
    rows.push_back({.side = SideName(it->first.first),
                    .name = it->first.second,
                    .renamed_to = Recorded(std::string_view(change.renamed_to)),
                    .base_count = CallsOf(change.base, units.base),
                    .test_count = CallsOf(change.test, units.test),
                    .base_ns = base_ns,
                    .test_ns = test_ns,
                    .delta_ns = test_ns - base_ns,
                    .change = ShareOfChange(base_ns, test_ns),
                    .ratio = RatioOf(base_ns, test_ns),
                    .status = change.status(units),
                    .call_time_status = change.call_time_status(units),
                    .count_status = change.count_status(units)});
  }
  Table table = MakeTable(rows);
  table.title += units.Words();
  return table;
}

// Device work by one of its keys. Every such table adds up to all device work of either run that
// was launched in its recording.
struct WorkTableSpec {
  WorkKey key;
  std::string_view table;
  std::string_view title;
  std::string_view doc;
};

// What says most comes first.
constexpr WorkTableSpec kWorkTables[] = {
    {WorkKey::kClass, "diff_classes", "Device work by class", "What the work is for."},
    {WorkKey::kOperator, "diff_operators", "Device work by operator",
     "Innermost operator around the launch, as self device time in ops."},
    {WorkKey::kPhase, "diff_phases", "Device work by phase",
     "forward, backward, recompute (forward repeated inside backward) or optimizer, from the "
     "launch's surroundings on the host; other if unknown."},
    {WorkKey::kAnnotation, "diff_annotations", "Device work by annotation",
     "Innermost annotation around the launch on its thread, else the step. All steps of training "
     "are ProfilerStep#*, and in those of inference servers numbers are \"*\"."},
    {WorkKey::kModule, "diff_modules", "Device work by class of module",
     "Class of the innermost nn.Module around the launch."},
};
// The time of a step, classes and operators.
constexpr std::ptrdiff_t kTablesBeforeNames = 3;

void AddWork(const std::vector<WorkSumRow>& work, WorkKey key, const RunUnits& units,
             CallSum NameChange::* run, Changes& changes) {
  for (const WorkSumRow& row : work) {
    if (row.key == key && IsCompared(row.in_steps, units)) {
      AddCall({row.count, row.total_ns}, changes[{true, row.name}].*run);
    }
  }
}

Table WorkChanges(const WorkTableSpec& spec, const std::vector<WorkSumRow>& base,
                  const std::vector<WorkSumRow>& test, const RunUnits& units) {
  Changes changes;
  AddWork(base, spec.key, units, &NameChange::base, changes);
  AddWork(test, spec.key, units, &NameChange::test, changes);
  Table table = ChangesTable(changes, units);
  table.name = spec.table;
  table.title = std::string(spec.title) + units.Words();
  DropColumn(table, "side");
  DropColumn(table, "renamed_to");
  Column& key = *table.Find("name");
  key.name = WorkKeyName(spec.key);
  key.doc = spec.doc;
  return table;
}

// The sums of one run, and its calls of collectives, which come last; `compare` makes the tables
// that are shown.
Result<Tables> MapDiff(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  BS_ASSIGN(Tables tables, SumRun(view, selected, params));
  BS_ASSIGN(RankCalls calls, FindRankCalls(view, params.selection));
  std::move(calls.tables.begin(), calls.tables.end(), std::back_inserter(tables));
  return tables;
}

constexpr size_t kTablesOfCalls = 3;

Result<void> CheckDiff(const Tables& tables, const Params&) {
  return CheckRankCalls(std::span(tables).last(kTablesOfCalls));
}

Tables TakeCalls(Tables& run) {
  const auto first = run.end() - static_cast<ptrdiff_t>(kTablesOfCalls);
  Tables calls(std::make_move_iterator(first), std::make_move_iterator(run.end()));
  run.erase(first, run.end());
  return calls;
}

std::vector<LaunchSumRow> LaunchesOf(const Tables& sums, const RunUnits& units) {
  std::vector<LaunchSumRow> launches = ReadRows<LaunchSumRow>(sums);
  std::erase_if(launches,
                [&](const LaunchSumRow& row) { return !IsCompared(row.in_steps, units); });
  return launches;
}

Result<Tables> CompareDiff(Tables base, Tables test, const Params&) {
  const RunSizeRow base_size = ReadRows<RunSizeRow>(base).front();
  const RunSizeRow test_size = ReadRows<RunSizeRow>(test).front();
  const RunUnits units = UnitsOf(base_size, test_size);
  Changes changes;
  AddRun(TableOf<NameSumRow>(base), units, &NameChange::base, changes);
  AddRun(TableOf<NameSumRow>(test), units, &NameChange::test, changes);
  PairRenamedKernels(LaunchesOf(base, units), LaunchesOf(test, units), changes);
  StepChange step =
      CompareSteps(ReadRows<DeviceTimeRow>(base), ReadRows<DeviceTimeRow>(test), units);
  BS_ASSIGN(WaitingChange waiting,
            CompareWaiting(TakeCalls(base), TakeCalls(test), units, step.whole_ns));
  if (!waiting.words.empty() && step.table.rows() != 0) {
    step.table.title += "; " + waiting.words;
  }
  Tables tables{std::move(step.table)};
  const std::vector<WorkSumRow> base_work = ReadRows<WorkSumRow>(base);
  const std::vector<WorkSumRow> test_work = ReadRows<WorkSumRow>(test);
  for (const WorkTableSpec& spec : kWorkTables) {
    tables.push_back(WorkChanges(spec, base_work, test_work, units));
  }
  tables.insert(tables.begin() + kTablesBeforeNames, ChangesTable(changes, units));
  tables.push_back(SummaryTable(changes, units));
  tables.push_back(RunsTable(base, test, units));
  if (waiting.is_known) {
    tables.insert(tables.begin() + 1, std::move(waiting.table));
  }
  return tables;
}

constexpr const ParamSpec* kDiffParams[] = {&kShortNamesParam};

// What other columns say, too: text has no room to say it twice.
constexpr std::string_view kSaidTwice[] = {"ratio", "count_status"};
constexpr std::string_view kRatio[] = {"ratio"};
constexpr std::string_view kSpread[] = {"base_stddev_ns", "test_stddev_ns"};
constexpr ViewSpec kDiffViews[] = {
    {"diff_time", ViewKind::kAside, "Spread of the steps", kSpread, {}},
    {"diff_classes", ViewKind::kAside, "In other words", kSaidTwice, {}},
    {"diff_operators", ViewKind::kAside, "In other words", kSaidTwice, {}},
    {"diff", ViewKind::kAside, "In other words", kSaidTwice, {}},
    {"diff_phases", ViewKind::kAside, "In other words", kSaidTwice, {}},
    {"diff_annotations", ViewKind::kAside, "In other words", kSaidTwice, {}},
    {"diff_modules", ViewKind::kAside, "In other words", kSaidTwice, {}},
    {"diff_summary", ViewKind::kAside, "In other words", kRatio, {}}};

}  // namespace

const AnalysisSpec kDiffVerb{.name = "diff",
                             .summary = "what changed between two runs, in counts and time",
                             .example = "borescope diff before/ after/ --step 5",
                             .needs = Needs::kEvents,
                             .params = kDiffParams,
                             .answer = {.map = MapDiff,
                                        .reduce = ReduceByRank,
                                        .compare = CompareDiff,
                                        .check_tables = CheckDiff},
                             .views = kDiffViews};

}  // namespace borescope::internal
