// What costs time because ranks differ.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/verbs/summary/verdict_rules.h"
#include "borescope/analysis/verbs/summary/verdict_words.h"
#include "borescope/base/saturating.h"

namespace borescope::internal {
namespace {

// By how much the largest rank exceeds the mean.
constexpr double kRankSpread = 1.1;
// Share of its span that a rank loses to waiting, on average over those that do.
constexpr double kWaitingWord = 0.01;
constexpr double kWaitingWarning = 0.05;

// Of a rank whose file ends in the middle, what is missing looks like less work.
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
  const auto mean = static_cast<int64_t>(Floats(spread, "mean_ns")[row]);
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

// Of n even ranks each causes 1 / n of the waiting; chance makes one of a few cause more.
double NotableScore(size_t ranks) {
  return std::clamp(2.0 / static_cast<double>(ranks), 0.25, 0.75);
}

// Whether the first rank stands out among itself and those that waited for it: the score it would
// have if these were the run, as what other groups wait for has nothing to do with it.
bool IsNotable(const Table& ranks) {
  const int64_t waiting = Ints(ranks, "waiting_ranks")[0];
  if (waiting == 0) {
    return false;
  }
  const auto concerned = static_cast<size_t>(waiting) + 1;
  const double part = ShareOf(waiting + 1, static_cast<int64_t>(ranks.rows()));
  return Floats(ranks, "score")[0] >= NotableScore(concerned) * part;
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

// Of all but the first rank of `stragglers`.
Losses LossesOfOthers(const SummaryTables& tables) {
  const std::map<int64_t, int64_t> exposed = SumsOfRanks(tables.breakdown, "exposed_comm_ns");
  const std::map<int64_t, int64_t> spans = SumsOfRanks(tables.breakdown, "span_ns");
  Losses losses;
  for (size_t row = 1; row < tables.stragglers.rows(); ++row) {
    const int64_t waited_ns = Ints(tables.stragglers, "waited_ns")[row];
    const auto found = exposed.find(Ints(tables.stragglers, "rank")[row]);
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
  const auto waiting = static_cast<double>(Ints(tables.stragglers, "waiting_ranks")[0]);
  if (all.losers == 0 || waiting == 0) {
    return {};
  }
  const int64_t caused_ns = Ints(tables.stragglers, "caused_wait_ns")[0];
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
  const Table& waits = tables.longest_waits;
  const Table& steps = tables.step_spread;
  int64_t step_count = 0;
  for (size_t row = 0; row < steps.rows(); ++row) {
    step_count = Ints(steps, "rank")[row] == rank ? Ints(steps, "steps")[row] : step_count;
  }
  for (size_t row = 0; row < waits.rows(); ++row) {
    const int64_t few = Ints(waits, "few")[row];
    if (Ints(waits, "rank")[row] == rank && few > 0 && (step_count == 0 || few < step_count)) {
      return fmt::format("{} of {} collectives {} {} of it", few, Ints(waits, "collectives")[row],
                         few == 1 ? "has" : "have", FormatTime(Ints(waits, "few_ns")[row]));
    }
  }
  return "";
}

std::optional<Finding> Straggler(const SummaryTables& tables) {
  const Table& ranks = tables.stragglers;
  if (ranks.rows() < 2 || !IsNotable(ranks) || !AreWhole(tables)) {
    return std::nullopt;
  }
  const auto [lost_ns, share] = LossTo(tables);
  if (share < kWaitingWord) {
    return std::nullopt;
  }
  const std::string few = FewWaits(tables, Ints(ranks, "rank")[0]);
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
                  Ints(ranks, "rank")[0], Texts(ranks, "evidence")[0], few.empty() ? "" : "; ", few,
                  FormatShare(share), OfHowMany(tables)),
      Floats(ranks, "score")[0],
      "share",
      std::string(once) +
          "`borescope stragglers` names the collectives. Compare that rank: `borescope "
          "kernels --by rank` (clocks, uneven work), `borescope idle` (its host, its data).",
      static_cast<int64_t>(lost_ns),
      Lever::kNone,
      PlaceOfStraggler(tables, Ints(ranks, "rank")[0])};
}

constexpr Rule kRankRules[] = {RankImbalance, Straggler};

}  // namespace

int64_t LostToStraggler(const SummaryTables& tables) {
  const std::optional<Finding> straggler = Straggler(tables);
  return straggler.has_value() ? straggler->stake_ns : 0;
}

std::span<const Rule> RankRules() { return kRankRules; }

}  // namespace borescope::internal
