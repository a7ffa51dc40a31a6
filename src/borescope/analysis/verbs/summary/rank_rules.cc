// What it costs that ranks differ: those that make others wait, those that compute longer, and
// waiting that no rank is to blame for.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/measures/rank_clocks/clock_estimate.h"
#include "borescope/analysis/verbs/summary/call_times.h"
#include "borescope/analysis/verbs/summary/evidence.h"
#include "borescope/analysis/verbs/summary/summary_tables.h"
#include "borescope/analysis/verbs/summary/verdict.h"
#include "borescope/base/saturating.h"

namespace borescope::internal {

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

// In any order.
using RankNumbers = std::vector<int64_t>;

bool IsOneOf(const RankNumbers& ranks, int64_t rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

// The losses of all ranks but the late ones.
Losses LossesOfOthers(const SummaryTables& tables, const RankNumbers& late) {
  const std::map<int64_t, int64_t> exposed = SumsOfRanks(tables.breakdown, "exposed_comm_ns");
  const std::map<int64_t, int64_t> spans = SumsOfRanks(tables.breakdown, "span_ns");
  Losses losses;
  for (const StragglerRow& one : tables.stragglers) {
    if (IsOneOf(late, one.rank)) {
      continue;
    }
    const auto found = exposed.find(one.rank);
    const int64_t lost_ns = found == exposed.end() ? 0 : std::min(one.waited_ns, found->second);
    AddSaturatingTo(losses.waited_ns, one.waited_ns);
    if (lost_ns > 0) {
      AddSaturatingTo(losses.lost_ns, lost_ns);
      AddSaturatingTo(losses.span_ns, spans.at(found->first));
      ++losses.losers;
    }
  }
  return losses;
}

int64_t CausedBy(const SummaryTables& tables, const RankNumbers& late) {
  int64_t caused_ns = 0;
  for (const StragglerRow& one : tables.stragglers) {
    AddSaturatingTo(caused_ns, IsOneOf(late, one.rank) ? one.caused_wait_ns : 0);
  }
  return caused_ns;
}

int64_t CausedByAll(const SummaryTables& tables) {
  int64_t caused_ns = 0;
  for (const StragglerRow& one : tables.stragglers) {
    AddSaturatingTo(caused_ns, one.caused_wait_ns);
  }
  return caused_ns;
}

// What is lost to late ranks: their part of all waiting.
struct Loss {
  double ns = 0;
  double share = 0;  // of the mean span, for each rank that waits for them
};

Loss LossTo(const SummaryTables& tables, const RankNumbers& late, int64_t waiting_ranks) {
  const Losses all = LossesOfOthers(tables, late);
  if (all.losers == 0 || waiting_ranks == 0) {
    return {};
  }
  const double lost_ns = static_cast<double>(all.lost_ns) *
                         std::min(1.0, ShareOf(CausedBy(tables, late), all.waited_ns));
  const double span_ns = static_cast<double>(all.span_ns) / static_cast<double>(all.losers);
  return {lost_ns, lost_ns / (static_cast<double>(waiting_ranks) * span_ns)};
}

// Whether the rank of `one` is in the collectives that the ranks wait in for the first of
// `stragglers`. A rank of a group that nobody is late in hardly waits, either, and is late for
// nobody.
bool MayBeLateWithFirst(const SummaryTables& tables, const StragglerRow& one) {
  constexpr double kLastAtTimes = 0.1;
  const StragglerRow& first = tables.stragglers.front();
  const auto others = static_cast<int64_t>(tables.stragglers.size()) - 1;
  return first.waiting_ranks == others ||
         ShareOf(one.caused_wait_ns, first.caused_wait_ns) >= kLastAtTimes;
}

// The ranks that are late together: half of the ranks at most that hardly wait themselves and for
// which nearly all of the waiting is. Which of them is the last may be a matter of a microsecond;
// bringing that one up to the others gains nothing while the rest are late. Empty: it is none, or
// one.
RankNumbers RanksLateTogether(const SummaryTables& tables) {
  constexpr double kNearlyAll = 0.8;
  constexpr double kHardlyWaits = 0.2;  // of what those that wait for them do
  std::vector<StragglerRow> ranks = tables.stragglers;
  std::stable_sort(ranks.begin(), ranks.end(), [](const StragglerRow& a, const StragglerRow& b) {
    return a.waited_ns < b.waited_ns;
  });
  int64_t others_waited_ns = 0;
  for (size_t i = ranks.size(); i-- > ranks.size() / 2;) {
    AddSaturatingTo(others_waited_ns, ranks[i].waited_ns);
  }
  const auto others = static_cast<int64_t>(ranks.size() - ranks.size() / 2);
  RankNumbers late;
  for (size_t i = 0; i < ranks.size() / 2; ++i) {
    const double waits =
        ShareOf(ranks[i].waited_ns, others_waited_ns / std::max<int64_t>(1, others));
    if (others_waited_ns > 0 && waits <= kHardlyWaits && MayBeLateWithFirst(tables, ranks[i])) {
      late.push_back(ranks[i].rank);
    }
  }
  const bool are_all_of_it = ShareOf(CausedBy(tables, late), CausedByAll(tables)) >= kNearlyAll;
  return late.size() < 2 || !are_all_of_it ? RankNumbers() : late;
}

// "4, 5, 6 and 7"; of many the first.
std::string WordsOfRanks(std::vector<int64_t> ranks) {
  constexpr size_t kShownRanksLate = 16;
  std::sort(ranks.begin(), ranks.end());
  std::string words;
  const size_t shown = std::min(ranks.size(), kShownRanksLate);
  for (size_t i = 0; i < shown; ++i) {
    const bool is_last = i + 1 == ranks.size();
    words += fmt::format("{}{}", i == 0 ? "" : is_last ? " and " : ", ", ranks[i]);
  }
  return shown == ranks.size() ? words : fmt::format("{} and {} more", words, ranks.size() - shown);
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

// What a late rank does longer than the others, by its sums: "; it idles 20.2 ms, the others 0.3
// ms (median)". Empty where neither explains at least half of what one rank waited for it.
std::string WhatItDoesLonger(const SummaryTables& tables, int64_t rank, int64_t waited_ns) {
  constexpr std::pair<std::string_view, std::string_view> kParts[] = {{"compute_ns", "computes"},
                                                                      {"idle_ns", "idles"}};
  std::string words;
  int64_t longest_ns = waited_ns / 2;
  for (const auto& [column, does] : kParts) {
    std::vector<int64_t> others;
    int64_t own_ns = 0;
    for (const auto& [one, ns] : SumsOfRanks(tables.breakdown, column)) {
      if (one == rank) {
        own_ns = ns;
      } else {
        others.push_back(ns);
      }
    }
    const int64_t others_ns = others.empty() ? own_ns : MedianOf(others);
    const int64_t longer_ns = SubtractSaturating(own_ns, others_ns);
    if (longer_ns >= longest_ns && longer_ns > 0) {
      longest_ns = longer_ns;
      words = fmt::format("; it {} {}, the others {} (median)", does, FormatTime(own_ns),
                          FormatTime(others_ns));
    }
  }
  return words;
}

std::optional<Finding> LateTogether(const SummaryTables& tables) {
  const RankNumbers late = AreWhole(tables) ? RanksLateTogether(tables) : RankNumbers();
  if (late.empty()) {
    return std::nullopt;
  }
  const auto [lost_ns, share] = LossTo(tables, late, LossesOfOthers(tables, late).losers);
  if (share < kWaitingWord) {
    return std::nullopt;
  }
  const int64_t caused_ns = CausedBy(tables, late);
  const double score = ShareOf(caused_ns, CausedByAll(tables));
  return Finding{
      "Several ranks make the others wait",
      share >= kWaitingWarning ? "warning" : "info",
      fmt::format("ranks {} are late about equally: the others waited {} for them ({} of all "
                  "waiting); ranks that waited lost {} of their time on average{}",
                  WordsOfRanks(late), FormatTime(caused_ns), FormatShare(score), FormatShare(share),
                  OfHowMany(tables)),
      score,
      "share",
      "To bring one of them up to the others gains nothing while the rest are late: look for what "
      "these ranks have in common (a node, clocks or cooling of its devices, a part of the model "
      "or of the data). `borescope stragglers` names the collectives, `borescope kernels --by "
      "rank` compares their kernels, `borescope idle` their hosts.",
      TruncateSaturating(lost_ns),
      Lever::kNone,
      PlaceOfStraggler(tables, tables.stragglers.front().rank)};
}

std::optional<Finding> Straggler(const SummaryTables& tables) {
  if (tables.stragglers.size() < 2 || !IsNotable(tables.stragglers) || !AreWhole(tables) ||
      !RanksLateTogether(tables).empty()) {
    return std::nullopt;
  }
  const StragglerRow& slowest = tables.stragglers.front();
  const auto [lost_ns, share] = LossTo(tables, {slowest.rank}, slowest.waiting_ranks);
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
  const std::string longer =
      slowest.waiting_ranks == 0 || !few.empty()
          ? ""
          : WhatItDoesLonger(tables, slowest.rank, slowest.caused_wait_ns / slowest.waiting_ranks);
  return Finding{
      "One rank makes the others wait",
      share >= kWaitingWarning ? "warning" : "info",
      fmt::format("rank {}: {}{}{}; ranks that waited lost {} of their time on average{}{}",
                  slowest.rank, slowest.evidence, few.empty() ? "" : "; ", few, FormatShare(share),
                  longer, OfHowMany(tables)),
      slowest.score,
      "share",
      std::string(once) +
          "`borescope stragglers` names the collectives. Compare that rank: `borescope "
          "kernels --by rank` (clocks, uneven work), `borescope idle` (its host, its data).",
      TruncateSaturating(lost_ns),
      Lever::kNone,
      PlaceOfStraggler(tables, slowest.rank)};
}

int64_t StakeOf(const std::optional<Finding>& finding) {
  return finding.has_value() ? finding->stake_ns : 0;
}

// Waiting that no rank here is to blame for. How much of it is exposed is not known from lengths:
// it is taken to be as exposed as all communication.

// Shares of the span from which it is worth a word, and worth a warning.
constexpr double kExposedWaitingWord = 0.03;
constexpr double kExposedWaitingWarning = 0.10;
// Shares of the time inside of collectives.
constexpr double kNotableWaiting = 0.25;
constexpr double kMostOfCollectives = 0.5;

// `part_ns` of the exposed communication that no late rank explains, as of all communication.
int64_t ExposedPart(const SummaryTables& tables, int64_t part_ns) {
  const int64_t all_ns = AddSaturating(SumCalls(tables, CallSort::kCollective).all_ns,
                                       SumCalls(tables, CallSort::kPointToPoint).all_ns);
  const int64_t exposed_ns =
      SubtractSaturating(SumOf(tables.breakdown, "exposed_comm_ns"), LostToLateRanks(tables));
  const double share = std::min(1.0, ShareOf(part_ns, all_ns));
  return TruncateSaturating(static_cast<double>(std::max<int64_t>(0, exposed_ns)) * share);
}

// One to three collectives that take most of the time have a finding of their own.
bool IsInFewCalls(const SummaryTables& tables) {
  return FindFewOfMany(tables, kExposedCommPlace).has_value();
}

std::optional<Finding> WaitingFinding(const SummaryTables& tables, std::string_view title,
                                      int64_t waiting_ns, std::string evidence, std::string help) {
  const int64_t stake_ns = ExposedPart(tables, waiting_ns);
  const int64_t span_ns = ObservedSpan(tables);
  const double share = ShareOf(stake_ns, span_ns);
  if (share < kExposedWaitingWord) {
    return std::nullopt;
  }
  return Finding{std::string(title),
                 share >= kExposedWaitingWarning ? "warning" : "info",
                 fmt::format("{}; about {} are exposed", evidence, PartOf(stake_ns, span_ns)),
                 share,
                 "share",
                 std::move(help),
                 stake_ns,
                 Lever::kNone,
                 PlaceOfWork(tables, kExposedCommPlace)};
}

// Ranks that wait for each other in turn.
std::optional<Finding> WaitingInTurn(const SummaryTables& tables) {
  if (tables.stragglers.size() < 2 || !AreWhole(tables) || IsInFewCalls(tables)) {
    return std::nullopt;
  }
  const CollectiveWaiting inside = WaitingInCollectives(tables);
  const StragglerRow& first = tables.stragglers.front();
  RankNumbers late = RanksLateTogether(tables);
  if (late.empty()) {
    late = {first.rank};
  }
  const bool is_said = LostToLateRanks(tables) > 0;
  const int64_t said_ns = is_said ? CausedBy(tables, late) : 0;
  const int64_t waiting_ns = SubtractSaturating(inside.waiting_ns, said_ns);
  const int64_t all_ns = SubtractSaturating(inside.all_ns, said_ns);
  if (waiting_ns <= 0 || ShareOf(waiting_ns, all_ns) < kNotableWaiting) {
    return std::nullopt;
  }
  return WaitingFinding(
      tables, "Ranks wait for each other in collectives", waiting_ns,
      fmt::format("{} inside of collectives is waiting for {} rank that comes last{}",
                  PartOf(waiting_ns, all_ns), is_said ? "another" : "the",
                  is_said ? ""
                          : fmt::format(", which is another one each time: the most, {}, is for "
                                        "rank {}",
                                        FormatShare(first.score), first.rank)),
      AdviceFor(tables,
                "Ranks are late in turn: balance what each gets in a step (batches by tokens, "
                "sequences of like length, experts), or look for hosts that are late at times. "
                "Larger buckets and overlap do not shorten it.",
                "Ranks are late in turn: balance what each gets in a step, or look for hosts that "
                "are late at times. Overlap does not shorten it.") +
          " `borescope waits` says who was late and why.");
}

// Where files of ranks are missing and calls of one size last very different times. Even the
// fastest may have waited, so that all exposed communication is in question.
std::optional<Finding> WaitingForAbsentRanks(const SummaryTables& tables) {
  constexpr double kNotableExcess = 0.25;
  const int64_t world_size = WorldSize(tables);
  const auto here = static_cast<int64_t>(tables.overview.size());
  if (here >= world_size || !AreWhole(tables) || IsInFewCalls(tables)) {
    return std::nullopt;
  }
  const CallSums sums = SumCalls(tables, CallSort::kCollective);
  const CollectiveWaiting inside = WaitingInCollectives(tables);
  const int64_t waiting_ns = SubtractSaturating(sums.excess_ns(), inside.waiting_ns);
  const bool is_in_turn = ShareOf(inside.waiting_ns, inside.all_ns) >= kMostOfCollectives;
  if (is_in_turn || !sums.HasSlowCalls() || ShareOf(waiting_ns, sums.all_ns) < kNotableExcess) {
    return std::nullopt;
  }
  return WaitingFinding(
      tables, "Collectives seem to wait for ranks that are not here", sums.all_ns,
      fmt::format("of {} in collectives {} is more than if each were as fast as the fastest of its "
                  "size ({}; the slowest {}); {} of {} ranks {} here",
                  FormatTime(sums.all_ns), FormatTime(waiting_ns), FormatTime(sums.fastest_ns),
                  FormatTime(sums.slowest_ns), here, world_size, here == 1 ? "is" : "are"),
      "A collective lasts until the last rank has come, and how much of that is waiting cannot be "
      "told without that rank: give the files of all ranks, of which `borescope stragglers` and "
      "`borescope waits` find it. A network disturbed by other traffic would look alike.");
}

// Receives last until the other rank has sent. Even the fastest may have waited.
std::optional<Finding> WaitingForSenders(const SummaryTables& tables) {
  const CallSums sums = SumCalls(tables, CallSort::kPointToPoint);
  if (!sums.IsMostlyExcess() || IsInFewCalls(tables)) {
    return std::nullopt;
  }
  return WaitingFinding(
      tables, "Receives wait for the ranks that send", sums.all_ns,
      fmt::format("sends and receives take {}, and {} if each is as fast as the fastest of its "
                  "size ({}; the slowest {})",
                  FormatTime(sums.all_ns), FormatTime(sums.at_best_ns), FormatTime(sums.fastest_ns),
                  FormatTime(sums.slowest_ns)),
      "A receive lasts until the other rank has sent. In a pipeline of p stages that is its "
      "bubble, with m micro-batches (p - 1) / (m + p - 1) of a step: more micro-batches, "
      "interleaved stages, or stages of equal length shorten it. Larger buckets and overlap do "
      "not. `borescope timeline` shows the stages one below the other.");
}

constexpr Rule kRankRules[] = {RankImbalance, Straggler,         LateTogether,
                               WaitingInTurn, WaitingForSenders, WaitingForAbsentRanks};

}  // namespace

int64_t LostToLateRanks(const SummaryTables& tables) {
  return AddSaturating(StakeOf(Straggler(tables)), StakeOf(LateTogether(tables)));
}

int64_t LostToWaiting(const SummaryTables& tables) {
  int64_t lost_ns = LostToLateRanks(tables);
  for (const Rule rule : {WaitingInTurn, WaitingForSenders, WaitingForAbsentRanks}) {
    AddSaturatingTo(lost_ns, StakeOf(rule(tables)));
  }
  return lost_ns;
}

std::span<const Rule> RankRules() { return kRankRules; }

}  // namespace borescope::internal
