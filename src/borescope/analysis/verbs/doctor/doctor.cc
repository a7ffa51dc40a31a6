// doctor: how far the recording can be trusted. One row a check and rank; passed checks are listed
// too (severity "ok", or "n/a" where nothing of the kind can be recorded), so that a clean trace
// shows what was looked at. Whatever reading and indexing had to repair or drop, and no check
// speaks of, follows as a row of its own. Where device work was launched before the recording, two
// tables say what it is like.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/verbs/doctor/quality_checks.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/each_row.h"
#include "borescope/base/saturating.h"
#include "borescope/table/table.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {

namespace {

// What work from before the recording is like (align_inherited.h), for people who want to know how
// far that is to be trusted. Both tables are empty where no work was inherited.

constexpr size_t kPreviewRows = 20;

struct InheritedRow {
  int64_t rank = 0;
  int64_t gpu = 0;
  int64_t works = 0;
  int64_t device_ns = 0;
  double share = 0;
  int64_t cut_ns = 0;
  std::string_view level = {};
  int64_t alike_runs = 0;
  int64_t back = 0;
  int64_t forward = 0;
  double assigned_share = 0;
  std::optional<double> self_precision = {};
  std::optional<double> self_recall = {};
  std::string_view confidence = {};

  static constexpr TableNames kTable{"inherited",
                                     "Device work from before the recording, and what it is like"};
  static constexpr ColumnOf<InheritedRow> kColumns[] = {
      {"rank", &InheritedRow::rank, Role::kKey, kRankDoc},
      {"gpu", &InheritedRow::gpu, Role::kKey, kGpuDoc},
      {"works", &InheritedRow::works, Unit::kCount, Role::kSum,
       "Kernels, copies and memsets that were launched before the recording began."},
      {"device_ns", &InheritedRow::device_ns, Unit::kNanoseconds, Role::kSum,
       "Sum of their durations."},
      {"share", &InheritedRow::share, Unit::kShare, Role::kDerived,
       "Of the durations of all device work."},
      {"cut_ns", &InheritedRow::cut_ns, Unit::kNanoseconds, Role::kDerived,
       "When the last of it has ended, since the begin of the recording: rates are of the time "
       "after it."},
      {"level", &InheritedRow::level, Role::kDerived,
       "What it was compared by: full (name, stream, grid, block, bytes) or name (name and "
       "stream, where the rest was not recorded or says less)."},
      // "runs" is of comparisons
      {"alike_runs", &InheritedRow::alike_runs, Unit::kCount, Role::kDerived,
       "Runs of neighbours that look like neighbours in the recording; of all devices."},
      {"back", &InheritedRow::back, Unit::kCount, Role::kDerived,
       "Works that look the same backwards from where the recording goes on; of all devices."},
      {"forward", &InheritedRow::forward, Unit::kCount, Role::kDerived,
       "Works after that place that look like the first recorded ones; of all devices."},
      {"assigned_share", &InheritedRow::assigned_share, Unit::kShare, Role::kDerived,
       "Of its time: what has a place in the recording that it is like."},
      {"self_precision", &InheritedRow::self_precision, Unit::kShare, Role::kDerived,
       "Of the first recorded works, placed in the same way as if their launches were not "
       "recorded: those with the right operator and phase, of the placed ones. Missing where "
       "too little was recorded."},
      {"self_recall", &InheritedRow::self_recall, Unit::kShare, Role::kDerived,
       "The same, of all of them."},
      {"confidence", &InheritedRow::confidence, Role::kDerived,
       "high, medium, low or none. Other answers use the places where it is high or medium."}};
};

struct OnDevice {
  int64_t all_ns = 0;  // of all device work
  int64_t assigned_ns = 0;
};

// By number; of devices with work from before the recording alone.
std::map<int64_t, OnDevice> TimesByDevice(const RankView& view, const InheritedWork& inherited,
                                          const AlignedWork& aligned) {
  const DeviceEvents& device = view.trace.device();
  std::map<int64_t, OnDevice> times;
  for (const uint32_t row : EachRow(device.size())) {
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

std::optional<double> MaybeShare(double share) {
  return share <= 1 ? std::optional(share) : std::nullopt;
}

Table InheritedTable(const RankView& view, const InheritedWork& inherited,
                     const AlignedWork& aligned) {
  const std::map<int64_t, OnDevice> times = TimesByDevice(view, inherited, aligned);
  std::vector<InheritedRow> rows;
  for (const auto& [gpu, device] : inherited.devices) {
    const OnDevice& time = times.at(gpu);
    rows.push_back({.rank = view.rank,
                    .gpu = gpu,
                    .works = device.works,
                    .device_ns = device.device_ns,
                    .share = ShareOf(device.device_ns, time.all_ns),
                    .cut_ns = SubtractSaturating(device.cut_ns, view.trace.begin_ns()),
                    .level = aligned.is_by_name ? "name" : "full",
                    .alike_runs = static_cast<int64_t>(aligned.found.runs),
                    .back = static_cast<int64_t>(aligned.found.back),
                    .forward = static_cast<int64_t>(aligned.found.forward),
                    .assigned_share = ShareOf(time.assigned_ns, device.device_ns),
                    .self_precision = MaybeShare(aligned.self_precision),
                    .self_recall = MaybeShare(aligned.self_recall),
                    .confidence = AlignmentConfidenceName(aligned.confidence)});
  }
  return MakeTable(rows);
}

struct InheritedWorkRow {
  int64_t works = 0;
  int64_t device_ns = 0;

  static constexpr TableNames kTable{
      "inherited_work", "What device work from before the recording is like", kPreviewRows};
  static constexpr ColumnOf<InheritedWorkRow> kColumns[] = {
      {"works", &InheritedWorkRow::works, Unit::kCount, Role::kSum, "Kernels, copies and memsets."},
      {"device_ns", &InheritedWorkRow::device_ns, Unit::kNanoseconds, Role::kSum,
       "Sum of their durations; adds up to that of the device in `inherited`."}};
};

// Work by what it is like, in the order of first appearance; what is like nothing has no key but
// its device.
Table InheritedWorkTable(const RankView& view, const InheritedWork& inherited,
                         const AlignedWork& aligned) {
  const std::array<std::string, 6> by{"rank", "step", "gpu", "phase", "module", "op"};
  const GroupKeys keys(view, by, StepRule::kLaunch);
  Grouper groups(keys.size());
  std::vector<InheritedWorkRow> sums;
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
  Table table;
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
  for (uint32_t i = 0; i < sums.size(); ++i) {
    Row row(table);
    keys.PushBeforeName(row, groups.key(i));
    keys.PushAfterName(row, groups.key(i));
  }
  Table of_sums = MakeTable(sums);
  of_sums.columns.insert(of_sums.columns.begin(), std::make_move_iterator(table.columns.begin()),
                         std::make_move_iterator(table.columns.end()));
  return of_sums;
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

// What the comparison of ranks needs; dropped at the end.
struct ClockRow {
  int64_t rank = 0;
  std::optional<int64_t> base_ns = {};
  int64_t begin_ns = 0;
  int64_t end_ns = 0;

  static constexpr TableNames kTable{"clocks", "Time bases"};
  static constexpr ColumnOf<ClockRow> kColumns[] = {
      {"rank", &ClockRow::rank, Role::kKey, kRankDoc},
      {"base_ns", &ClockRow::base_ns, Role::kDerived, "Unix time of ts = 0, if recorded."},
      {"begin_ns", &ClockRow::begin_ns, Role::kDerived, "First start."},
      {"end_ns", &ClockRow::end_ns, Role::kDerived, "Last end."}};
};

std::string_view StatusOf(const CheckOutcome& outcome, std::string_view severity) {
  return !outcome.applies ? kNotApplicable : outcome.count == 0 ? "ok" : severity;
}

DoctorRow RowOf(std::optional<int64_t> rank, std::string_view name, std::string_view severity,
                const CheckOutcome& outcome, std::string_view help) {
  DoctorRow row{.rank = rank,
                .check = std::string(name),
                .severity = StatusOf(outcome, severity),
                .count = outcome.count,
                .share = outcome.share};
  if (!outcome.first.empty()) row.first = outcome.first;
  // A check that found nothing needs no advice: a page of it would bury the ones that did.
  if (outcome.count != 0 && !help.empty()) row.help = help;
  return row;
}

void AddDiagnostics(const RankView& view, const std::set<std::string_view>& known,
                    std::vector<DoctorRow>& rows) {
  Diagnostics both = view.trace.diagnostics();
  both.Merge(view.index.diagnostics);
  for (size_t i = 0; i < static_cast<size_t>(Diag::kCount); ++i) {
    const DiagRow& diag = GetDiagRow(static_cast<Diag>(i));
    const Diagnostics::Entry& entry = both.Get(diag.id);
    if (entry.count == 0 || known.contains(diag.code)) {
      continue;
    }
    std::string first = entry.first;
    if (entry.first_byte != Diagnostics::kNoByte) {
      first += fmt::format("{}byte {}", first.empty() ? "" : ", ", entry.first_byte);
    }
    rows.push_back(RowOf(view.rank, diag.code, SeverityName(diag.severity),
                         {static_cast<int64_t>(entry.count), std::nullopt, first}, diag.help));
  }
}

// Unix times where the base is known.
std::vector<ClockRow> ReadClocks(const Table& table) {
  std::vector<ClockRow> clocks = ReadRows<ClockRow>(table);
  for (ClockRow& clock : clocks) {
    AddSaturatingTo(clock.begin_ns, clock.base_ns.value_or(0));
    AddSaturatingTo(clock.end_ns, clock.base_ns.value_or(0));
  }
  return clocks;
}

// Ranks of one job were recorded at one time, on clocks with one origin.
std::vector<DoctorRow> CompareClocks(const std::vector<ClockRow>& clocks) {
  if (clocks.size() < 2) {
    return {};
  }
  CheckOutcome bases;
  CheckOutcome apart;
  for (const ClockRow& clock : clocks) {
    const ClockRow& first = clocks.front();
    if (clock.base_ns != first.base_ns && bases.count++ == 0) {
      bases.first = fmt::format("rank {} and rank {}", first.rank, clock.rank);
    }
    if ((clock.begin_ns > first.end_ns || clock.end_ns < first.begin_ns) && apart.count++ == 0) {
      apart.first = fmt::format("rank {} and rank {}", first.rank, clock.rank);
    }
  }
  return {RowOf(std::nullopt, "time-base-mismatch", "info", bases,
                "Ranks count time from different origins (baseTimeNanoseconds); times are "
                "compared as Unix time where the origin is recorded."),
          RowOf(std::nullopt, "ranks-apart", "warning", apart,
                "Recordings of ranks do not overlap in time: they belong to different runs, or "
                "one lacks its time base.")};
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
  std::vector<DoctorRow> rows;
  std::set<std::string_view> known;
  for (const std::span<const QualityCheck> checks : {LinkChecks(), TimeChecks(), RecordChecks()}) {
    for (const QualityCheck& check : checks) {
      known.insert(check.name);
      const CheckOutcome outcome = check.run(view);
      const Severity severity = outcome.severity.value_or(check.severity);
      rows.push_back(
          RowOf(view.rank, check.name, SeverityName(severity), outcome, HelpOf(check, view)));
    }
  }
  AddDiagnostics(view, known, rows);
  for (const SensitiveCount& found : CountSensitive(view.trace)) {
    rows.push_back(RowOf(view.rank, fmt::format("sensitive-{}", found.what), "info",
                         {static_cast<int64_t>(found.count), std::nullopt, ""},
                         SensitiveHelp(found.what)));
  }
  Tables tables{MakeTable(rows), MakeTable<ClockRow>({{.rank = view.rank,
                                                       .base_ns = view.trace.meta().base_ns,
                                                       .begin_ns = view.trace.begin_ns(),
                                                       .end_ns = view.trace.end_ns()}})};
  for (Table& table : InheritedTables(view)) {
    tables.push_back(std::move(table));
  }
  return tables;
}

Result<Tables> FinishDoctor(Tables tables, const Params&) {
  std::vector<DoctorRow> quality = ReadRows<DoctorRow>(TableOf<DoctorRow>(tables));
  for (DoctorRow& row : CompareClocks(ReadClocks(TableOf<ClockRow>(tables)))) {
    quality.push_back(std::move(row));
  }
  SortQuality(quality);
  Tables answer{MakeTable(quality)};
  for (Table& table : tables) {
    if (table.name == InheritedRow::kTable.name && table.rows() > 0) {
      answer.push_back(std::move(table));
    } else if (table.name == InheritedWorkRow::kTable.name && table.rows() > 0) {
      answer.push_back(Sorted(table, "device_ns"));
    }
  }
  return answer;
}

}  // namespace

void SortQuality(std::vector<DoctorRow>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const DoctorRow& a, const DoctorRow& b) {
    return SeverityOrder(a.severity) < SeverityOrder(b.severity);
  });
}

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
