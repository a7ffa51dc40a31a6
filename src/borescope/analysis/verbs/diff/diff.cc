// diff: what changed between two runs. Host rows (operators, annotations, runtime calls, Python
// frames, everything else of a thread) and device work are counted and their durations summed by
// name, over all selected ranks and steps of each run; device work also by class, phase,
// annotation, module and operator. The rows of both runs are then put next to each other. Names are
// matched without what changes from run to run (run_sums.h), and kernels that have another
// name in the other run are paired where they were launched (changes.h).
//
// Two columns say what changed, as counts and times do so for different reasons: status is
// determined by the counts alone, time_status by the time of as many calls.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/verbs/diff/changes.h"
#include "borescope/analysis/verbs/diff/run_sums.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/saturating.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {
namespace {

std::string_view SideName(bool is_device) { return is_device ? kDeviceSide : kHostSide; }

void AddRun(const Table& sums, CallSum NameChange::* run, Changes& changes) {
  for (const NameSumRow& row : ReadRows<NameSumRow>(sums)) {
    changes[{row.side == kDeviceSide, std::string(row.name)}].*run = {row.count, row.total_ns};
  }
}

// How often a step ran on a rank, or where a run has no steps, how many ranks there are.
RunUnits UnitsOf(const RunSizeRow& base, const RunSizeRow& test) {
  const bool have_steps = base.steps > 0 && test.steps > 0;
  return have_steps ? RunUnits{base.steps, test.steps, "step"}
                    : RunUnits{base.ranks, test.ranks, "rank"};
}

// Sums of runs of different size differ for that reason alone: the title says so.
Table RunsTable(RunSizeRow base, RunSizeRow test) {
  base.run = "base";
  test.run = "test";
  Table table = MakeTable<RunSizeRow>({base, test});
  if (base.ranks != test.ranks || base.steps != test.steps) {
    table.title = "The runs, of different size: expect counts and sums to differ";
  }
  return table;
}

struct SummaryRow {
  std::string_view side = {};
  Status status = Status::kUnchanged;
  TimeStatus time_status = TimeStatus::kUnknown;
  int64_t names = 0;
  int64_t delta_count = 0;
  int64_t base_ns = 0;
  int64_t test_ns = 0;
  int64_t delta_ns = 0;

  static constexpr TableNames kTable{"diff_summary", "What changed between base and test"};
  static constexpr ColumnOf<SummaryRow> kColumns[] = {
      {"side", &SummaryRow::side, Role::kKey, "Where it ran: host or device."},
      {"status", EnumText<&SummaryRow::status, StatusName, Status::kCount>(), Role::kKey,
       "How the counts compare; see the other table."},
      {"time_status", EnumText<&SummaryRow::time_status, TimeStatusName, TimeStatus::kCount>(),
       Role::kKey, "How the time of a call compares; see there, too."},
      {"names", &SummaryRow::names, Unit::kCount, Role::kSum,
       "Distinct names, a renamed kernel once."},
      {"delta_count", &SummaryRow::delta_count, Unit::kCount, Role::kSum,
       "Calls in the test run less the base."},
      {"base_ns", &SummaryRow::base_ns, Unit::kNanoseconds, Role::kSum,
       "Summed durations in the base run."},
      {"test_ns", &SummaryRow::test_ns, Unit::kNanoseconds, Role::kSum,
       "The same in the test run."},
      {"delta_ns", &SummaryRow::delta_ns, Unit::kNanoseconds, Role::kSum, "Test less base."}};
};

Table SummaryTable(const Changes& changes, const RunUnits& units) {
  std::map<std::tuple<bool, Status, TimeStatus>, SummaryRow> groups;
  for (const auto& [key, change] : changes) {
    SummaryRow& sums = groups[{key.first, change.status(units), change.time_status()}];
    ++sums.names;
    AddSaturatingTo(sums.delta_count, change.delta_count());
    AddSaturatingTo(sums.base_ns, change.base.total_ns);
    AddSaturatingTo(sums.test_ns, change.test.total_ns);
  }
  std::vector<SummaryRow> rows;
  for (auto& [key, sums] : groups) {
    sums.side = SideName(std::get<bool>(key));
    sums.status = std::get<Status>(key);
    sums.time_status = std::get<TimeStatus>(key);
    sums.delta_ns = sums.test_ns - sums.base_ns;
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
  int64_t base_count = 0;
  int64_t test_count = 0;
  int64_t delta_count = 0;
  int64_t base_ns = 0;
  int64_t test_ns = 0;
  int64_t delta_ns = 0;
  Status status = Status::kUnchanged;
  TimeStatus time_status = TimeStatus::kUnknown;

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
      {"delta_count", &ChangeRow::delta_count, Unit::kCount, Role::kSum, "Test less base."},
      {"base_ns", &ChangeRow::base_ns, Unit::kNanoseconds, Role::kSum,
       "Summed durations in the base run."},
      {"test_ns", &ChangeRow::test_ns, Unit::kNanoseconds, Role::kSum, "The same in the test run."},
      {"delta_ns", &ChangeRow::delta_ns, Unit::kNanoseconds, Role::kSum, "Test less base."},
      {"status", EnumText<&ChangeRow::status, StatusName, Status::kCount>(), Role::kDerived,
       "By the counts, per step if both runs have steps, else per rank: added, deleted, "
       "increased, decreased, unchanged; or renamed."},
      {"time_status", EnumText<&ChangeRow::time_status, TimeStatusName, TimeStatus::kCount>(),
       Role::kDerived,
       "By the time, against what as many calls took in the base run: slower or faster by 5 % "
       "and 1 us at least, else unchanged; missing for what is in one run only."}};
};

// Largest change of time first, in either direction; ties by name, then host first.
std::vector<Changes::const_iterator> BySizeOfChange(const Changes& changes) {
  std::vector<Changes::const_iterator> order;
  for (auto it = changes.begin(); it != changes.end(); ++it) {
    order.push_back(it);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    const int64_t delta_a = std::abs(a->second.delta_ns());
    const int64_t delta_b = std::abs(b->second.delta_ns());
    return delta_a != delta_b ? delta_a > delta_b : a->first.second < b->first.second;
  });
  return order;
}

Table ChangesTable(const Changes& changes, const RunUnits& units) {
  std::vector<ChangeRow> rows;
  for (const auto& it : BySizeOfChange(changes)) {
    const NameChange& change = it->second;
    rows.push_back({.side = SideName(it->first.first),
                    .name = it->first.second,
                    .renamed_to = Recorded(std::string_view(change.renamed_to)),
                    .base_count = change.base.count,
                    .test_count = change.test.count,
                    .delta_count = change.delta_count(),
                    .base_ns = change.base.total_ns,
                    .test_ns = change.test.total_ns,
                    .delta_ns = change.delta_ns(),
                    .status = change.status(units),
                    .time_status = change.time_status()});
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

constexpr WorkTableSpec kWorkTables[] = {
    {WorkKey::kClass, "diff_classes", "Device work by class", "What the work is for."},
    {WorkKey::kPhase, "diff_phases", "Device work by phase",
     "forward, backward, recompute (forward repeated inside backward) or optimizer, from the "
     "launch's surroundings on the host; other if unknown."},
    {WorkKey::kAnnotation, "diff_annotations", "Device work by annotation",
     "Innermost annotation around the launch on its thread, else the step. All steps of training "
     "are ProfilerStep#*, and in those of inference servers numbers are \"*\"."},
    {WorkKey::kModule, "diff_modules", "Device work by class of module",
     "Class of the innermost nn.Module around the launch."},
    {WorkKey::kOperator, "diff_operators", "Device work by operator",
     "Innermost operator around the launch, as self device time in ops."},
};

void AddWork(const std::vector<WorkSumRow>& work, WorkKey key, CallSum NameChange::* run,
             Changes& changes) {
  for (const WorkSumRow& row : work) {
    if (row.key == key) {
      changes[{true, row.name}].*run = {row.count, row.total_ns};
    }
  }
}

Table WorkChanges(const WorkTableSpec& spec, const std::vector<WorkSumRow>& base,
                  const std::vector<WorkSumRow>& test, const RunUnits& units) {
  Changes changes;
  AddWork(base, spec.key, &NameChange::base, changes);
  AddWork(test, spec.key, &NameChange::test, changes);
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

// The sums of one run; `compare` makes the tables that are shown.
Result<Tables> MapDiff(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  return SumRun(view, selected, params.Flag(kShortNamesParam));
}

Result<Tables> CompareDiff(Tables base, Tables test, const Params&) {
  const RunSizeRow base_size = ReadRows<RunSizeRow>(base).front();
  const RunSizeRow test_size = ReadRows<RunSizeRow>(test).front();
  const RunUnits units = UnitsOf(base_size, test_size);
  Changes changes;
  AddRun(TableOf<NameSumRow>(base), &NameChange::base, changes);
  AddRun(TableOf<NameSumRow>(test), &NameChange::test, changes);
  PairRenamedKernels(ReadRows<LaunchSumRow>(base), ReadRows<LaunchSumRow>(test), changes);
  Tables tables{RunsTable(base_size, test_size), SummaryTable(changes, units)};
  const std::vector<WorkSumRow> base_work = ReadRows<WorkSumRow>(base);
  const std::vector<WorkSumRow> test_work = ReadRows<WorkSumRow>(test);
  for (const WorkTableSpec& spec : kWorkTables) {
    tables.push_back(WorkChanges(spec, base_work, test_work, units));
  }
  tables.push_back(ChangesTable(changes, units));
  return tables;
}

constexpr const ParamSpec* kDiffParams[] = {&kShortNamesParam};

}  // namespace

const AnalysisSpec kDiffVerb{
    .name = "diff",
    .summary = "what changed between two runs, in counts and time",
    .example = "borescope diff before/ after/ --step 5",
    .needs = Needs::kEvents,
    .params = kDiffParams,
    .answer = {.map = MapDiff, .reduce = MergeTables, .compare = CompareDiff}};

}  // namespace borescope::internal
