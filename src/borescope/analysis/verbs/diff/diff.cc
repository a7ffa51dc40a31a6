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
#include <cstdlib>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/verbs/diff/changes.h"
#include "borescope/analysis/verbs/diff/run_sums.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/saturating.h"
#include "borescope/compat/hta/tables.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kRunCounts[] = {"ranks", "steps", "host_events", "device_events",
                                           "inherited_events"};

std::string_view SideName(bool is_device) { return is_device ? kDeviceSide : kHostSide; }

void AddRun(const Table& sums, CallSum NameChange::* run, Changes& changes) {
  const StringValues& sides = Texts(sums, "side");
  const StringValues& names = Texts(sums, "name");
  for (size_t row = 0; row < sums.rows(); ++row) {
    changes[{sides[row] == kDeviceSide, std::string(names[row])}].*
        run = {Ints(sums, "count")[row], Ints(sums, "total_ns")[row]};
  }
}

// How often a step ran on a rank, or where a run has no steps, how many ranks there are.
RunUnits UnitsOf(const Table& base, const Table& test) {
  const bool have_steps = Ints(base, "steps").front() > 0 && Ints(test, "steps").front() > 0;
  const std::string_view units = have_steps ? "steps" : "ranks";
  return {Ints(base, units).front(), Ints(test, units).front(), have_steps ? "step" : "rank"};
}

// Sums of runs of different size differ for that reason alone: the title says so.
Table RunsTable(const Table& base, const Table& test) {
  const auto differs = [&](std::string_view column) {
    return Ints(base, column) != Ints(test, column);
  };
  const bool is_other_size = differs("ranks") || differs("steps");
  Table table{
      "diff_runs",
      is_other_size ? "The runs, of different size: expect counts and sums to differ" : "The runs",
      {}};
  AddString(table, "run", Role::kKey, "base or test.");
  AddInt(table, "ranks", Unit::kCount, Role::kSum, "Ranks compared.");
  AddInt(table, "steps", Unit::kCount, Role::kSum, "Selected training steps of all of them.");
  AddInt(table, "host_events", Unit::kCount, Role::kSum, "Selected host rows.");
  AddInt(table, "device_events", Unit::kCount, Role::kSum,
         "Selected device work that was launched in the recording: this is compared.");
  AddInt(
      table, "inherited_events", Unit::kCount, Role::kSum,
      "Selected device work that was launched before the recording began: how much there is says "
      "nothing of the program, so that it is in no other table.");
  AddInt(table, "inherited_ns", Unit::kNanoseconds, Role::kSum, "Its summed durations.");
  AddInt(table, "span_ns", Unit::kNanoseconds, Role::kSum, "Selected time of all ranks.");
  for (const Table* run : {&base, &test}) {
    Row row(table);
    row.Text(run == &base ? "base" : "test");
    for (const std::string_view count : kRunCounts) {
      row.Int(Ints(*run, count).front());
    }
    row.Int(Ints(*run, "inherited_ns").front()).Int(Ints(*run, "span_ns").front());
  }
  return table;
}

Table SummaryTable(const Changes& changes, const RunUnits& units) {
  Table table{"diff_summary", "What changed between base and test" + units.Words(), {}};
  AddString(table, "side", Role::kKey, "Where it ran: host or device.");
  AddString(table, "status", Role::kKey, "How the counts compare; see the other table.");
  AddString(table, "time_status", Role::kKey, "How the time of a call compares; see there, too.");
  AddInt(table, "names", Unit::kCount, Role::kSum, "Distinct names, a renamed kernel once.");
  AddInt(table, "delta_count", Unit::kCount, Role::kSum, "Calls in the test run less the base.");
  AddTimeColumns(table);
  struct Sums {
    int64_t names = 0;
    int64_t delta_count = 0;
    CallSum base;
    CallSum test;
  };
  std::map<std::tuple<bool, Status, TimeStatus>, Sums> groups;
  for (const auto& [key, change] : changes) {
    Sums& sums = groups[{key.first, change.status(units), change.time_status()}];
    ++sums.names;
    AddSaturatingTo(sums.delta_count, change.delta_count());
    sums.base.total_ns = AddSaturating(sums.base.total_ns, change.base.total_ns);
    sums.test.total_ns = AddSaturating(sums.test.total_ns, change.test.total_ns);
  }
  for (const auto& [key, sums] : groups) {
    const auto& [is_device, status, time_status] = key;
    Row row(table);
    row.Text(SideName(is_device)).Text(StatusName(status)).MaybeText(TimeStatusName(time_status));
    row.Int(sums.names).Int(sums.delta_count).Int(sums.base.total_ns).Int(sums.test.total_ns);
    row.Int(sums.test.total_ns - sums.base.total_ns);
  }
  return table;
}

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

Table NamesTable(const Changes& changes, const RunUnits& units) {
  Table table{"diff", "Changes by name" + units.Words(), {}};
  AddString(table, "side", Role::kKey, "Where it ran: host or device.");
  AddString(
      table, "name", Role::kKey,
      "Name as recorded, or shortened by --short-names, without lines of Python functions and "
      "addresses; all steps are ProfilerStep#*.");
  AddString(table, "renamed_to", Role::kDerived,
            "Name in the test run of the kernel of that class, operator and shape; missing for "
            "what has the same name.")
      .hints.names = true;
  AddChangeColumns(table);
  for (const auto& it : BySizeOfChange(changes)) {
    Row row(table);
    row.Text(SideName(it->first.first)).Text(it->first.second).MaybeText(it->second.renamed_to);
    PushChange(row, it->second, units);
  }
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

void AddWork(const Table& work, WorkKey key, CallSum NameChange::* run, Changes& changes) {
  const StringValues& keys = Texts(work, "key");
  for (size_t row = 0; row < work.rows(); ++row) {
    if (keys[row] == WorkKeyName(key)) {
      changes[{true, std::string(Texts(work, "name")[row])}].*
          run = {Ints(work, "count")[row], Ints(work, "total_ns")[row]};
    }
  }
}

Table WorkChanges(const WorkTableSpec& spec, const Tables& base, const Tables& test,
                  const RunUnits& units) {
  Changes changes;
  AddWork(base[RunTable::kWork], spec.key, &NameChange::base, changes);
  AddWork(test[RunTable::kWork], spec.key, &NameChange::test, changes);
  Table table{std::string(spec.table), std::string(spec.title) + units.Words(), {}};
  AddString(table, WorkKeyName(spec.key), Role::kKey, spec.doc);
  AddChangeColumns(table);
  for (const auto& it : BySizeOfChange(changes)) {
    Row row(table);
    row.Text(it->first.second);
    PushChange(row, it->second, units);
  }
  return table;
}

// The sums of one run; `compare` makes the tables that are shown.
Result<Tables> MapDiff(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  return SumRun(view, selected, params.Flag(kShortNamesParam));
}

Result<Tables> CompareDiff(Tables base, Tables test, const Params&) {
  const RunUnits units = UnitsOf(base[RunTable::kSize], test[RunTable::kSize]);
  Changes changes;
  AddRun(base[RunTable::kNames], &NameChange::base, changes);
  AddRun(test[RunTable::kNames], &NameChange::test, changes);
  PairRenamedKernels(base[RunTable::kLaunches], test[RunTable::kLaunches], changes);
  Tables tables{RunsTable(base[RunTable::kSize], test[RunTable::kSize]),
                SummaryTable(changes, units)};
  for (const WorkTableSpec& spec : kWorkTables) {
    tables.push_back(WorkChanges(spec, base, test, units));
  }
  tables.push_back(NamesTable(changes, units));
  return tables;
}

constexpr const ParamSpec* kDiffParams[] = {&kShortNamesParam};
constexpr CompatPipeline kCompatPipelines[] = {{Compat::kHta, &kHtaDiff}};

}  // namespace

const AnalysisSpec kDiffVerb{
    .name = "diff",
    .summary = "what changed between two runs, in counts and time",
    .example = "borescope diff before/ after/ --step 5",
    .needs = Needs::kEvents,
    .params = kDiffParams,
    .answer = {.map = MapDiff, .reduce = MergeTables, .compare = CompareDiff},
    .compats = kCompatPipelines};

}  // namespace borescope::internal
