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
    "matched: give one file a rank. Two cycles of one profiler belong in two folders. "
    "`borescope info` lists the files with their ranks."};

template <const FaultWords& kWords>
std::optional<Finding> FaultOfRun(const SummaryTables& tables) {
  const RunFault* const fault = FindFault(tables, kWords.what);
  if (fault == nullptr) {
    return std::nullopt;
  }
  return Finding{std::string(kWords.title),
                 kWords.severity,
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

<<<<<<< HEAD
namespace {

// What costs time because ranks differ.

// By how much the largest rank exceeds the mean.
constexpr double kRankSpread = 1.1;
// Share of its span that a rank loses to waiting, on average over those that do.
constexpr double kWaitingWord = 0.01;
constexpr double kWaitingWarning = 0.05;

// Where the file of a rank ends in the middle, what is missing looks like less work.
bool AreWhole(const SummaryTables& tables) {
  return RanksOfCheck(tables.quality, "truncated-file").empty();
}

std::optional<Finding> RankImbalance(const SummaryTables& tables) {
  const Table& spread = tables.spread;
  size_t row = 0;
  while (row < spread.rows() && Texts(spread, "metric")[row] != "compute") {
    ++row;
  }
  if (row == spread.rows() || !AreWhole(tables)) {
    return std::nullopt;  // one rank only, or parts of some
  }
  const int64_t high = Ints(spread, "max_ns")[row];
  const auto mean = TruncateSaturating(Floats(spread, "mean_ns")[row]);
  const double ratio = ShareOf(high, mean);
  if (ratio < kRankSpread) {
    return std::nullopt;
  }
  return Finding{
      "Ranks compute for different times",
      "warning",
      fmt::format("compute {} on rank {}, {} on rank {}; {:.2f} x the mean of {}",
                  FormatTime(Ints(spread, "min_ns")[row]), Ints(spread, "min_rank")[row],
                  FormatTime(high), Ints(spread, "max_rank")[row], ratio, FormatTime(mean)),
      ratio,
      "ratio",
      AdviceFor(tables,
                "The others wait in collectives for the slowest: balance batches, sequence lengths "
                "or embedding shards.",
                "The others wait for the slowest: balance the work.") +
          " `borescope breakdown` shows each rank.",
      SubtractSaturating(high, mean),
      Lever::kNone,
      {.rank = Ints(spread, "max_rank")[row]}};
}

// Each of n even ranks causes 1 / n of the waiting; where there are few, chance makes one cause
// more.
double NotableScore(size_t ranks) {
  return std::clamp(2.0 / static_cast<double>(ranks), 0.25, 0.75);
}

// Whether the first rank stands out among itself and those that waited for it: the score it would
// have if these were the run, as what other groups wait for has nothing to do with it.
bool IsNotable(const std::vector<StragglerRow>& ranks) {
  const int64_t waiting = ranks.front().waiting_ranks;
  if (waiting == 0) {
    return false;
  }
  const auto concerned = static_cast<size_t>(waiting) + 1;
  const double part = ShareOf(waiting + 1, static_cast<int64_t>(ranks.size()));
  return ranks.front().score >= NotableScore(concerned) * part;
}

std::map<int64_t, int64_t> SumsOfRanks(const Table& table, std::string_view column) {
  const IntValues& ranks = Ints(table, "rank");
  const IntValues& values = Ints(table, column);
  std::map<int64_t, int64_t> sums;
  for (size_t row = 0; row < table.rows(); ++row) {
    AddSaturatingTo(sums[ranks[row]], values[row]);
  }
  return sums;
}

// What ranks lose to waiting, whoever they wait for: of each no more than the communication that
// nothing else hides.
struct Losses {
  int64_t waited_ns = 0;
  int64_t lost_ns = 0;
  int64_t span_ns = 0;  // of those that lose any
  int64_t losers = 0;
};

// The losses of all ranks but the first of `stragglers`.
Losses LossesOfOthers(const SummaryTables& tables) {
  const std::map<int64_t, int64_t> exposed = SumsOfRanks(tables.breakdown, "exposed_comm_ns");
  const std::map<int64_t, int64_t> spans = SumsOfRanks(tables.breakdown, "span_ns");
  Losses losses;
  for (size_t i = 1; i < tables.stragglers.size(); ++i) {
    const int64_t waited_ns = tables.stragglers[i].waited_ns;
    const auto found = exposed.find(tables.stragglers[i].rank);
    const int64_t lost_ns = found == exposed.end() ? 0 : std::min(waited_ns, found->second);
    AddSaturatingTo(losses.waited_ns, waited_ns);
    if (lost_ns > 0) {
      AddSaturatingTo(losses.lost_ns, lost_ns);
      AddSaturatingTo(losses.span_ns, spans.at(found->first));
      ++losses.losers;
    }
  }
  return losses;
}

// What is lost to the first rank of `stragglers`: its part of all waiting.
struct Loss {
  double ns = 0;
  double share = 0;  // of the mean span, for each rank that waits for it
};

Loss LossTo(const SummaryTables& tables) {
  const Losses all = LossesOfOthers(tables);
  const auto waiting = static_cast<double>(tables.stragglers.front().waiting_ranks);
  if (all.losers == 0 || waiting == 0) {
    return {};
  }
  const int64_t caused_ns = tables.stragglers.front().caused_wait_ns;
  const double lost_ns =
      static_cast<double>(all.lost_ns) * std::min(1.0, ShareOf(caused_ns, all.waited_ns));
  const double span_ns = static_cast<double>(all.span_ns) / static_cast<double>(all.losers);
  return {lost_ns, lost_ns / (waiting * span_ns)};
}

// "; 2 of 128 ranks loaded": whoever came last of all may not be here.
std::string OfHowMany(const SummaryTables& tables) {
  const RunFault* const missing = FindFault(tables, Diag::kMissingRanks);
  return missing == nullptr ? "" : "; " + missing->words.substr(0, missing->words.find(';'));
}

// Few of many collectives in which the others waited for a rank; empty if the waiting is in many,
// or may be in each step.
std::string FewWaits(const SummaryTables& tables, int64_t rank) {
  int64_t step_count = 0;
  for (const StepSpreadRow& steps : tables.step_spread) {
    step_count = steps.rank == rank ? std::max(steps.steps, step_count) : step_count;
  }
  for (const LongestWaitRow& wait : tables.longest_waits) {
    if (wait.rank == rank && wait.few > 0 && (step_count == 0 || wait.few < step_count)) {
      return fmt::format("{} of {} collectives {} {} of it", wait.few, wait.collectives,
                         wait.few == 1 ? "has" : "have", FormatTime(wait.few_ns));
    }
  }
  return "";
}

std::optional<Finding> Straggler(const SummaryTables& tables) {
  if (tables.stragglers.size() < 2 || !IsNotable(tables.stragglers) || !AreWhole(tables)) {
    return std::nullopt;
  }
  const StragglerRow& slowest = tables.stragglers.front();
  const auto [lost_ns, share] = LossTo(tables);
  if (share < kWaitingWord) {
    return std::nullopt;
  }
  const std::string few = FewWaits(tables, slowest.rank);
  const std::string_view once =
      few.empty()
          ? ""
          : "It came late once, not always: the profile starts at different times on ranks, "
            "or a checkpoint, a log or the loading of code; --begin and --end leave that "
            "out. ";
  return Finding{
      "One rank makes the others wait",
      share >= kWaitingWarning ? "warning" : "info",
      fmt::format("rank {}: {}{}{}; ranks that waited lost {} of their time on average{}",
                  slowest.rank, slowest.evidence, few.empty() ? "" : "; ", few, FormatShare(share),
                  OfHowMany(tables)),
      slowest.score,
      "share",
      std::string(once) +
          "`borescope stragglers` names the collectives. Compare that rank: `borescope "
          "kernels --by rank` (clocks, uneven work), `borescope idle` (its host, its data).",
      TruncateSaturating(lost_ns),
      Lever::kNone,
      PlaceOfStraggler(tables, slowest.rank)};
}

constexpr Rule kRankRules[] = {RankImbalance, Straggler};

}  // namespace

int64_t LostToStraggler(const SummaryTables& tables) {
  const std::optional<Finding> straggler = Straggler(tables);
  return straggler.has_value() ? straggler->stake_ns : 0;
}

std::span<const Rule> RankRules() { return kRankRules; }

=======
>>>>>>> waits-s51
}  // namespace borescope::internal
