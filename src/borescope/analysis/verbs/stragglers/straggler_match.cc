#include "borescope/analysis/verbs/stragglers/straggler_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/collectives.h"
#include "borescope/analysis/measures/matching/match_calls.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/measures/time/covered_time.h"
#include "borescope/base/saturating.h"
#include "borescope/table/table.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {

namespace {

// Whether the recorded clocks confirm what the lengths of collectives say. The rule of `stragglers`
// compares no clocks: the rank with the shortest kernel came last. If that is so, and the clocks of
// the ranks agree, then its kernel also begins last, as much later as the others waited.

enum class ClockVerdict : uint8_t {
  kNothing,     // nobody waited
  kAgree,       // the clocks show at least half of the waiting
  kContradict,  // they show less
  kApart,       // they cannot show any: most collectives would have ended on one rank before they
                // began on another
};

// Sums over the collectives in which a rank came last.
struct ClockEvidence {
  int64_t caused_ns = 0;  // by lengths
  int64_t shown_ns = 0;   // the part of it that clocks show
  int64_t together = 0;   // collectives in which the ranks are together
  int64_t apart = 0;

  ClockVerdict verdict() const;
};

std::string_view ClockVerdictName(ClockVerdict verdict) {
  constexpr std::string_view kNames[] = {"", "agree", "contradict", "apart"};
  return kNames[static_cast<size_t>(verdict)];
}

// The waiting in a collective that its begins show: of every rank the time from its begin to that
// of the last one among those with the shortest call, at most what it waited by the lengths.
int64_t WaitingShownByClocks(std::span<const MatchedCall> calls, int64_t shortest_ns) {
  int64_t last_ns = std::numeric_limits<int64_t>::min();
  for (const MatchedCall& call : calls) {
    if (call.dur_ns == shortest_ns) last_ns = std::max(last_ns, call.begin_ns);
  }
  int64_t shown_ns = 0;
  for (const MatchedCall& call : calls) {
    const int64_t earlier_ns = SubtractSaturating(last_ns, call.begin_ns);
    const int64_t waited_ns = call.dur_ns - shortest_ns;
    AddSaturatingTo(shown_ns, std::clamp<int64_t>(earlier_ns, 0, waited_ns));
  }
  return shown_ns;
}

// Whether all ranks are in the collective at one moment, as they must be.
bool AreTogether(std::span<const MatchedCall> calls) {
  const Participation times(calls);
  return times.last_begin_ns <= times.first_end_ns;
}

ClockVerdict ClockEvidence::verdict() const {
  if (caused_ns == 0) return ClockVerdict::kNothing;
  if (apart > together) return ClockVerdict::kApart;
  return shown_ns >= caused_ns / 2 ? ClockVerdict::kAgree : ClockVerdict::kContradict;
}

// Bus bandwidth without waiting. A collective moves its data in the time in which all ranks are in
// it, and that is the shortest participation of all: every other rank waited first. The raw
// rate, of all calls with their waiting, is shown beside it.

class CollectiveRates {
 public:
  struct Kind {
    std::string collective;  // CollectiveKindName
    std::string group;
    int64_t group_size;  // kMissing: not recorded

    friend bool operator<(const Kind& a, const Kind& b) {
      return std::tie(a.collective, a.group, a.group_size) <
             std::tie(b.collective, b.group, b.group_size);
    }
  };

  // One collective, with the calls of at least two ranks. The result does not depend on the order
  // of collectives.
  void Add(const Kind& kind, std::span<const MatchedCall> calls);
  Table Build() const;

 private:
  struct Sums {
    int64_t count = 0;
    TimeCovered time;    // of all calls; covered: of known size
    int64_t bytes = 0;   // of all calls of known size
    TimeCovered shared;  // the shortest of each collective; covered: of known size
    int64_t shared_bytes = 0;
    int64_t waited_ns = 0;
    int64_t begin_skew_ns = 0;
    int64_t most_begin_skew_ns = 0;
    int64_t end_skew_ns = 0;
    int64_t most_end_skew_ns = 0;
  };

  std::map<Kind, Sums> kinds_;
};

struct BandwidthRow {
  std::string_view collective = {};
  std::optional<std::string_view> group = {};
  std::optional<int64_t> group_size = {};
  int64_t count = 0;
  int64_t total_ns = 0;
  int64_t shared_ns = 0;
  int64_t waited_ns = 0;
  std::optional<double> wait_share = {};
  std::optional<double> algo_gbps = {};
  std::optional<double> shared_algo_gbps = {};
  std::optional<double> bus_gbps = {};
  std::optional<double> shared_bus_gbps = {};
  std::optional<double> coverage = {};
  double mean_begin_skew_ns = 0;
  int64_t max_begin_skew_ns = 0;
  double mean_end_skew_ns = 0;
  int64_t max_end_skew_ns = 0;

  static constexpr TableNames kTable{"collective_bandwidth",
                                     "Bandwidth of collectives with and without waiting"};
  static constexpr ColumnOf<BandwidthRow> kColumns[] = {
      {"collective", &BandwidthRow::collective, Role::kKey, "What was asked for."},
      {"group", &BandwidthRow::group, Role::kKey,
       "Name of the process group; missing when not recorded."},
      {"group_size", &BandwidthRow::group_size, Unit::kCount, Role::kKey,
       "Number of ranks in the group."},
      {"count", &BandwidthRow::count, Unit::kCount, Role::kDerived,
       "Collectives found on two ranks or more."},
      {"total_ns", &BandwidthRow::total_ns, Unit::kNanoseconds, Role::kDerived,
       "Sum of the durations on all ranks, waiting included.", InTone(Tone::kComm)},
      {"shared_ns", &BandwidthRow::shared_ns, Unit::kNanoseconds, Role::kDerived,
       "Sum of the shortest duration of each collective: all ranks are in it only that long."},
      {"waited_ns", &BandwidthRow::waited_ns, Unit::kNanoseconds, Role::kDerived,
       "Part of total_ns beyond the shortest duration: the ranks waited for the last one."},
      {"wait_share", &BandwidthRow::wait_share, Unit::kShare, Role::kDerived,
       "waited_ns / total_ns."},
      {"algo_gbps", &BandwidthRow::algo_gbps, Unit::kGigabytesPerSecond, Role::kDerived,
       "Bytes / time of all calls with their waiting, as in collectives."},
      {"shared_algo_gbps", &BandwidthRow::shared_algo_gbps, Unit::kGigabytesPerSecond,
       Role::kDerived, "The same of the shortest call of each collective: free of waiting."},
      {"bus_gbps", &BandwidthRow::bus_gbps, Unit::kGigabytesPerSecond, Role::kDerived,
       "Bus bandwidth of all calls with their waiting; missing if the group size is not known."},
      {"shared_bus_gbps", &BandwidthRow::shared_bus_gbps, Unit::kGigabytesPerSecond, Role::kDerived,
       "The same of the shortest call of each collective.", InTone(Tone::kComm)},
      {"coverage", &BandwidthRow::coverage, Unit::kShare, Role::kDerived,
       "Part of total_ns in calls whose message size is known. Below 0.9 there are no rates."},
      {"mean_begin_skew_ns", &BandwidthRow::mean_begin_skew_ns, Unit::kNanoseconds, Role::kDerived,
       "From the first to the last begin on any rank, by the clocks of the files; mean."},
      {"max_begin_skew_ns", &BandwidthRow::max_begin_skew_ns, Unit::kNanoseconds, Role::kDerived,
       "The same at most."},
      {"mean_end_skew_ns", &BandwidthRow::mean_end_skew_ns, Unit::kNanoseconds, Role::kDerived,
       "From the first to the last end; mean. Ranks leave together, so that this is about how "
       "far their clocks differ."},
      {"max_end_skew_ns", &BandwidthRow::max_end_skew_ns, Unit::kNanoseconds, Role::kDerived,
       "The same at most."}};
};

// By the time of the calls of known size.
std::optional<double> RateOf(int64_t bytes, const TimeCovered& time, std::optional<double> factor) {
  const bool is_known = factor.has_value() && time.is_enough() && time.covered_ns > 0;
  return is_known ? std::optional(ShareOf(bytes, time.covered_ns) * *factor) : std::nullopt;
}

int64_t WaitingIn(std::span<const MatchedCall> calls, int64_t shortest_ns) {
  int64_t waited_ns = 0;
  for (const MatchedCall& call : calls) {
    AddSaturatingTo(waited_ns, call.dur_ns - shortest_ns);
  }
  return waited_ns;
}

void CollectiveRates::Add(const Kind& kind, std::span<const MatchedCall> calls) {
  Sums& sums = kinds_[kind];
  const MatchedCall* shortest = &calls.front();
  for (const MatchedCall& call : calls) {
    sums.time.Add(call.dur_ns, call.bytes != kMissing);
    if (call.bytes != kMissing) AddSaturatingTo(sums.bytes, call.bytes);
    if (call.dur_ns < shortest->dur_ns) shortest = &call;
  }
  ++sums.count;
  sums.shared.Add(shortest->dur_ns, shortest->bytes != kMissing);
  if (shortest->bytes != kMissing) AddSaturatingTo(sums.shared_bytes, shortest->bytes);
  const Participation times(calls);
  const int64_t begin_ns = SubtractSaturating(times.last_begin_ns, times.first_begin_ns);
  const int64_t end_ns = SubtractSaturating(times.last_end_ns, times.first_end_ns);
  AddSaturatingTo(sums.begin_skew_ns, begin_ns);
  AddSaturatingTo(sums.end_skew_ns, end_ns);
  sums.most_begin_skew_ns = std::max(sums.most_begin_skew_ns, begin_ns);
  sums.most_end_skew_ns = std::max(sums.most_end_skew_ns, end_ns);
  AddSaturatingTo(sums.waited_ns, WaitingIn(calls, shortest->dur_ns));
}

Table CollectiveRates::Build() const {
  std::vector<BandwidthRow> rows;
  for (const auto& [kind, sums] : kinds_) {
    const auto factor = BusFactor(KindOfRecordedName(kind.collective), kind.group_size);
    BandwidthRow& row = rows.emplace_back(
        BandwidthRow{.collective = kind.collective,
                     .group = Recorded(std::string_view(kind.group)),
                     .group_size = Recorded(kind.group_size),
                     .count = sums.count,
                     .total_ns = sums.time.all_ns,
                     .shared_ns = sums.shared.all_ns,
                     .waited_ns = sums.waited_ns,
                     .algo_gbps = RateOf(sums.bytes, sums.time, 1),
                     .shared_algo_gbps = RateOf(sums.shared_bytes, sums.shared, 1),
                     .bus_gbps = RateOf(sums.bytes, sums.time, factor),
                     .shared_bus_gbps = RateOf(sums.shared_bytes, sums.shared, factor),
                     .mean_begin_skew_ns = ShareOf(sums.begin_skew_ns, sums.count),
                     .max_begin_skew_ns = sums.most_begin_skew_ns,
                     .mean_end_skew_ns = ShareOf(sums.end_skew_ns, sums.count),
                     .max_end_skew_ns = sums.most_end_skew_ns});
    if (sums.time.all_ns > 0) {
      row.wait_share = ShareOf(sums.waited_ns, sums.time.all_ns);
      row.coverage = ShareOf(sums.time.covered_ns, sums.time.all_ns);
    }
  }
  return Sorted(MakeTable(rows), "total_ns");
}

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

struct LateRow {
  std::string_view collective = {};
  std::optional<int64_t> step = {};
  int64_t position = 0;
  int64_t last_rank = 0;
  int64_t caused_wait_ns = 0;
  int64_t ranks = 0;
  std::optional<std::string_view> group = {};
  std::optional<std::string_view> called_from = {};
  std::string_view kernel = {};
  int64_t begin_skew_ns = 0;
  int64_t end_skew_ns = 0;

  static constexpr TableNames kTable{"late_collectives",
                                     "Collectives by the waiting for the last rank", 10};
  static constexpr ColumnOf<LateRow> kColumns[] = {
      {"collective", &LateRow::collective, Role::kKey, "What was asked for."},
      {"step", &LateRow::step, Role::kKey, kStepOrNoneDoc},
      {"position", &LateRow::position, Role::kKey,
       "Sequence number where recorded, else the place among its kind in the step, from 0; "
       "before the first step counted back from -1."},
      {"last_rank", &LateRow::last_rank, Role::kDerived,
       "The rank that came last, of several the first."},
      {"caused_wait_ns", &LateRow::caused_wait_ns, Unit::kNanoseconds, Role::kSum,
       "Time the other ranks waited for it, all together."},
      {"ranks", &LateRow::ranks, Unit::kCount, Role::kDerived, "Ranks whose recordings hold it."},
      {"group", &LateRow::group, Role::kKey,
       "Name of the process group; missing when not recorded."},
      {"called_from", &LateRow::called_from, Role::kKey,
       "The nearest operator or annotation around the launch."},
      {"kernel", &LateRow::kernel, Role::kKey, "Name of the kernel as recorded."},
      {"begin_skew_ns", &LateRow::begin_skew_ns, Unit::kNanoseconds, Role::kDerived,
       "From the first to the last begin on any rank, by the clocks of the files."},
      {"end_skew_ns", &LateRow::end_skew_ns, Unit::kNanoseconds, Role::kDerived,
       "From the first to the last end: about 0 if the clocks agree."}};
};

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
  Scorer(const CollectiveKeys& keys, std::vector<Score>& scores) : keys_(keys), scores_(scores) {}

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

  Table TakeLate() const { return Sorted(MakeTable(late_), "caused_wait_ns"); }
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
    const Participation times(calls);
    late_.push_back({.collective = keys_.Text(key, "collective"),
                     .step = Recorded(first.step),
                     .position = first.position,
                     .last_rank = last_rank,
                     .caused_wait_ns = waiting_ns,
                     .ranks = static_cast<int64_t>(calls.size()),
                     .group = Recorded(std::string_view(keys_.Text(key, "group"))),
                     .called_from = Recorded(std::string_view(keys_.Text(key, "site"))),
                     .kernel = keys_.Text(key, "kernel"),
                     .begin_skew_ns = SubtractSaturating(times.last_begin_ns, times.first_begin_ns),
                     .end_skew_ns = SubtractSaturating(times.last_end_ns, times.first_end_ns)});
  }

  const CollectiveKeys& keys_;
  std::vector<Score>& scores_;
  std::vector<LateRow> late_;
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

struct StragglerTableRow {
  int64_t rank = 0;
  std::optional<double> score = {};
  int64_t collectives = 0;
  int64_t times_last = 0;
  int64_t caused_wait_ns = 0;
  int64_t waiting_ranks = 0;
  int64_t waited_ns = 0;
  int64_t clock_wait_ns = 0;
  std::optional<std::string_view> clocks = {};
  int64_t unmatched = 0;
  int64_t unused = 0;
  std::string evidence = {};

  static constexpr TableNames kTable{"stragglers", "Ranks by the waiting they cause"};
  static constexpr ColumnOf<StragglerTableRow> kColumns[] = {
      {"rank", &StragglerTableRow::rank, Role::kKey, kRankDoc},
      {"score", &StragglerTableRow::score, Unit::kShare, Role::kDerived,
       "Share of all waiting that was for this rank; even ranks have 1 / ranks each; missing "
       "where nothing was matched."},
      {"collectives", &StragglerTableRow::collectives, Unit::kCount, Role::kDerived,
       "Collectives found on other ranks too; only of kinds that end on all ranks together."},
      {"times_last", &StragglerTableRow::times_last, Unit::kCount, Role::kDerived,
       "In how many of them it came last."},
      {"caused_wait_ns", &StragglerTableRow::caused_wait_ns, Unit::kNanoseconds, Role::kDerived,
       "Time the other ranks waited for it in these, all together.", InTone(Tone::kSync)},
      {"waiting_ranks", &StragglerTableRow::waiting_ranks, Unit::kCount, Role::kDerived,
       "Ranks that waited for it."},
      {"waited_ns", &StragglerTableRow::waited_ns, Unit::kNanoseconds, Role::kDerived,
       "Time it waited itself, for others."},
      {"clock_wait_ns", &StragglerTableRow::clock_wait_ns, Unit::kNanoseconds, Role::kDerived,
       "The part of caused_wait_ns that the recorded clocks show as well: the other ranks were "
       "in the collective before this one began."},
      {"clocks", &StragglerTableRow::clocks, Role::kDerived,
       "agree: they show at least half of it; contradict: less; apart: they cannot show any, "
       "as most of these collectives would have ended on one rank before they began on "
       "another. Missing if nobody waited."},
      {"unmatched", &StragglerTableRow::unmatched, Unit::kCount, Role::kDerived,
       "Collectives found on no other rank, or not for certain: recordings that are cut, ranks "
       "that are missing, calls that only some ranks make."},
      {"unused", &StragglerTableRow::unused, Unit::kCount, Role::kDerived,
       "Communication that does not end on all ranks together: broadcasts, point to point."},
      {"evidence", &StragglerTableRow::evidence, Role::kDerived, "The same in words."}};
};

Table StragglerTable(const std::vector<Score>& scores) {
  const int64_t all_ns = std::accumulate(
      scores.begin(), scores.end(), int64_t{0},
      [](int64_t sum, const Score& score) { return AddSaturating(sum, score.clocks.caused_ns); });
  std::vector<StragglerTableRow> rows;
  for (const Score& score : scores) {
    const double share = ShareOf(score.clocks.caused_ns, all_ns);
    StragglerTableRow& row = rows.emplace_back(
        StragglerTableRow{.rank = score.rank,
                          .collectives = score.matched,
                          .times_last = score.times_last,
                          .caused_wait_ns = score.clocks.caused_ns,
                          .waiting_ranks = score.waited_for_it.size(),
                          .waited_ns = score.waited_ns,
                          .clock_wait_ns = score.clocks.shown_ns,
                          .clocks = Recorded(ClockVerdictName(score.clocks.verdict())),
                          .unmatched = score.unmatched,
                          .unused = score.unused,
                          .evidence = Evidence(score, share)});
    if (score.matched != 0) row.score = share;
  }
  return Sorted(MakeTable(rows), "score");
}

struct LongestWaitOfRank {
  int64_t rank = 0;
  std::optional<int64_t> step = {};
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t collectives = 0;
  int64_t few = 0;
  int64_t few_ns = 0;

  static constexpr TableNames kTable{"longest_waits", "The longest wait for each rank"};
  static constexpr ColumnOf<LongestWaitOfRank> kColumns[] = {
      {"rank", &LongestWaitOfRank::rank, Role::kKey, kRankDoc},
      {"step", &LongestWaitOfRank::step, Role::kKey, kStepOrNoneDoc},
      {"begin_ns", &LongestWaitOfRank::begin_ns, Unit::kNanoseconds, Role::kKey,
       "When the other rank had to wait."},
      {"end_ns", &LongestWaitOfRank::end_ns, Unit::kNanoseconds, Role::kKey,
       "When the collective ended."},
      {"collectives", &LongestWaitOfRank::collectives, Unit::kCount, Role::kDerived,
       "Matched collectives of the rank."},
      {"few", &LongestWaitOfRank::few, Unit::kCount, Role::kDerived,
       "Of these one to three that make up most of the waiting for it; 0: there are none."},
      {"few_ns", &LongestWaitOfRank::few_ns, Unit::kNanoseconds, Role::kDerived,
       "What these make up."}};
};

Table LongestWaits(const std::vector<Score>& scores) {
  std::vector<LongestWaitOfRank> rows;
  for (const Score& score : scores) {
    if (score.longest.ns > 0) {
      LargestEvents waits = score.waits;
      waits.count = std::max(waits.count, score.matched);
      const FewEvents few = FindFew(waits);
      rows.push_back({.rank = score.rank,
                      .step = Recorded(score.longest.step),
                      .begin_ns = score.longest.begin_ns,
                      .end_ns = score.longest.end_ns,
                      .collectives = waits.count,
                      .few = static_cast<int64_t>(few.events),
                      .few_ns = few.ns});
    }
  }
  return MakeTable(rows);
}

// What is read of the ranks that FindRankCalls makes.
struct RankOfCalls {
  int64_t rank = 0;
  int64_t collectives = 0;
  int64_t unused = 0;

  static constexpr ColumnOf<RankOfCalls> kColumns[] = {{"rank", &RankOfCalls::rank},
                                                       {"collectives", &RankOfCalls::collectives},
                                                       {"unused", &RankOfCalls::unused}};
};

std::vector<Score> ScoresOf(const Table& table) {
  const std::vector<RankOfCalls> ranks = ReadRows<RankOfCalls>(table);
  std::vector<Score> scores;
  for (const RankOfCalls& rank : ranks) {
    Score score(ranks.size());
    score.rank = rank.rank;
    score.recorded = rank.collectives;
    score.unused = rank.unused;
    scores.push_back(score);
  }
  return scores;
}

}  // namespace

Result<Tables> ScoreStragglers(Tables mapped) {
  const Table& ranks = GetTable(mapped, "ranks");
  std::vector<Score> scores = ScoresOf(ranks);
  if (scores.size() < 2) {
    return Error{ErrorCode::kMissingData,
                 "stragglers are found by comparing ranks, and this is one rank",
                 "give the whole run, for example: borescope stragglers run/"};
  }
  const CollectiveKeys keys(GetTable(mapped, "keys"));
  Table& of_calls = GetTable(mapped, "calls");
  const std::vector<Call> calls = SortedCalls(of_calls, keys, PlacesOfRanks(ranks));
  of_calls = Table();  // the largest of them
  Scorer scorer(keys, scores);
  ForEachCollective(calls, keys, [&](std::span<const Call> collective, bool is_matched) {
    scorer.Add(collective, is_matched);
  });
  return Tables{StragglerTable(scores), scorer.TakeLate(), scorer.Rates(), LongestWaits(scores)};
}

}  // namespace borescope::internal
