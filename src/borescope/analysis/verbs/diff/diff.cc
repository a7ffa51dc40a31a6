// diff: what changed between two runs, by the names of what ran. Host rows (operators, annotations,
// runtime calls, Python frames, everything else of a thread) and device work are counted and their
// durations summed by name, over all selected ranks and steps of each run; the rows of both are
// then put side by side. All training steps have one name: their numbers tell nothing of the runs.
// Two columns say what changed, as counts and times do so for different reasons: status goes by the
// counts alone, time_status by the time of as many calls.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/names/short_names.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/stop.h"
#include "borescope/compat/hta/tables.h"
#include "borescope/index/steps.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kRunCounts[] = {"ranks", "steps", "host_events", "device_events"};
constexpr std::string_view kHost = "host";
constexpr std::string_view kDevice = "device";

struct CountAndTime {
  int64_t count = 0;
  int64_t total_ns = 0;

  void Add(int64_t dur_ns) {
    ++count;
    total_ns = AddSaturating(total_ns, dur_ns);
  }
};

// --- one run ---

using ByName = std::unordered_map<uint32_t, CountAndTime>;  // by StringId

Table NewSums() {
  Table table{"diff", "", {}};
  AddString(table, "side", Role::kKey, "");
  AddString(table, "name", Role::kKey, "");
  AddInt(table, "count", Unit::kCount, Role::kSum, "");
  AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, "");
  return table;
}

void PushSums(Table& table, const Trace& trace, std::string_view side, const ByName& sums,
              bool short_names) {
  for (const auto& [name, sum] : sums) {
    const std::string_view text = FoldStepName(trace.Text(StringId{name}));
    Row row(table);
    row.Text(side).Text(short_names ? ShortName(text) : std::string(text));
    row.Int(sum.count).Int(sum.total_ns);
  }
}

// How much one rank brings to its run.
Table NewRun() {
  Table table{"diff_runs", "", {}};
  AddString(table, "run", Role::kKey, "");
  for (const std::string_view count : kRunCounts) {
    AddInt(table, count, Unit::kCount, Role::kSum, "");
  }
  AddInt(table, "span_ns", Unit::kNanoseconds, Role::kSum, "");
  return table;
}

int64_t TotalCount(const ByName& sums) {
  int64_t total = 0;
  for (const auto& [name, sum] : sums) {
    total += sum.count;
  }
  return total;
}

// --- two runs ---

enum class Status : uint8_t { kAdded, kDeleted, kIncreased, kDecreased, kUnchanged, kCount };

std::string_view StatusName(Status status) {
  static constexpr std::string_view kNames[] = {"added", "deleted", "increased", "decreased",
                                                "unchanged"};
  return kNames[static_cast<size_t>(status)];
}

// How long calls take, of names in both runs.
enum class TimeStatus : uint8_t { kSlower, kFaster, kUnchanged, kUnknown, kCount };

// Empty where one of the runs has no call.
std::string_view TimeStatusName(TimeStatus status) {
  static constexpr std::string_view kNames[] = {"slower", "faster", "unchanged", ""};
  return kNames[static_cast<size_t>(status)];
}

// Times never repeat exactly. What differs by less than one of these is taken for the same.
constexpr double kLeastChange = 0.05;
constexpr double kLeastChangeNs = 1000;

struct Change {
  CountAndTime base;
  CountAndTime test;

  int64_t delta_count() const { return test.count - base.count; }
  int64_t delta_ns() const { return test.total_ns - base.total_ns; }
  Status status() const {
    return base.count == 0           ? Status::kAdded
           : test.count == 0         ? Status::kDeleted
           : test.count > base.count ? Status::kIncreased
           : test.count < base.count ? Status::kDecreased
                                     : Status::kUnchanged;
  }
  TimeStatus time_status() const;
};

// The time of the test run against what as many calls took in the base run.
TimeStatus Change::time_status() const {
  if (base.count == 0 || test.count == 0) {
    return TimeStatus::kUnknown;
  }
  const double calls = static_cast<double>(test.count) / static_cast<double>(base.count);
  const double expected_ns = static_cast<double>(base.total_ns) * calls;
  const double change_ns = static_cast<double>(test.total_ns) - expected_ns;
  if (std::abs(change_ns) < std::max(expected_ns * kLeastChange, kLeastChangeNs)) {
    return TimeStatus::kUnchanged;
  }
  return change_ns > 0 ? TimeStatus::kSlower : TimeStatus::kFaster;
}

// By side and name; the side is the rank in the order host, device.
using Key = std::pair<bool, std::string>;
using Changes = std::map<Key, Change>;

std::string_view SideName(bool is_device) { return is_device ? kDevice : kHost; }

void AddRun(const Table& sums, CountAndTime Change::* run, Changes& changes) {
  const StringValues& sides = Texts(sums, "side");
  const StringValues& names = Texts(sums, "name");
  for (size_t row = 0; row < sums.rows(); ++row) {
    changes[{sides[row] == kDevice, names[row]}].*
        run = {Ints(sums, "count")[row], Ints(sums, "total_ns")[row]};
  }
}

void AddChangeColumns(Table& table) {
  AddInt(table, "base_ns", Unit::kNanoseconds, Role::kSum, "Summed durations in the base run.");
  AddInt(table, "test_ns", Unit::kNanoseconds, Role::kSum, "The same in the test run.");
  AddInt(table, "delta_ns", Unit::kNanoseconds, Role::kSum, "Test less base.");
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
  AddInt(table, "device_events", Unit::kCount, Role::kSum, "Selected device work.");
  AddInt(table, "span_ns", Unit::kNanoseconds, Role::kSum, "Selected time of all ranks.");
  for (const Table* run : {&base, &test}) {
    Row row(table);
    row.Text(run == &base ? "base" : "test");
    for (const std::string_view count : kRunCounts) {
      row.Int(Ints(*run, count).front());
    }
    row.Int(Ints(*run, "span_ns").front());
  }
  return table;
}

Table SummaryTable(const Changes& changes) {
  Table table{"diff_summary", "What changed between base and test", {}};
  AddString(table, "side", Role::kKey, "Where it ran: host or device.");
  AddString(table, "status", Role::kKey, "How the counts compare; see the other table.");
  AddString(table, "time_status", Role::kKey, "How the time of a call compares; see there, too.");
  AddInt(table, "names", Unit::kCount, Role::kSum, "Distinct names.");
  AddInt(table, "delta_count", Unit::kCount, Role::kSum, "Calls in the test run less the base.");
  AddChangeColumns(table);
  struct Sums {
    int64_t names = 0;
    int64_t delta_count = 0;
    CountAndTime base;
    CountAndTime test;
  };
  std::map<std::tuple<bool, Status, TimeStatus>, Sums> groups;
  for (const auto& [key, change] : changes) {
    Sums& sums = groups[{key.first, change.status(), change.time_status()}];
    ++sums.names;
    sums.delta_count += change.delta_count();
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

Table DiffTable(const Changes& changes) {
  Table table{"diff", "Changes by name", {}};
  AddString(table, "side", Role::kKey, "Where it ran: host or device.");
  AddString(table, "name", Role::kKey,
            "Name as recorded, or shortened by --short-names; all steps are ProfilerStep#*.");
  AddInt(table, "base_count", Unit::kCount, Role::kSum, "Calls in the base run.");
  AddInt(table, "test_count", Unit::kCount, Role::kSum, "Calls in the test run.");
  AddInt(table, "delta_count", Unit::kCount, Role::kSum, "Test less base.");
  AddChangeColumns(table);
  AddString(table, "status", Role::kDerived,
            "By the counts: added, deleted, increased, decreased, unchanged.");
  AddString(table, "time_status", Role::kDerived,
            "By the time, against what as many calls took in the base run: slower or faster by 5 % "
            "and 1 us at least, else unchanged; missing for names of one run only.");
  for (const auto& it : BySizeOfChange(changes)) {
    const Change& change = it->second;
    Row row(table);
    row.Text(SideName(it->first.first)).Text(it->first.second).Int(change.base.count);
    row.Int(change.test.count).Int(change.delta_count()).Int(change.base.total_ns);
    row.Int(change.test.total_ns).Int(change.delta_ns()).Text(StatusName(change.status()));
    row.MaybeText(TimeStatusName(change.time_status()));
  }
  return table;
}

// The sums of one run; `compare` makes the tables that are shown.
Result<Tables> MapDiff(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  const HostEvents& host = view.trace.host();
  const DeviceEvents& device = view.trace.device();
  ByName on_host;
  ByName on_device;
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    if (selected.Keeps(HostId{row})) {
      on_host[host.name[row].value].Add(host.dur_ns[row]);
    }
  }
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    if (selected.Keeps(DeviceId{row})) {
      on_device[device.name[row].value].Add(device.dur_ns[row]);
    }
  }
  Table sums = NewSums();
  PushSums(sums, view.trace, kHost, on_host, params.Flag(kShortNamesParam));
  PushSums(sums, view.trace, kDevice, on_device, params.Flag(kShortNamesParam));
  Table run = NewRun();
  Row(run)
      .Text("")
      .Int(1)
      .Count(selected.steps().size())
      .Int(TotalCount(on_host))
      .Int(TotalCount(on_device))
      .Int(Coverage(selected.windows()));
  return Tables{MergeByKey(sums), std::move(run)};
}

Result<Tables> CompareDiff(Tables base, Tables test, const Params&) {
  Changes changes;
  AddRun(base[0], &Change::base, changes);
  AddRun(test[0], &Change::test, changes);
  return Tables{RunsTable(base[1], test[1]), SummaryTable(changes), DiffTable(changes)};
}

constexpr const ParamSpec* kDiffParams[] = {&kShortNamesParam};
constexpr CompatPipeline kCompatPipelines[] = {{Compat::kHta, &kHtaDiff}};

}  // namespace

const AnalysisSpec kDiffVerb{
    .name = "diff",
    .summary = "what changed between two runs: counts and time by name",
    .example = "borescope diff before/ after/ --step 5",
    .needs = Needs::kEvents,
    .params = kDiffParams,
    .answer = {.map = MapDiff, .reduce = MergeTables, .compare = CompareDiff},
    .compats = kCompatPipelines};

}  // namespace borescope::internal
