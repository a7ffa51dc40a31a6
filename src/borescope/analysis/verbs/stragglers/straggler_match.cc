#include "borescope/analysis/verbs/stragglers/straggler_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/rank_set.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/verbs/stragglers/clock_evidence.h"
#include "borescope/analysis/verbs/stragglers/collective_rates.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

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
};

int64_t ValueOr(const Column& column, size_t row, int64_t otherwise) {
  return column.IsMissing(row) ? otherwise : std::get<IntValues>(column.values)[row];
}

// The keys of all ranks, numbered alike where they are alike.
class Keys {
 public:
  explicit Keys(const Table& table) : table_(table) {
    const IntValues& rank = Ints(table, "rank");
    std::map<Content, uint32_t> numbers;
    for (size_t row = 0; row < table.rows(); ++row) {
      first_row_.try_emplace(rank[row], row);
      const auto next = static_cast<uint32_t>(row_of_.size());
      const auto [at, is_new] = numbers.try_emplace(ContentOf(row), next);
      if (is_new) {
        row_of_.push_back(row);
        by_sequence_.push_back(Ints(table, "by_sequence")[row] != 0 ? 1 : 0);
      }
      number_.push_back(at->second);
    }
  }

  // The number of the key in this row.
  uint32_t Number(uint32_t row) const { return number_[row]; }
  // The row of the table with a rank's key. REQUIRES: the rank has it.
  uint32_t RowOf(int64_t rank, int64_t key) const {
    return static_cast<uint32_t>(first_row_.at(rank) + static_cast<size_t>(key));
  }
  bool BySequence(uint32_t number) const { return by_sequence_[number] != 0; }
  int64_t GroupSize(uint32_t number) const {
    return ValueOr(*table_.Find("group_size"), row_of_[number], kMissing);
  }
  const std::string& Text(uint32_t row, std::string_view column) const {
    return Texts(table_, column)[row];
  }

 private:
  using Content =
      std::tuple<std::string_view, std::string_view, int64_t, int64_t, std::string_view,
                 std::string_view, std::string_view, std::string_view, int64_t, int64_t>;

  // Kernel and site differ between ranks where a collective is chosen or wrapped differently, which
  // only matters where nothing better tells calls apart.
  Content ContentOf(size_t row) const {
    const bool by_sequence = Ints(table_, "by_sequence")[row] != 0;
    const auto text = [&](std::string_view column) {
      return by_sequence ? std::string_view() : std::string_view(Texts(table_, column)[row]);
    };
    return {Texts(table_, "group")[row],
            Texts(table_, "members")[row],
            ValueOr(*table_.Find("group_size"), row, kMissing),
            ValueOr(*table_.Find("lane"), row, kMissing),
            Texts(table_, "collective")[row],
            text("kernel"),
            text("site"),
            text("dtype"),
            ValueOr(*table_.Find("elems"), row, kMissing),
            Ints(table_, "by_sequence")[row]};
  }

  const Table& table_;
  std::map<int64_t, size_t> first_row_;  // by rank; keys are numbered from 0 in each
  std::vector<uint32_t> number_;         // per row
  std::vector<size_t> row_of_;           // per number
  std::vector<char> by_sequence_;        // per number
};

using Call = MatchedCall;

// The calls as recorded, in any order.
std::vector<Call> ReadCalls(const Table& table, const Keys& keys,
                            const std::map<int64_t, uint32_t>& score_of) {
  const IntValues& rank = Ints(table, "rank");
  const IntValues& key = Ints(table, "key");
  const IntValues& position = Ints(table, "position");
  const IntValues& count = Ints(table, "count");
  const IntValues& dur = Ints(table, "dur_ns");
  const IntValues& begin = Ints(table, "begin_ns");
  const IntValues& end = Ints(table, "end_ns");
  const Column& bytes = *table.Find("bytes");
  const Column& step = *table.Find("step");
  std::vector<Call> calls;
  calls.reserve(table.rows());
  for (size_t row = 0; row < table.rows(); ++row) {
    const uint32_t key_row = keys.RowOf(rank[row], key[row]);
    calls.push_back({keys.Number(key_row), key_row, score_of.at(rank[row]),
                     ValueOr(step, row, kMissing), position[row], count[row], dur[row], begin[row],
                     end[row], ValueOr(bytes, row, kMissing)});
  }
  return calls;
}

void Join(const Call& call, Call& joined) {
  AddSaturatingTo(joined.dur_ns, call.dur_ns);
  joined.begin_ns = std::min(joined.begin_ns, call.begin_ns);
  joined.end_ns = std::max(joined.end_ns, call.end_ns);
  joined.bytes = joined.bytes == kMissing || call.bytes == kMissing
                     ? kMissing
                     : AddSaturating(joined.bytes, call.bytes);
}

// Calls of one collective stand together, in rank order. Several of one rank become one.
std::vector<Call> SortedCalls(std::vector<Call> calls, const Keys& keys) {
  const auto order = [&](const Call& call) {
    return std::tuple(call.key, keys.BySequence(call.key) ? 0 : call.step, call.position,
                      call.score);
  };
  std::stable_sort(calls.begin(), calls.end(),
                   [&](const Call& a, const Call& b) { return order(a) < order(b); });
  size_t last = 0;
  for (size_t i = 1; i < calls.size(); ++i) {
    if (order(calls[i]) == order(calls[last])) {
      Join(calls[i], calls[last]);
    } else {
      calls[++last] = calls[i];
    }
  }
  calls.resize(std::min(calls.size(), last + 1));
  return calls;
}

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
  Scorer(const Keys& keys, std::vector<Score>& scores)
      : keys_(keys), scores_(scores), late_(NewLate()) {}

  // The calls of one collective, one a rank, if it is certain that they are.
  void Add(std::span<const Call> calls, bool is_certain) {
    const int64_t group_size = keys_.GroupSize(calls.front().key);
    const auto count = static_cast<int64_t>(calls.size());
    // More ranks than the group has: several groups share one name, and which is which is unknown.
    const bool is_matched =
        is_certain && count > 1 && (group_size == kMissing || count <= group_size);
    for (const Call& call : calls) {
      ++(is_matched ? scores_[call.score].matched : scores_[call.score].unmatched);
    }
    if (is_matched) {
      AddWaiting(calls);
      const uint32_t key = calls.front().key_row;
      rates_.Add({keys_.Text(key, "collective"), keys_.Text(key, "group"), group_size}, calls);
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
    RankSet waiting(scores_.size());
    for (const Call& call : calls) {
      const int64_t waited_ns = call.dur_ns - shortest.dur_ns;
      if (waited_ns == 0) {
        ++last_ranks;
      } else {
        waiting.Add(call.score);
      }
      waiting_ns = AddSaturating(waiting_ns, waited_ns);
      int64_t& all = scores_[call.score].waited_ns;
      all = AddSaturating(all, waited_ns);
    }
    if (waiting_ns > 0) {
      Blame(calls, shortest.dur_ns, {waiting, waiting_ns, last_ranks});
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
        AddSaturatingTo(score.clocks.caused_ns, caused.Next());
        AddSaturatingTo(score.clocks.shown_ns, shown.Next());
        ++(are_together ? score.clocks.together : score.clocks.apart);
      }
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

  const Keys& keys_;
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

// Two calls that are counted together, if of one rank: from the start or from the end.
bool AreInOnePlace(const Keys& keys, const Call& a, const Call& b) {
  return a.key == b.key && (a.step == b.step || keys.BySequence(a.key)) &&
         (a.position < 0) == (b.position < 0);
}

template <class Predicate>  // of the first call and another
size_t RunLength(std::span<const Call> calls, Predicate belongs) {
  size_t length = 1;
  while (length < calls.size() && belongs(calls[0], calls[length])) {
    ++length;
  }
  return length;
}

void ScorePlace(std::span<const Call> calls, Scorer& scorer) {
  const bool is_certain = std::all_of(calls.begin(), calls.end(), [&](const Call& call) {
    return call.count == calls.front().count;
  });
  while (!calls.empty()) {
    const size_t length =
        RunLength(calls, [](const Call& a, const Call& b) { return a.position == b.position; });
    scorer.Add(calls.first(length), is_certain);
    calls = calls.subspan(length);
  }
}

Error NoCollectives(std::string_view what) {
  return {ErrorCode::kCorrupt, fmt::format("its collectives are none of one rank: {}", what)};
}

}  // namespace

Result<void> CheckStragglers(std::span<const Table> ranks_keys_calls) {
  if (ranks_keys_calls[0].rows() != 1) {
    return NoCollectives("it has more or less than one row for the rank");
  }
  const IntValues& keys = Ints(ranks_keys_calls[1], "key");
  for (size_t row = 0; row < keys.size(); ++row) {
    if (keys[row] != static_cast<int64_t>(row)) {
      return NoCollectives("keys are not numbered from 0");
    }
  }
  const Table& calls = ranks_keys_calls[2];
  for (size_t row = 0; row < calls.rows(); ++row) {
    CheckStopAt(row);
    const int64_t key = Ints(calls, "key")[row];
    if (key < 0 || key >= static_cast<int64_t>(keys.size())) {
      return NoCollectives("a call has a key that is not there");
    }
    if (Ints(calls, "dur_ns")[row] < 0) {
      return NoCollectives("a call has a negative length");
    }
  }
  return {};
}

Result<Tables> ScoreStragglers(Tables ranks_keys_calls) {
  std::vector<Score> scores = ScoresOf(ranks_keys_calls[0]);
  if (scores.size() < 2) {
    return Error{ErrorCode::kMissingData,
                 "stragglers are found by comparing ranks, and this is one rank; give the whole "
                 "run, for example: borescope stragglers run/"};
  }
  std::map<int64_t, uint32_t> score_of;
  for (const Score& score : scores) {
    score_of.emplace(score.rank, static_cast<uint32_t>(score_of.size()));
  }
  const Keys keys(ranks_keys_calls[1]);
  std::vector<Call> read = ReadCalls(ranks_keys_calls[2], keys, score_of);
  ranks_keys_calls.pop_back();  // the largest of them
  const std::vector<Call> calls = SortedCalls(std::move(read), keys);
  Scorer scorer(keys, scores);
  for (std::span<const Call> rest(calls); !rest.empty();) {
    const size_t length =
        RunLength(rest, [&](const Call& a, const Call& b) { return AreInOnePlace(keys, a, b); });
    ScorePlace(rest.first(length), scorer);
    rest = rest.subspan(length);
  }
  return Tables{StragglerTable(scores), scorer.TakeLate(), scorer.Rates()};
}

}  // namespace borescope::internal
