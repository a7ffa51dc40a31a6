#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/verbs/summary/left_out.h"
#include "borescope/analysis/verbs/summary/verdict_rules.h"
#include "borescope/analysis/verbs/summary/verdict_words.h"
#include "borescope/base/saturating.h"
#include "borescope/base/text/text.h"

namespace borescope::internal {
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
  const Table& quality = tables.quality;
  const auto& shares = std::get<FloatValues>(quality.Find("share")->values);
  std::optional<size_t> worst;
  for (size_t row = 0; row < quality.rows(); ++row) {
    if (Texts(quality, "check")[row] == "unlinked-device-event" && shares[row] >= kUnlinkedWord &&
        (!worst.has_value() || shares[row] > shares[*worst])) {
      worst = row;
    }
  }
  if (!worst.has_value()) {
    return std::nullopt;
  }
  return Finding{"Device work without a recorded launch",
                 "warning",
                 fmt::format("{}, {} of device time on rank {}",
                             FormatCount(Ints(quality, "count")[*worst], "event", "events"),
                             FormatShare(shares[*worst]), Ints(quality, "rank")[*worst]),
                 shares[*worst],
                 "share",
                 Texts(quality, "help")[*worst] + " `borescope doctor` has it for each rank.",
                 0,
                 Lever::kNone,
                 {.rank = Ints(quality, "rank")[*worst]}};
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
std::vector<FailedCheck> FailedChecks(const Table& quality) {
  const StringValues& names = Texts(quality, "check");
  const StringValues& severities = Texts(quality, "severity");
  const IntValues& counts = Ints(quality, "count");
  const Column& ranks = *quality.Find("rank");
  std::vector<FailedCheck> checks;
  for (size_t row = 0; row < quality.rows(); ++row) {
    const bool is_error = severities[row] == "error";
    if ((!is_error && severities[row] != "warning") || IsForOtherRules(names[row])) {
      continue;
    }
    auto check = std::find_if(checks.begin(), checks.end(),
                              [&](const FailedCheck& one) { return one.name == names[row]; });
    if (check == checks.end()) {
      check = checks.insert(check, FailedCheck{std::string(names[row])});
    }
    AddSaturatingTo(check->cases, counts[row]);
    check->is_error |= is_error;
    if (!ranks.IsMissing(row) && check->ranks++ == 0) {
      check->first_rank = std::get<IntValues>(ranks.values)[row];
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
    words.push_back(check.Words(tables.overview.rows() > 1));
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

// Of programs that were recorded from their start to their end.
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

std::optional<std::string> HelpOfCheck(const Table& quality, std::string_view check) {
  for (size_t row = 0; row < quality.rows(); ++row) {
    if (Texts(quality, "check")[row] == check && Ints(quality, "count")[row] > 0) {
      return Texts(quality, "help")[row];
    }
  }
  return std::nullopt;
}

std::vector<int64_t> RanksOfCheck(const Table& quality, std::string_view check) {
  const StringValues& checks = Texts(quality, "check");
  const IntValues& counts = Ints(quality, "count");
  const Column& rank = *quality.Find("rank");
  std::vector<int64_t> ranks;
  for (size_t row = 0; row < quality.rows(); ++row) {
    if (checks[row] == check && counts[row] > 0 && !rank.IsMissing(row)) {
      ranks.push_back(std::get<IntValues>(rank.values)[row]);
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
