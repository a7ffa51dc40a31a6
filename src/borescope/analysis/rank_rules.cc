// What costs time because ranks differ.
#include <fmt/format.h>

#include <algorithm>

#include "borescope/analysis/describe.h"
#include "borescope/analysis/finish.h"
#include "borescope/analysis/row.h"
#include "borescope/analysis/verdict_rules.h"

namespace borescope {
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
      "The others wait in collectives for the slowest: balance batches, sequence lengths "
      "or embedding shards.",
      high - mean};
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

int64_t SumOfRank(const Table& table, int64_t rank, std::string_view column) {
  int64_t sum = 0;
  for (size_t row = 0; row < table.rows(); ++row) {
    sum = AddSaturating(sum, Ints(table, "rank")[row] == rank ? Ints(table, column)[row] : 0);
  }
  return sum;
}

// What ranks lose to waiting: no more than the communication that nothing else hides. Of the time
// of those that lose any.
struct Loss {
  int64_t lost_ns = 0;
  int64_t span_ns = 0;
};

Loss LossOfOthers(const SummaryTables& tables, int64_t straggler) {
  const Table& ranks = tables.stragglers;
  Loss loss;
  for (size_t row = 0; row < ranks.rows(); ++row) {
    const int64_t rank = Ints(ranks, "rank")[row];
    const int64_t waited = rank == straggler ? 0 : Ints(ranks, "waited_ns")[row];
    const int64_t exposed = SumOfRank(tables.breakdown, rank, "exposed_comm_ns");
    if (std::min(waited, exposed) > 0) {
      loss.lost_ns = AddSaturating(loss.lost_ns, std::min(waited, exposed));
      loss.span_ns = AddSaturating(loss.span_ns, SumOfRank(tables.breakdown, rank, "span_ns"));
    }
  }
  return loss;
}

// "; 2 of 128 ranks loaded": whoever came last of all may not be here.
std::string OfHowMany(const SummaryTables& tables) {
  const RunFault* const missing = FindFault(tables, Diag::kMissingRanks);
  return missing == nullptr ? "" : "; " + missing->words.substr(0, missing->words.find(';'));
}

std::optional<Finding> Straggler(const SummaryTables& tables) {
  const Table& ranks = tables.stragglers;
  if (ranks.rows() < 2 || !IsNotable(ranks) || !AreWhole(tables)) {
    return std::nullopt;
  }
  const Loss loss = LossOfOthers(tables, Ints(ranks, "rank")[0]);
  const double share = ShareOf(loss.lost_ns, loss.span_ns);
  if (share < kWaitingWord) {
    return std::nullopt;
  }
  return Finding{"One rank makes the others wait",
                 share >= kWaitingWarning ? "warning" : "info",
                 fmt::format("rank {}: {}; ranks that waited lost {} of their time on average{}",
                             Ints(ranks, "rank")[0], Texts(ranks, "evidence")[0],
                             FormatShare(share), OfHowMany(tables)),
                 Floats(ranks, "score")[0],
                 "share",
                 "`borescope stragglers` names the collectives. Compare that rank: `borescope "
                 "kernels --by rank` (clocks, uneven work), `borescope idle` (its host, its data).",
                 loss.lost_ns};
}

constexpr Rule kRankRules[] = {RankImbalance, Straggler};

}  // namespace

std::span<const Rule> RankRules() { return kRankRules; }

}  // namespace borescope
