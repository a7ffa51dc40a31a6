// doctor: how far the recording can be trusted. One row a check and rank; passed checks are listed
// too (severity "ok", or "n/a" where nothing of the kind can be recorded), so that a clean trace
// shows what was looked at. Whatever reading and indexing had to repair or drop, and no check
// speaks of, follows as a row of its own. Where device work was launched before the recording, two
// tables say what it is like.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/group_keys.h"
#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/map_once.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/measures/shared_inherited_work.h"
#include "borescope/analysis/verbs/doctor/quality_checks.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/table/table.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {

namespace {

// What work from before the recording is like (align_inherited.h), for people who want to know how
// far that is to be trusted. Both tables are empty where no work was inherited.

constexpr size_t kPreviewRows = 20;

Table NewInherited() {
  Table table{"inherited", "Device work from before the recording, and what it is like", {}};
  AddRankKey(table);
  AddGpuKey(table);
  AddInt(table, "works", Unit::kCount, Role::kSum,
         "Kernels, copies and memsets that were launched before the recording began.");
  AddInt(table, "device_ns", Unit::kNanoseconds, Role::kSum, "Sum of their durations.");
  AddFloat(table, "share", Unit::kShare, Role::kDerived, "Of the durations of all device work.");
  AddInt(table, "cut_ns", Unit::kNanoseconds, Role::kDerived,
         "When the last of it has ended, since the begin of the recording: rates are of the time "
         "after it.");
  AddString(table, "level", Role::kDerived,
            "What it was compared by: full (name, stream, grid, block, bytes) or name (name and "
            "stream, where the rest was not recorded or says less).");
  AddInt(table, "alike_runs", Unit::kCount, Role::kDerived,  // "runs" is of comparisons
         "Runs of neighbours that look like neighbours in the recording; of all devices.");
  AddInt(table, "back", Unit::kCount, Role::kDerived,
         "Works that look the same backwards from where the recording goes on; of all devices.");
  AddInt(table, "forward", Unit::kCount, Role::kDerived,
         "Works after that place that look like the first recorded ones; of all devices.");
  AddFloat(table, "assigned_share", Unit::kShare, Role::kDerived,
           "Of its time: what has a place in the recording that it is like.");
  AddFloat(table, "self_precision", Unit::kShare, Role::kDerived,
           "Of the first recorded works, placed in the same way as if their launches were not "
           "recorded: those with the right operator and phase, of the placed ones. Missing where "
           "too little was recorded.");
  AddFloat(table, "self_recall", Unit::kShare, Role::kDerived, "The same, of all of them.");
  AddString(table, "confidence", Role::kDerived,
            "high, medium, low or none. Other answers use the places where it is high or medium.");
  return table;
}

struct OnDevice {
  int64_t all_ns = 0;  // of all device work
  int64_t assigned_ns = 0;
};

// By number; of devices with work from before the recording alone.
std::map<int64_t, OnDevice> TimesByDevice(const RankView& view, const InheritedWork& inherited,
                                          const AlignedWork& aligned) {
  const DeviceEvents& device = view.trace.device();
  std::map<int64_t, OnDevice> times;
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    const DeviceId id{row};
    if (!IsDeviceWork(device.kind[row]) || inherited.On(view.trace.DeviceOf(id)) == nullptr) {
      continue;
    }
    OnDevice& time = times[view.trace.DeviceOf(id)];
    AddSaturatingTo(time.all_ns, device.dur_ns[row]);
    if (!aligned.like.empty() && aligned.like[row].valid()) {
      AddSaturatingTo(time.assigned_ns, device.dur_ns[row]);
    }
  }
  return times;
}

void PushShare(Row& row, double share) { share <= 1 ? row.Float(share) : row.Missing(); }

Table InheritedTable(const RankView& view, const InheritedWork& inherited,
                     const AlignedWork& aligned) {
  Table table = NewInherited();
  const std::map<int64_t, OnDevice> times = TimesByDevice(view, inherited, aligned);
  for (const auto& [gpu, device] : inherited.devices) {
    const OnDevice& time = times.at(gpu);
    Row row(table);
    row.Int(view.rank).Int(gpu).Int(device.works).Int(device.device_ns);
    row.Share(device.device_ns, time.all_ns);
    row.Int(SubtractSaturating(device.cut_ns, view.trace.begin_ns()));
    row.Text(aligned.is_by_name ? "name" : "full").Int(static_cast<int64_t>(aligned.found.runs));
    row.Int(static_cast<int64_t>(aligned.found.back));
    row.Int(static_cast<int64_t>(aligned.found.forward));
    row.Share(time.assigned_ns, device.device_ns);
    PushShare(row, aligned.self_precision);
    PushShare(row, aligned.self_recall);
    row.Text(AlignmentConfidenceName(aligned.confidence));
  }
  return table;
}

// Work by what it is like, in the order of first appearance; what is like nothing has no key but
// its device.
Table InheritedWorkTable(const RankView& view, const InheritedWork& inherited,
                         const AlignedWork& aligned) {
  const std::array<std::string, 6> by{"rank", "step", "gpu", "phase", "module", "op"};
  const GroupKeys keys(view, by, StepRule::kLaunch);
  struct Sums {
    int64_t works = 0;
    int64_t device_ns = 0;
  };
  Grouper groups(keys.size());
  std::vector<Sums> sums;
  std::vector<int64_t> key;
  for (const DeviceId id : inherited.Rows()) {
    key.clear();
    if (!aligned.like.empty() && aligned.like[id.value].valid()) {
      keys.AppendInferred(id, aligned.PlaceOf(id), key);
    } else {
      key = {view.rank, kMissing, view.trace.DeviceOf(id), kMissing, kMissing, kMissing};
    }
    const uint32_t group = groups.Find(key);
    sums.resize(groups.size());
    ++sums[group].works;
    AddSaturatingTo(sums[group].device_ns, view.trace.device().dur_ns[id.value]);
  }
  Table table{"inherited_work", "What device work from before the recording is like", {}};
  keys.AddColumnsBeforeName(table);
  keys.AddColumnsAfterName(table);
  const auto say = [&](std::string_view name, std::string_view doc) {
    table.Find(name)->doc = doc;
  };
  say("step",
      "Number of the step in which it was launched, which may be one before the first "
      "recorded one; missing where it is not known.");
  say("phase", "Of the work that it is like; missing where no work is.");
  say("module", "Class of the innermost nn.Module of the work that it is like, if any.");
  say("op", "Innermost operator of the work that it is like, if any.");
  AddInt(table, "works", Unit::kCount, Role::kSum, "Kernels, copies and memsets.");
  AddInt(table, "device_ns", Unit::kNanoseconds, Role::kSum,
         "Sum of their durations; adds up to that of the device in `inherited`.");
  table.preview_rows = kPreviewRows;
  for (uint32_t i = 0; i < sums.size(); ++i) {
    Row row(table);
    keys.PushBeforeName(row, groups.key(i));
    keys.PushAfterName(row, groups.key(i));
    row.Int(sums[i].works).Int(sums[i].device_ns);
  }
  return table;
}

// Table `inherited`: a row for each device with such work; how it was aligned, and how sure that
// is. Table `inherited_work`: the same work by the step, phase, module and operator of what it is
// like.
Tables InheritedTables(const RankView& view) {
  const std::shared_ptr<const InheritedWork> inherited = SharedInheritedWork(view);
  const std::shared_ptr<const AlignedWork> aligned = SharedAlignedWork(view);
  return {InheritedTable(view, *inherited, *aligned),
          InheritedWorkTable(view, *inherited, *aligned)};
}

constexpr size_t kLongestName = 120;  // of an event shown as the first case
constexpr std::string_view kNotApplicable = "n/a";

Table NewQuality() {
  Table table{"quality", "Quality of the recording", {}};
  AddInt(table, "rank", Unit::kNone, Role::kKey,
         "Rank of the process in the job; missing for checks across ranks.");
  AddString(table, "check", Role::kKey, "What was looked for.");
  AddString(table, "severity", Role::kDerived,
            "ok, info, warning, error, or n/a: nothing to look at.");
  AddInt(table, "count", Unit::kCount, Role::kSum, "Number of cases found.");
  AddFloat(table, "share", Unit::kShare, Role::kDerived,
           "Affected part of device time or of events, as the help says.");
  AddString(table, "first", Role::kDerived, "The first case.");
  AddString(table, "help", Role::kDerived, "What it means and what to do.");
  return table;
}

// What the comparison of ranks needs; dropped at the end.
Table NewClocks() {
  Table table{"clocks", "Time bases", {}};
  AddRankKey(table);
  AddInt(table, "base_ns", Unit::kNone, Role::kDerived, "Unix time of ts = 0, if recorded.");
  AddInt(table, "begin_ns", Unit::kNone, Role::kDerived, "First start.");
  AddInt(table, "end_ns", Unit::kNone, Role::kDerived, "Last end.");
  return table;
}

std::string_view StatusOf(const CheckOutcome& outcome, std::string_view severity) {
  return !outcome.applies ? kNotApplicable : outcome.count == 0 ? "ok" : severity;
}

void PushOutcome(Table& table, std::optional<int64_t> rank, std::string_view name,
                 std::string_view severity, const CheckOutcome& outcome, std::string_view help) {
  Row row(table);
  row.MaybeInt(rank).Text(name).Text(StatusOf(outcome, severity)).Int(outcome.count);
  outcome.share.has_value() ? row.Float(*outcome.share) : row.Missing();
  // A check that found nothing needs no advice: a page of it would bury the ones that did.
  row.MaybeText(outcome.first).MaybeText(outcome.count == 0 ? std::string() : std::string(help));
}

void PushDiagnostics(Table& table, const RankView& view, const std::set<std::string_view>& known) {
  for (size_t i = 0; i < static_cast<size_t>(Diag::kCount); ++i) {
    const DiagRow& diag = GetDiagRow(static_cast<Diag>(i));
    Diagnostics both = view.trace.diagnostics();
    both.Merge(view.index.diagnostics);
    const Diagnostics::Entry& entry = both.Get(diag.id);
    if (entry.count == 0 || known.contains(diag.code)) {
      continue;
    }
    std::string first = entry.first;
    if (entry.first_byte != Diagnostics::kNoByte) {
      first += fmt::format("{}byte {}", first.empty() ? "" : ", ", entry.first_byte);
    }
    PushOutcome(table, view.rank, diag.code, SeverityName(diag.severity),
                {static_cast<int64_t>(entry.count), std::nullopt, first}, diag.help);
  }
}

struct Clock {
  int64_t rank;
  std::optional<int64_t> base_ns;
  int64_t begin_ns;  // Unix time where the base is known
  int64_t end_ns;
};

std::vector<Clock> ReadClocks(const Table& table) {
  std::vector<Clock> clocks;
  for (size_t row = 0; row < table.rows(); ++row) {
    Clock clock{Ints(table, "rank")[row], std::nullopt, Ints(table, "begin_ns")[row],
                Ints(table, "end_ns")[row]};
    if (!table.Find("base_ns")->IsMissing(row)) {
      clock.base_ns = Ints(table, "base_ns")[row];
      AddSaturatingTo(clock.begin_ns, *clock.base_ns);
      AddSaturatingTo(clock.end_ns, *clock.base_ns);
    }
    clocks.push_back(clock);
  }
  return clocks;
}

// Ranks of one job were recorded at one time, on clocks with one origin.
void PushClockChecks(Table& table, const std::vector<Clock>& clocks) {
  if (clocks.size() < 2) {
    return;
  }
  CheckOutcome bases;
  CheckOutcome apart;
  for (const Clock& clock : clocks) {
    const Clock& first = clocks.front();
    if (clock.base_ns != first.base_ns && bases.count++ == 0) {
      bases.first = fmt::format("rank {} and rank {}", first.rank, clock.rank);
    }
    if ((clock.begin_ns > first.end_ns || clock.end_ns < first.begin_ns) && apart.count++ == 0) {
      apart.first = fmt::format("rank {} and rank {}", first.rank, clock.rank);
    }
  }
  PushOutcome(table, std::nullopt, "time-base-mismatch", "info", bases,
              "Ranks count time from different origins (baseTimeNanoseconds); times are compared "
              "as Unix time where the origin is recorded.");
  PushOutcome(table, std::nullopt, "ranks-apart", "warning", apart,
              "Recordings of ranks do not overlap in time: they belong to different runs, or one "
              "lacks its time base.");
}

int SeverityOrder(std::string_view severity) {
  constexpr std::string_view kOrder[] = {"error", "warning", "info", "ok", kNotApplicable};
  return static_cast<int>(std::find(std::begin(kOrder), std::end(kOrder), severity) -
                          std::begin(kOrder));
}

// Advice fits the profiler that wrote the recording, and what it recorded.
std::string HelpOf(const QualityCheck& check, const RankView& view) {
  if (check.remedy.empty()) {
    return std::string(check.help);
  }
  const std::string_view other = RemedyFor(check.lack, view.trace);
  return other.empty() ? fmt::format("{}: {}", check.help, check.remedy)
                       : fmt::format("{}: {}.", check.help, WithOptions(other));
}

Result<Tables> MapDoctor(const RankView& view, const Params&) {
  Table quality = NewQuality();
  std::set<std::string_view> known;
  for (const std::span<const QualityCheck> checks : {LinkChecks(), TimeChecks(), RecordChecks()}) {
    for (const QualityCheck& check : checks) {
      known.insert(check.name);
      const CheckOutcome outcome = check.run(view);
      PushOutcome(quality, view.rank, check.name, SeverityName(check.severity), outcome,
                  HelpOf(check, view));
    }
  }
  PushDiagnostics(quality, view, known);
  for (const SensitiveCount& found : CountSensitive(view.trace)) {
    PushOutcome(quality, view.rank, fmt::format("sensitive-{}", found.what), "info",
                {static_cast<int64_t>(found.count), std::nullopt, ""}, SensitiveHelp(found.what));
  }
  Table clocks = NewClocks();
  Row(clocks)
      .Int(view.rank)
      .MaybeInt(view.trace.meta().base_ns)
      .Int(view.trace.begin_ns())
      .Int(view.trace.end_ns());
  Tables tables{std::move(quality), std::move(clocks)};
  for (Table& table : InheritedTables(view)) {
    tables.push_back(std::move(table));
  }
  return tables;
}

Result<Tables> FinishDoctor(Tables tables, const Params&) {
  Table& quality = tables[0];
  PushClockChecks(quality, ReadClocks(tables[1]));
  std::vector<uint32_t> order(quality.rows());
  std::iota(order.begin(), order.end(), uint32_t{0});
  const StringValues& severity = Texts(quality, "severity");
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return SeverityOrder(severity[a]) < SeverityOrder(severity[b]);
  });
  Tables answer{TakeRows(quality, order)};
  for (size_t i = 2; i < tables.size(); ++i) {
    if (tables[i].rows() > 0) {
      answer.push_back(i == 2 ? std::move(tables[i]) : Sorted(tables[i], "device_ns"));
    }
  }
  return answer;
}

}  // namespace

std::string Describe(const RankView& view, HostId id) {
  return fmt::format("{}, ts {}", ShortenedName(view.trace.Name(id), kLongestName),
                     FormatTimestamp(view.trace.host().ts_ns[id.value]));
}

std::string Describe(const RankView& view, DeviceId id) {
  const DeviceEvents& device = view.trace.device();
  std::string text = fmt::format("{}, ts {}", ShortenedName(view.trace.Name(id), kLongestName),
                                 FormatTimestamp(device.ts_ns[id.value]));
  if (device.correlation[id.value] != kMissing) {
    text += fmt::format(", correlation {}", device.correlation[id.value]);
  }
  return text;
}

const AnalysisSpec kDoctorVerb{
    .name = "doctor",
    .summary = "how far the trace can be trusted: checks with counts and remedies",
    .example = "borescope doctor run/",
    .takes_selection = false,
    .answer = {.map = MapOnce<MapDoctor>, .reduce = ConcatTables, .finish = FinishDoctor}};

}  // namespace borescope::internal
