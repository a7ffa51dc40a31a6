// The verdict: what the rules found: errors, then warnings, then hints and what is well. Of each,
// findings about time come first, by the time at stake, then those about quality. At most
// kMostFindings are about time.
#include "borescope/analysis/verbs/summary/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/verbs/summary/evidence.h"
#include "borescope/base/saturating.h"
#include "borescope/base/text/text.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {

namespace {

constexpr size_t kMostFindings = 6;

void Apply(std::span<const Rule> rules, const SummaryTables& tables,
           std::vector<Finding>& findings) {
  for (const Rule rule : rules) {
    if (std::optional<Finding> finding = rule(tables)) {
      findings.push_back(std::move(*finding));
    }
  }
}

// That a device is well used is no less than a hint.
int Urgency(const Finding& finding) {
  return finding.severity == "error" ? 2 : finding.severity == "warning" ? 1 : 0;
}

bool IsMoreUrgent(const Finding& a, const Finding& b) { return Urgency(a) > Urgency(b); }

bool ComesFirst(const Finding& a, const Finding& b) {
  return Urgency(a) != Urgency(b) ? IsMoreUrgent(a, b) : a.stake_ns > b.stake_ns;
}

struct VerdictRow {
  std::string finding = {};
  std::string_view severity = {};
  std::string evidence = {};
  double value = 0;
  std::string_view unit = {};
  std::string help = {};
  std::optional<std::string> where = {};
  std::optional<int64_t> rank = {};
  std::optional<int64_t> gpu = {};
  std::optional<int64_t> step = {};
  std::optional<int64_t> begin_ns = {};
  std::optional<int64_t> end_ns = {};

  static constexpr TableNames kTable{"verdict", "Verdict"};
  static constexpr ColumnOf<VerdictRow> kColumns[] = {
      {"finding", &VerdictRow::finding, Role::kKey, "What was found."},
      {"severity", &VerdictRow::severity, Role::kDerived, "ok, info, warning or error."},
      {"evidence", &VerdictRow::evidence, Role::kDerived,
       "The numbers it rests on, as in the tables below."},
      {"value", &VerdictRow::value, Unit::kOfRow, Role::kDerived, "The deciding number."},
      {"unit", &VerdictRow::unit, Role::kDerived,
       "Unit of the value: share (0 to 1), ratio or count."},
      {"help", &VerdictRow::help, Role::kDerived, "What to do."},
      {"where", &VerdictRow::where, Role::kDerived,
       "Where its strongest evidence is seen, with times as --begin and --end take them; "
       "missing where it is about the whole."},
      {"rank", &VerdictRow::rank, Role::kDerived, "The rank there."},
      {"gpu", &VerdictRow::gpu, Role::kDerived, "The device there; missing: none, or several."},
      {"step", &VerdictRow::step, Role::kDerived,
       "The step there, where the finding is about a step."},
      {"begin_ns", &VerdictRow::begin_ns, Unit::kNanoseconds, Role::kDerived,
       "When that begins, on the file's own clock."},
      {"end_ns", &VerdictRow::end_ns, Unit::kNanoseconds, Role::kDerived, "When it ends."}};
};

}  // namespace

Table Verdict(const SummaryTables& tables) {
  std::vector<Finding> findings = IdleFindings(tables);
  Apply(CauseRules(), tables, findings);
  Apply(TimeRules(), tables, findings);
  Apply(RankRules(), tables, findings);
  Apply(DeviceRules(), tables, findings);
  Apply(HostRules(), tables, findings);
  std::stable_sort(findings.begin(), findings.end(), ComesFirst);
  findings.resize(std::min(findings.size(), kMostFindings));
  Apply(PhaseRules(), tables, findings);
  Apply(QualityRules(), tables, findings);
  // Errors first: with half of the file gone, the rest of the page is about the other half.
  std::stable_sort(findings.begin(), findings.end(), IsMoreUrgent);
  std::vector<VerdictRow> rows;
  const std::string kernel =
      tables.kernels.rows() == 0 ? "" : std::string(Texts(tables.kernels, "name")[0]);
  for (const Finding& finding : findings) {
    const FindingPlace& place = finding.place;
    const std::string where = WordsOfPlace(tables, place);
    rows.push_back({.finding = finding.title,
                    .severity = finding.severity,
                    .evidence = finding.evidence,
                    .value = finding.value,
                    .unit = finding.unit,
                    .help = finding.help + PriceWords(tables.prices, finding.lever, kernel),
                    .where = where.empty() ? std::nullopt : std::optional(where),
                    .rank = Recorded(place.rank),
                    .gpu = Recorded(place.gpu),
                    .step = Recorded(place.step),
                    .begin_ns = Recorded(place.begin_ns),
                    .end_ns = Recorded(place.end_ns)});
  }
  return MakeTable(rows);
}

namespace {

// Share of device time without a launch from which operators cannot be trusted.
constexpr double kUnlinkedWord = 0.02;
// Share of the span from which start and end of a process are worth a word.
constexpr double kEndsWord = 0.10;

// What was not recorded, and the option that records it where the advice names one.
struct Option {
  std::string_view check;
  std::string_view option;
  std::string_view what;
};
constexpr Option kOptions[] = {{"no-shapes", "record_shapes=True", "shapes of inputs"},
                               {"no-stacks", "with_stack=True", "call stacks"},
                               {"no-steps", "prof.step()", "training steps"}};

std::optional<Finding> Unlinked(const SummaryTables& tables) {
  const QualityRow* worst = nullptr;
  for (const QualityRow& row : tables.quality) {
    if (row.check == "unlinked-device-event" && row.share >= kUnlinkedWord &&
        (worst == nullptr || row.share > worst->share)) {
      worst = &row;
    }
  }
  if (worst == nullptr) {
    return std::nullopt;
  }
  const int64_t rank = worst->rank.value_or(0);
  return Finding{
      "Device work without a recorded launch",
      "warning",
      fmt::format("{}, {} of device time on rank {}", FormatCount(worst->count, "event", "events"),
                  FormatShare(worst->share), rank),
      worst->share,
      "share",
      std::string(worst->help) + " `borescope doctor` has it for each rank.",
      0,
      Lever::kNone,
      {.rank = rank}};
}

// What the run lacks as a whole.
struct FaultWords {
  Diag what;
  std::string_view title;
  std::string_view severity;
  std::string_view help;
};

constexpr FaultWords kUnreadableFiles = {
    Diag::kUnreadableFile, "Files of the run could not be read", "error",
    "All numbers are about the others. Record that rank again, or leave its file out. "
    "`borescope info` lists those that were read."};
constexpr FaultWords kMissingRanks = {
    Diag::kMissingRanks, "Ranks of the job are missing", "warning",
    "Sums are about the ranks that are here, and whoever made them wait may not be among them: "
    "give the files of all ranks. `borescope info` lists those that are here."};
constexpr FaultWords kRanksTwice = {
    Diag::kDuplicateRank, "Several files claim one rank", "warning",
    "They are taken for ranks of their own, so that sums hold each and collectives are not "
    "matched: give one file a rank. Two runs, and two cycles of one profiler, belong in two "
    "folders, which `borescope diff RUN1 RUN2` compares. `borescope info` lists the files with "
    "their ranks."};

template <const FaultWords& kWords>
std::optional<Finding> FaultOfRun(const SummaryTables& tables) {
  const RunFault* const fault = FindFault(tables, kWords.what);
  if (fault == nullptr) {
    return std::nullopt;
  }
  return Finding{std::string(kWords.title),
                 fault->is_error ? "error" : kWords.severity,
                 fault->words,
                 static_cast<double>(fault->count),
                 "count",
                 std::string(kWords.help),
                 0};
}

// A check that failed, on which ranks.
struct FailedCheck {
  std::string name;
  int64_t cases = 0;
  size_t ranks = 0;  // 0: of the run as a whole
  int64_t first_rank = 0;
  bool is_error = false;

  // "truncated-file on rank 1"; the ranks only if there are others.
  std::string Words(bool is_one_of_many) const {
    if (ranks == 0 || !is_one_of_many) {
      return name;
    }
    return ranks == 1 ? fmt::format("{} on rank {}", name, first_rank)
                      : fmt::format("{} on {} ranks", name, ranks);
  }
};

bool IsForOtherRules(std::string_view check) {
  return check == "unlinked-device-event" || check == "no-device-work";
}

// In order of first appearance.
std::vector<FailedCheck> FailedChecks(const std::vector<QualityRow>& quality) {
  std::vector<FailedCheck> checks;
  for (const QualityRow& row : quality) {
    const bool is_error = row.severity == "error";
    if ((!is_error && row.severity != "warning") || IsForOtherRules(row.check)) {
      continue;
    }
    auto check = std::find_if(checks.begin(), checks.end(),
                              [&](const FailedCheck& one) { return one.name == row.check; });
    if (check == checks.end()) {
      check = checks.insert(check, FailedCheck{std::string(row.check)});
    }
    AddSaturatingTo(check->cases, row.count);
    check->is_error |= is_error;
    if (row.rank && check->ranks++ == 0) {
      check->first_rank = *row.rank;
    }
  }
  return checks;
}

// The rest of the doctor's warnings, in one line.
std::optional<Finding> OtherWarnings(const SummaryTables& tables) {
  const std::vector<FailedCheck> checks = FailedChecks(tables.quality);
  if (checks.empty()) {
    return std::nullopt;
  }
  std::vector<std::string> words;
  words.reserve(checks.size());
  int64_t cases = 0;
  bool is_error = false;
  for (const FailedCheck& check : checks) {
    words.push_back(check.Words(tables.overview.size() > 1));
    AddSaturatingTo(cases, check.cases);
    is_error |= check.is_error;
  }
  return Finding{"The recording has faults",
                 is_error ? "error" : "warning",
                 fmt::format("{}: {}", FormatCount(cases, "case", "cases"), fmt::join(words, ", ")),
                 static_cast<double>(cases),
                 "count",
                 "`borescope doctor` explains each.",
                 0};
}

std::optional<Finding> MissingOptions(const SummaryTables& tables) {
  std::vector<std::string_view> options;
  for (const Option& row : kOptions) {
    if (const std::optional<std::string> help = HelpOfCheck(tables.quality, row.check)) {
      options.push_back(Contains(*help, row.option) ? row.option : row.what);
    }
  }
  if (options.empty()) {
    return std::nullopt;
  }
  return Finding{
      "More could be told from a fuller recording",
      "info",
      fmt::format("not used: {}", fmt::join(options, ", ")),
      static_cast<double>(options.size()),
      "count",
      "Turn these on when profiling next time; `borescope doctor` says what each is for.",
      0};
}

// Only for programs that were recorded from their start to their end.
std::optional<Finding> EndsOfProcess(const SummaryTables& tables) {
  const LeftOut left_out = FindLeftOut(tables);
  const int64_t ends_ns = AddSaturating(left_out.process_head_ns, left_out.process_tail_ns);
  const int64_t span_ns = SumOf(tables.breakdown, "span_ns");
  const double share = ShareOf(ends_ns, span_ns);
  if (share < kEndsWord) {
    return std::nullopt;
  }
  return Finding{
      "The process starts and ends in the recording",
      "info",
      fmt::format("{}: {} before the first launch{}, {} after the last device work",
                  PartOf(ends_ns, span_ns), FormatTime(left_out.process_head_ns),
                  left_out.process_head_ns == 0
                      ? ""
                      : MostlyInLongest(tables.idle_causes, "head_ns", kHeadEvent),
                  FormatTime(left_out.process_tail_ns)),
      share,
      "share",
      "This is no idle time, and shares are relative to the rest. `borescope idle` shows it for "
      "each device, and what the host did.",
      0,
      Lever::kNone,
      PlaceOfProcessEnd(tables, left_out.process_head_ns == 0 ? "tail_ns" : "head_ns")};
}

constexpr Rule kQualityRules[] = {FaultOfRun<kUnreadableFiles>,
                                  FaultOfRun<kMissingRanks>,
                                  FaultOfRun<kRanksTwice>,
                                  Unlinked,
                                  OtherWarnings,
                                  EndsOfProcess,
                                  HardlyUsedDevices,
                                  MissingOptions};

}  // namespace

std::optional<std::string> HelpOfCheck(const std::vector<QualityRow>& quality,
                                       std::string_view check) {
  for (const QualityRow& row : quality) {
    if (row.check == check && row.count > 0) {
      return std::string(row.help);
    }
  }
  return std::nullopt;
}

std::vector<int64_t> RanksOfCheck(const std::vector<QualityRow>& quality, std::string_view check) {
  std::vector<int64_t> ranks;
  for (const QualityRow& row : quality) {
    if (row.check == check && row.count > 0 && row.rank) {
      ranks.push_back(*row.rank);
    }
  }
  return ranks;
}

const RunFault* FindFault(const SummaryTables& tables, Diag what) {
  const auto found =
      std::find_if(tables.run_faults.begin(), tables.run_faults.end(),
                   [&](const RunFault& fault) { return fault.what == what && fault.count > 0; });
  return found == tables.run_faults.end() ? nullptr : &*found;
}

std::span<const Rule> QualityRules() { return kQualityRules; }

}  // namespace borescope::internal
