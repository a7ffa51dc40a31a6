#include "borescope/analysis/verbs/stragglers/straggler_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/rank_set.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/matching/match_calls.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/measures/time/covered_time.h"
#include "borescope/analysis/verbs/stragglers/clock_evidence.h"
#include "borescope/analysis/verbs/stragglers/collective_rates.h"

namespace borescope::internal {
namespace {

// The wait for a rank that was longest, on the clock of its file: from when the other rank would
// have begun to wait to the end of the call.
struct LongestWait {
  int64_t ns = 0;
  int64_t step = kMissing;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};

// What is added up for one rank.
struct Score {
  explicit Score(size_t ranks) : waited_for_it(ranks) {}

  RankSet waited_for_it;
  int64_t rank = 0;
  int64_t recorded = 0;  // communication kernels
  int64_t unused = 0;    // of kinds that do not end together
  int64_t matched = 0;
  int64_t unmatched = 0;
  int64_t times_last = 0;
  int64_t waited_ns = 0;
  ClockEvidence clocks;  // with the waiting that it caused
  LongestWait longest;
  LargestEvents waits;  // what it caused, by collective
};

using Call = MatchedCall;

Table NewLate() {
  Table table{"late_collectives", "Collectives by the waiting for the last rank", {}, 10};
  AddString(table, "collective", Role::kKey, "What was asked for.");
  AddStepKeyOrNone(table);
  AddInt(table, "position", Unit::kNone, Role::kKey,
         "Sequence number where recorded, else the place among its kind in the step, from 0; "
         "before the first step counted back from -1.");
  AddInt(table, "last_rank", Unit::kNone, Role::kDerived,
         "The rank that came last, of several the first.");
  AddInt(table, "caused_wait_ns", Unit::kNanoseconds, Role::kSum,
         "Time the other ranks waited for it, all together.");
  AddInt(table, "ranks", Unit::kCount, Role::kDerived, "Ranks whose recordings hold it.");
  AddString(table, "group", Role::kKey, "Name of the process group; missing when not recorded.");
  AddString(table, "called_from", Role::kKey,
            "The nearest operator or annotation around the launch.");
  AddString(table, "kernel", Role::kKey, "Name of the kernel as recorded.");
  AddInt(table, "begin_skew_ns", Unit::kNanoseconds, Role::kDerived,
         "From the first to the last begin on any rank, by the clocks of the files.");
  AddInt(table, "end_skew_ns", Unit::kNanoseconds, Role::kDerived,
         "From the first to the last end: about 0 if the clocks agree.");
  return table;
}

// The waiting in one collective.
struct Waiting {
  const RankSet& ranks;
  int64_t all_ns;
  int64_t longest_ns;  // of one rank
  int64_t last_ranks;  // how many came last together
};

// Equal parts of a sum; what does not divide is in the first.
class Shares {
 public:
  Shares(int64_t sum, int64_t parts) : part_(sum / parts), rest_(sum % parts) {}
  int64_t Next() { return part_ + std::exchange(rest_, 0); }

 private:
  int64_t part_;
  int64_t rest_;
};

class Scorer {
 public:
  Scorer(const CollectiveKeys& keys, std::vector<Score>& scores)
      : keys_(keys), scores_(scores), late_(NewLate()) {}

  // The calls of one collective, one a rank, if it is certain that they are.
  void Add(std::span<const Call> calls, bool is_matched) {
    for (const Call& call : calls) {
      ++(is_matched ? scores_[call.score].matched : scores_[call.score].unmatched);
    }
    if (is_matched) {
      AddWaiting(calls);
      const uint32_t key = calls.front().key_row;
      rates_.Add({keys_.Text(key, "collective"), keys_.Text(key, "group"),
                  keys_.GroupSize(calls.front().key)},
                 calls);
    }
  }

  Table TakeLate() { return Sorted(late_, "caused_wait_ns"); }
  Table Rates() const { return rates_.Build(); }

 private:
  void AddWaiting(std::span<const Call> calls) {
    const auto by_length = [](const Call& a, const Call& b) { return a.dur_ns < b.dur_ns; };
    const Call& shortest = *std::min_element(calls.begin(), calls.end(), by_length);
    int64_t waiting_ns = 0;
    int64_t last_ranks = 0;
    int64_t longest_ns = 0;
    RankSet waiting(scores_.size());
    for (const Call& call : calls) {
      const int64_t waited_ns = call.dur_ns - shortest.dur_ns;
      if (waited_ns == 0) {
        ++last_ranks;
      } else {
        waiting.Add(call.score);
      }
      waiting_ns = AddSaturating(waiting_ns, waited_ns);
      longest_ns = std::max(longest_ns, waited_ns);
      int64_t& all = scores_[call.score].waited_ns;
      all = AddSaturating(all, waited_ns);
    }
    if (waiting_ns > 0) {
      Blame(calls, shortest.dur_ns, {waiting, waiting_ns, longest_ns, last_ranks});
      PushLate(calls, scores_[shortest.score].rank, waiting_ns);
    }
  }

  // Ranks that came last together share what they caused.
  void Blame(std::span<const Call> calls, int64_t shortest_ns, const Waiting& waiting) {
    Shares caused(waiting.all_ns, waiting.last_ranks);
    Shares shown(WaitingShownByClocks(calls, shortest_ns), waiting.last_ranks);
    const bool are_together = AreTogether(calls);
    for (const Call& call : calls) {
      if (call.dur_ns == shortest_ns) {
        Score& score = scores_[call.score];
        ++score.times_last;
        score.waited_for_it.Add(waiting.ranks);
        const int64_t caused_ns = caused.Next();
        AddSaturatingTo(score.clocks.caused_ns, caused_ns);
        score.waits.Add(caused_ns);
        AddSaturatingTo(score.clocks.shown_ns, shown.Next());
        ++(are_together ? score.clocks.together : score.clocks.apart);
        KeepLongest(call, waiting.longest_ns, score.longest);
      }
    }
  }

  static void KeepLongest(const Call& call, int64_t waited_ns, LongestWait& longest) {
    if (waited_ns > longest.ns) {
      longest = {waited_ns, call.step, SubtractSaturating(call.begin_ns, waited_ns), call.end_ns};
    }
  }

  // Named as the first rank names it.
  void PushLate(std::span<const Call> calls, int64_t last_rank, int64_t waiting_ns) {
    const Call& first = calls.front();
    const uint32_t key = first.key_row;
    Row row(late_);
    row.Text(keys_.Text(key, "collective")).MaybeInt(first.step).Int(first.position);
    row.Int(last_rank).Int(waiting_ns).Count(calls.size());
    row.MaybeText(keys_.Text(key, "group")).MaybeText(keys_.Text(key, "site"));
    row.Text(keys_.Text(key, "kernel"));
    const Participation times(calls);
    row.Int(SubtractSaturating(times.last_begin_ns, times.first_begin_ns));
    row.Int(SubtractSaturating(times.last_end_ns, times.first_end_ns));
  }

  const CollectiveKeys& keys_;
  std::vector<Score>& scores_;
  Table late_;
  CollectiveRates rates_;
};

// What the clocks say against it.
std::string DoubtsOf(const ClockEvidence& clocks) {
  if (clocks.verdict() != ClockVerdict::kContradict) return "";
  return fmt::format(
      ", judged by the lengths of the calls; the recorded clocks do not show it (by them {})",
      FormatTime(clocks.shown_ns));
}

std::string Evidence(const Score& score, double share) {
  if (score.matched == 0 && score.unmatched > 0) {
    return fmt::format("none of its {} collectives could be matched with another rank",
                       FormatCount(score.unmatched));
  }
  if (score.matched == 0) {
    return score.unused == 0 ? std::string("it has no collectives here")
                             : fmt::format(
                                   "nothing to compare: all its {} communication kernels "
                                   "are of kinds that ranks leave one by one",
                                   FormatCount(score.unused));
  }
  if (score.clocks.caused_ns == 0) {
    return fmt::format("nobody waited for it in {} collectives; it waited {} for others",
                       FormatCount(score.matched), FormatTime(score.waited_ns));
  }
  return fmt::format(
      "last in {} of {} collectives; the others waited {} for it ({} of all waiting){}",
      FormatCount(score.times_last), FormatCount(score.matched), FormatTime(score.clocks.caused_ns),
      FormatShare(share), DoubtsOf(score.clocks));
}

Table StragglerTable(const std::vector<Score>& scores) {
  Table table{"stragglers", "Ranks by the waiting they cause", {}};
  AddRankKey(table);
  AddFloat(table, "score", Unit::kShare, Role::kDerived,
           "Share of all waiting that was for this rank; even ranks have 1 / ranks each; missing "
           "where nothing was matched.");
  AddInt(table, "collectives", Unit::kCount, Role::kDerived,
         "Collectives found on other ranks too; only of kinds that end on all ranks together.");
  AddInt(table, "times_last", Unit::kCount, Role::kDerived, "In how many of them it came last.");
  AddInt(table, "caused_wait_ns", Unit::kNanoseconds, Role::kDerived,
         "Time the other ranks waited for it in these, all together.")
      .hints.tone = Tone::kSync;
  AddInt(table, "waiting_ranks", Unit::kCount, Role::kDerived, "Ranks that waited for it.");
  AddInt(table, "waited_ns", Unit::kNanoseconds, Role::kDerived,
         "Time it waited itself, for others.");
  AddInt(table, "clock_wait_ns", Unit::kNanoseconds, Role::kDerived,
         "The part of caused_wait_ns that the recorded clocks show as well: the other ranks were "
         "in the collective before this one began.");
  AddString(table, "clocks", Role::kDerived,
            "agree: they show at least half of it; contradict: less; apart: they cannot show any, "
            "as most of these collectives would have ended on one rank before they began on "
            "another. Missing if nobody waited.");
  AddInt(table, "unmatched", Unit::kCount, Role::kDerived,
         "Collectives found on no other rank, or not for certain: recordings that are cut, ranks "
         "that are missing, calls that only some ranks make.");
  AddInt(table, "unused", Unit::kCount, Role::kDerived,
         "Communication that does not end on all ranks together: broadcasts, point to point.");
  AddString(table, "evidence", Role::kDerived, "The same in words.");
  const int64_t all_ns = std::accumulate(
      scores.begin(), scores.end(), int64_t{0},
      [](int64_t sum, const Score& score) { return AddSaturating(sum, score.clocks.caused_ns); });
  for (const Score& score : scores) {
    const double share = ShareOf(score.clocks.caused_ns, all_ns);
    Row row(table);
    row.Int(score.rank);
    score.matched == 0 ? row.Missing() : row.Float(share);
    row.Int(score.matched).Int(score.times_last);
    row.Int(score.clocks.caused_ns)
        .Int(score.waited_for_it.size())
        .Int(score.waited_ns)
        .Int(score.clocks.shown_ns)
        .MaybeText(ClockVerdictName(score.clocks.verdict()))
        .Int(score.unmatched)
        .Int(score.unused);
    row.Text(Evidence(score, share));
  }
  return Sorted(table, "score");
}

Table LongestWaits(const std::vector<Score>& scores) {
  Table table{"longest_waits", "The longest wait for each rank", {}};
  AddRankKey(table);
  AddStepKeyOrNone(table);
  AddInt(table, "begin_ns", Unit::kNanoseconds, Role::kKey, "When the other rank had to wait.");
  AddInt(table, "end_ns", Unit::kNanoseconds, Role::kKey, "When the collective ended.");
  AddInt(table, "collectives", Unit::kCount, Role::kDerived, "Matched collectives of the rank.");
  AddInt(table, "few", Unit::kCount, Role::kDerived,
         "Of these one to three that make up most of the waiting for it; 0: there are none.");
  AddInt(table, "few_ns", Unit::kNanoseconds, Role::kDerived, "What these make up.");
  for (const Score& score : scores) {
    if (score.longest.ns > 0) {
      LargestEvents waits = score.waits;
      waits.count = std::max(waits.count, score.matched);
      const FewEvents few = FindFew(waits);
      Row row(table);
      row.Int(score.rank).MaybeInt(score.longest.step);
      row.Int(score.longest.begin_ns).Int(score.longest.end_ns);
      row.Int(waits.count).Count(few.events).Int(few.ns);
    }
  }
  return table;
}

std::vector<Score> ScoresOf(const Table& ranks) {
  std::vector<Score> scores;
  for (size_t row = 0; row < ranks.rows(); ++row) {
    Score score(ranks.rows());
    score.rank = Ints(ranks, "rank")[row];
    score.recorded = Ints(ranks, "collectives")[row];
    score.unused = Ints(ranks, "unused")[row];
    scores.push_back(score);
  }
  return scores;
}

}  // namespace

Result<Tables> ScoreStragglers(Tables ranks_keys_calls) {
  std::vector<Score> scores = ScoresOf(ranks_keys_calls[0]);
  if (scores.size() < 2) {
    return Error{ErrorCode::kMissingData,
                 "stragglers are found by comparing ranks, and this is one rank",
                 "give the whole run, for example: borescope stragglers run/"};
  }
  const CollectiveKeys keys(ranks_keys_calls[1]);
  const std::vector<Call> calls =
      SortedCalls(ranks_keys_calls[2], keys, PlacesOfRanks(ranks_keys_calls[0]));
  ranks_keys_calls.pop_back();  // the largest of them
  Scorer scorer(keys, scores);
  ForEachCollective(calls, keys, [&](std::span<const Call> collective, bool is_matched) {
    scorer.Add(collective, is_matched);
  });
  return Tables{StragglerTable(scores), scorer.TakeLate(), scorer.Rates(), LongestWaits(scores)};
}

}  // namespace borescope::internal
