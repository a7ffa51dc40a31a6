#include "borescope/analysis/measures/idle/late_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/measures/idle/host_time.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/measures/stacks/op_stacks.h"
#include "borescope/base/each_row.h"
#include "borescope/base/id.h"
#include "borescope/base/intervals.h"
#include "borescope/base/range_minima.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// What fills at least half of each of many times of one thread, found in one pass over its rows.

namespace {

// A row that fills at least half of each of the times from `first` to before `end`.
struct Filling {
  HostId row;
  size_t first;
  size_t end;
};

// A row that fills half of a time is open in the middle of it. So only the first and the last of
// the times in whose middle a row is open can be filled in part.
class Fillings {
 public:
  Fillings(const HostEvents& host, std::span<const Interval> times) : host_(host), times_(times) {}

  void Add(HostId row) {
    const int64_t begin_ns = host_.ts_ns[row.value];
    const int64_t end_ns = host_.end_ns(row);
    const auto first = std::partition_point(
        times_.begin(), times_.end(), [&](const Interval& t) { return MiddleOf(t) < begin_ns; });
    const auto end = std::partition_point(first, times_.end(),
                                          [&](const Interval& t) { return MiddleOf(t) <= end_ns; });
    Filling filling{row, static_cast<size_t>(first - times_.begin()),
                    static_cast<size_t>(end - times_.begin())};
    if (filling.first < filling.end && !FillsHalf(row, filling.first)) {
      ++filling.first;
    }
    if (filling.first < filling.end && !FillsHalf(row, filling.end - 1)) {
      --filling.end;
    }
    if (filling.first < filling.end) {
      fillings_.push_back(filling);
    }
  }

  // Per time the shortest row, and the last one of equally long rows: rows in this order take the
  // times that are still free.
  std::vector<HostId> Innermost() {
    std::sort(fillings_.begin(), fillings_.end(), [&](const Filling& a, const Filling& b) {
      const int64_t a_ns = host_.dur_ns[a.row.value];
      const int64_t b_ns = host_.dur_ns[b.row.value];
      return a_ns != b_ns ? a_ns < b_ns : a.row.value > b.row.value;
    });
    std::vector<HostId> innermost(times_.size());
    std::vector<size_t> next_free(times_.size() + 1);
    std::iota(next_free.begin(), next_free.end(), size_t{0});
    for (const Filling& filling : fillings_) {
      for (size_t i = FreeFrom(filling.first, next_free); i < filling.end;
           i = FreeFrom(i, next_free)) {
        innermost[i] = filling.row;
        next_free[i] = i + 1;
      }
    }
    return innermost;
  }

 private:
  static int64_t MiddleOf(const Interval& time) { return time.begin + time.length() / 2; }

  bool FillsHalf(HostId row, size_t time) const {
    return InnerOf(host_, HostId{}, row, times_[time]).valid();
  }

  // The first free time from `i` on, with path halving as in union-find.
  static size_t FreeFrom(size_t i, std::vector<size_t>& next_free) {
    while (next_free[i] != i) {
      next_free[i] = next_free[next_free[i]];
      i = next_free[i];
    }
    return i;
  }

  const HostEvents& host_;
  const std::span<const Interval> times_;
  std::vector<Filling> fillings_;
};

// What MainEventIn (host_time.h) would return for each of `times` of thread `track`. REQUIRES:
// `times` is sorted and disjoint. O(r log t + m log m) for r rows of the thread, t times, and m
// rows that are open in the middle of a time.
std::vector<HostId> MainEventsIn(const Trace& trace, TrackId track,
                                 std::span<const Interval> times) {
  Fillings fillings(trace.host(), times);
  const Tracks& tracks = trace.tracks();
  for (const uint32_t row : EachRow(tracks.first_row[track.value], tracks.end_row[track.value])) {
    fillings.Add(HostId{row});
  }
  return fillings.Innermost();
}

}  // namespace

// What one thread of the host did, prepared once for many questions about parts of its time.

// Takes about 40 bytes a row of the thread. Thread-safe once it is made.
class ThreadHistory {
 public:
  // Answers as WalkHostPieces and MainEventIn do. `view` must outlive it. O(n log n) for n rows.
  ThreadHistory(const RankView& view, TrackId track, int64_t period_ns);

  using UseSum = std::function<void(const HostPiece& piece, int64_t ns)>;
  // Calls `use` with each kind of piece in `time` and how long it was in all, in the order of their
  // first pieces. O((1 + kinds) log n).
  void ForEachIn(Interval time, const UseSum& use) const;

  // As MainEventIn (host_time.h). O((1 + rows open in the middle of `time`) log n).
  HostId MainEventIn(Interval time) const;

 private:
  struct Kind {
    HostPiece piece;
    std::vector<uint32_t> pieces;  // its places, in order
    std::vector<uint64_t> before;  // the time of all pieces before each; differences are exact even
                                   // if the sums wrap around
  };

  Interval Hull() const;
  void AddPiece(const HostPiece& piece, Interval time);
  RangeMinima<int64_t> MakePrevious() const;
  RangeMinima<int64_t> MakeEnds() const;
  int64_t LengthOf(const Kind& kind, size_t first, size_t end, Interval time) const;

  const RankView& view_;
  const TrackId track_;
  const int64_t period_ns_;
  const Interval hull_;  // nothing is known outside of it
  Grouper groups_{4};
  std::vector<Kind> kinds_;
  std::vector<int64_t> begins_;  // of the pieces, which follow one another
  std::vector<uint32_t> kind_of_;
  RangeMinima<int64_t> previous_;  // the place after that of the last piece of the same kind; 0
  RangeMinima<int64_t> ends_;      // of the rows of the thread, negated
};

ThreadHistory::ThreadHistory(const RankView& view, TrackId track, int64_t period_ns)
    : view_(view),
      track_(track),
      period_ns_(period_ns),
      hull_(Hull()),
      previous_({}),
      ends_(MakeEnds()) {
  if (hull_.begin < hull_.end) {
    WalkHostPieces(view, track, {&hull_, 1}, period_ns,
                   [&](const HostPiece& piece, Interval time) { AddPiece(piece, time); });
  }
  previous_ = MakePrevious();
}

// From the first to the last known time of the thread.
Interval ThreadHistory::Hull() const {
  const HostEvents& host = view_.trace.host();
  const Tracks& tracks = view_.trace.tracks();
  Interval hull{INT64_MAX, INT64_MIN};
  const auto add = [&](int64_t begin_ns, int64_t end_ns) {
    hull = {std::min(hull.begin, begin_ns), std::max(hull.end, end_ns)};
  };
  for (const uint32_t row : EachRow(tracks.first_row[track_.value], tracks.end_row[track_.value])) {
    add(host.ts_ns[row], host.end_ns(HostId{row}));
  }
  const Pauses& pauses = view_.trace.pauses();
  const auto [first_pause, end_pause] = RowsOfThread(pauses.track, track_);
  for (size_t row = first_pause; row < end_pause; ++row) {
    add(pauses.ts_ns[row], pauses.end_ns[row]);
  }
  const StackSamples& samples = view_.trace.stack_samples();
  const auto [first_sample, end_sample] = RowsOfThread(samples.track, track_);
  for (size_t row = first_sample; row < end_sample; ++row) {
    add(samples.ts_ns[row],
        AddSaturating(samples.ts_ns[row], AddSaturating(period_ns_, period_ns_)));
  }
  return hull;
}

void ThreadHistory::AddPiece(const HostPiece& piece, Interval time) {
  const uint32_t number = groups_.Find(piece.Numbers());
  if (number == kinds_.size()) {
    kinds_.push_back({piece, {}, {0}});
  }
  Kind& kind = kinds_[number];
  if (!kind_of_.empty() && kind_of_.back() == number) {  // the last piece continues
    kind.before.back() += static_cast<uint64_t>(time.end) - static_cast<uint64_t>(time.begin);
    return;
  }
  kind.pieces.push_back(static_cast<uint32_t>(begins_.size()));
  kind.before.push_back(kind.before.back() + static_cast<uint64_t>(time.end) -
                        static_cast<uint64_t>(time.begin));
  begins_.push_back(time.begin);
  kind_of_.push_back(number);
}

RangeMinima<int64_t> ThreadHistory::MakePrevious() const {
  std::vector<int64_t> previous(begins_.size());
  std::vector<int64_t> last(kinds_.size(), 0);
  for (size_t i = 0; i < previous.size(); ++i) {
    previous[i] = last[kind_of_[i]];
    last[kind_of_[i]] = static_cast<int64_t>(i) + 1;
  }
  return RangeMinima<int64_t>(previous);
}

RangeMinima<int64_t> ThreadHistory::MakeEnds() const {
  const Tracks& tracks = view_.trace.tracks();
  std::vector<int64_t> ends;
  for (uint32_t row = tracks.first_row[track_.value]; row < tracks.end_row[track_.value]; ++row) {
    ends.push_back(-std::max(view_.trace.host().end_ns(HostId{row}), -INT64_MAX));
  }
  return RangeMinima<int64_t>(ends);
}

// How much of `time` the pieces of a kind from `first` to before `end` take; `time` may cut the
// outer ones.
int64_t ThreadHistory::LengthOf(const Kind& kind, size_t first, size_t end, Interval time) const {
  const auto place = [&](size_t piece) {
    return static_cast<size_t>(std::lower_bound(kind.pieces.begin(), kind.pieces.end(), piece) -
                               kind.pieces.begin());
  };
  uint64_t ns = kind.before[place(end)] - kind.before[place(first)];
  const auto cut = [&](size_t piece, int64_t from_ns, int64_t to_ns) {
    if (&kinds_[kind_of_[piece]] == &kind) {
      ns -= static_cast<uint64_t>(to_ns) - static_cast<uint64_t>(from_ns);
    }
  };
  cut(first, begins_[first], time.begin);
  cut(end - 1, time.end, end < begins_.size() ? begins_[end] : hull_.end);
  return static_cast<int64_t>(ns);
}

void ThreadHistory::ForEachIn(Interval time, const UseSum& use) const {
  const Interval known{std::max(time.begin, hull_.begin), std::min(time.end, hull_.end)};
  if (known.begin >= known.end) {
    use({}, SubtractSaturating(time.end, time.begin));
    return;
  }
  use({}, SubtractSaturating(known.begin, time.begin));
  const auto first = static_cast<size_t>(
      std::upper_bound(begins_.begin(), begins_.end(), known.begin) - begins_.begin() - 1);
  const auto end = static_cast<size_t>(std::lower_bound(begins_.begin(), begins_.end(), known.end) -
                                       begins_.begin());
  previous_.ForEachBelow(first, end, static_cast<int64_t>(first) + 1, [&](size_t piece) {
    const Kind& kind = kinds_[kind_of_[piece]];
    use(kind.piece, LengthOf(kind, first, end, known));
  });
  use({}, SubtractSaturating(time.end, known.end));
}

// An event that fills half of a time is open in the middle of it.
HostId ThreadHistory::MainEventIn(Interval time) const {
  const int64_t length = time.length();
  if (length <= 0) {
    return {};
  }
  const HostEvents& host = view_.trace.host();
  const int64_t half = length - length / 2;
  const uint32_t first_row = view_.trace.tracks().first_row[track_.value];
  const auto first = host.ts_ns.begin() + first_row;
  const auto begun = std::upper_bound(first, first + static_cast<ptrdiff_t>(ends_.size()),
                                      SubtractSaturating(time.end, half));
  const int64_t least_end = AddSaturating(time.begin, half);
  HostId innermost;
  ends_.ForEachBelow(0, static_cast<size_t>(begun - first), AddSaturating(-least_end, 1),
                     [&](size_t place) {
                       const HostId row{first_row + static_cast<uint32_t>(place)};
                       innermost = InnerOf(host, innermost, row, time);
                     });
  return innermost;
}

namespace {

struct PieceTime {
  HostPiece piece;
  int64_t ns;
};
using PieceTimes = std::vector<PieceTime>;

using ActivityName = std::pair<HostActivity, uint32_t>;

// The time of each key; pieces without a key are left out.
template <class Key, class KeyOf>
std::map<Key, int64_t> SumsBy(const PieceTimes& pieces, const KeyOf& key_of) {
  std::map<Key, int64_t> sums;
  for (const PieceTime& one : pieces) {
    if (const std::optional<Key> key = key_of(one.piece); key.has_value()) {
      AddSaturatingTo(sums[*key], one.ns);
    }
  }
  return sums;
}

// The largest entry, and the first one of equal entries; end() if there are none.
template <class Key>
typename std::map<Key, int64_t>::const_iterator LargestOf(const std::map<Key, int64_t>& sums) {
  return std::max_element(sums.begin(), sums.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; });
}

std::optional<uint32_t> NumberOf(StringId text) {
  return text.valid() ? std::optional(text.value) : std::nullopt;
}

// The text with at least half of the time; invalid if there is none.
template <class TextOf>
StringId HalfOfTime(const PieceTimes& pieces, int64_t all_ns, const TextOf& text_of) {
  const std::map<uint32_t, int64_t> sums =
      SumsBy<uint32_t>(pieces, [&](const HostPiece& piece) { return NumberOf(text_of(piece)); });
  const auto most = LargestOf(sums);
  const bool has_half = most != sums.end() && most->second >= all_ns - most->second;
  return has_half ? StringId{most->first} : StringId();
}

// The activity of an event whose name says something.
MainActivity OfEvent(const RankView& view, HostId event, Interval time) {
  const HostEvents& host = view.trace.host();
  const bool is_call = IsCall(host.kind[event.value]);
  const int64_t begin_ns = std::max(host.ts_ns[event.value], time.begin);
  return {
      is_call ? HostActivity::kCall : HostActivity::kEvent,
      host.name[event.value],
      is_call ? CallerOf(view.trace, event, view.index.tree.subtree_end[event.value]) : StringId(),
      {},
      std::min(host.end_ns(event), time.end) - begin_ns};
}

// The activity and name that a piece counts as: unknown if it is only a step.
ActivityName ActivityOf(const Trace& trace, const HostPiece& piece) {
  const bool says_something = piece.activity == HostActivity::kNoProcessor ||
                              !SaysNothing(trace, piece.activity, piece.name);
  return says_something ? ActivityName(piece.activity, piece.name.value)
                        : ActivityName(HostActivity::kUnknown, StringId::kNone);
}

// The main activity according to the pieces of the time.
MainActivity OfPieces(const Trace& trace, const PieceTimes& pieces) {
  const auto sums = SumsBy<ActivityName>(
      pieces, [&](const HostPiece& piece) { return std::optional(ActivityOf(trace, piece)); });
  const auto most = LargestOf(sums);
  if (most == sums.end() || most->first.first == HostActivity::kUnknown) {
    return {};
  }
  const auto [activity, name] = most->first;
  const auto caller_of = [&, wanted = most->first](const HostPiece& piece) {
    const bool is_it = ActivityName(piece.activity, piece.name.value) == wanted;
    return is_it ? piece.caller : StringId();
  };
  return {activity, StringId{name}, HalfOfTime(pieces, most->second, caller_of), {}, most->second};
}

MainActivity Decide(const RankView& view, HostId event, const PieceTimes& pieces, Interval time) {
  const bool is_known = event.valid() && !SaysNothing(view.trace, HostActivity::kEvent,
                                                      view.trace.host().name[event.value]);
  MainActivity main = is_known ? OfEvent(view, event, time) : OfPieces(view.trace, pieces);
  main.op =
      HalfOfTime(pieces, time.length(), [](const HostPiece& piece) { return piece.operation; });
  return main;
}

// Sums the pieces of one time after another, and finds the main activity of each time at its end.
class Decisions {
 public:
  Decisions(const RankView& view, TrackId track, std::span<const Interval> times)
      : view_(view), times_(times), events_(MainEventsIn(view.trace, track, times)) {
    found_.reserve(times.size());
  }

  // REQUIRES: pieces come in order, and none is in two times.
  void Add(const HostPiece& piece, Interval time) {
    while (times_[found_.size()].end <= time.begin) {
      Finish();
    }
    const uint32_t group = groups_.Find(piece.Numbers());
    if (group == pieces_.size()) {
      pieces_.push_back({piece, 0});
    }
    AddSaturatingTo(pieces_[group].ns, time.length());
  }

  std::vector<MainActivity> Take() {
    while (found_.size() < times_.size()) {
      Finish();
    }
    return std::move(found_);
  }

 private:
  void Finish() {
    const size_t at = found_.size();
    found_.push_back(Decide(view_, events_[at], pieces_, times_[at]));
    pieces_.clear();
    groups_ = Grouper(4);
  }

  const RankView& view_;
  const std::span<const Interval> times_;
  const std::vector<HostId> events_;
  Grouper groups_{4};
  PieceTimes pieces_;  // by group
  std::vector<MainActivity> found_;
};

}  // namespace

std::vector<MainActivity> FindMainActivities(const RankView& view, TrackId track,
                                             std::span<const Interval> times, int64_t period_ns) {
  Decisions decisions(view, track, times);
  if (!times.empty()) {
    WalkHostPieces(view, track, times, period_ns,
                   [&](const HostPiece& piece, Interval time) { decisions.Add(piece, time); });
  }
  return decisions.Take();
}

MainActivity FindMainActivity(const RankView& view, const ThreadHistory& history, Interval time) {
  PieceTimes pieces;
  history.ForEachIn(time, [&](const HostPiece& piece, int64_t ns) {
    if (ns > 0) {
      pieces.push_back({piece, ns});
    }
  });
  return Decide(view, history.MainEventIn(time), pieces, time);
}

namespace {

constexpr size_t kLongestName = 60;
// Threads that are asked about more often get a history: walking for the devices of one machine is
// cheaper than preparing one, for more it is not.
constexpr size_t kMostWalks = 64;

class Sums {
 public:
  void Add(const HostPiece& piece, int64_t ns) {
    if (ns <= 0) {
      return;
    }
    const uint32_t group = groups_.Find(piece.Numbers());
    if (group == sums_.size()) {
      sums_.push_back({piece.activity, piece.name, piece.caller, piece.operation, 0});
    }
    AddSaturatingTo(sums_[group].ns, ns);
  }

  std::vector<LateHostSum> Take() { return std::move(sums_); }

 private:
  Grouper groups_{4};
  std::vector<LateHostSum> sums_;
};

// Calls `use` with each launching thread and its times in order. Times whose launch was not
// recorded are left out.
template <class Use>
std::vector<LateHostSum> SumByThread(const HostEvents& host, std::vector<LateTime> late,
                                     const Use& use) {
  const auto track_of = [&](const LateTime& one) {
    return one.launch.valid() ? host.track[one.launch.value].value : kNoDetail;
  };
  std::stable_sort(late.begin(), late.end(), [&](const LateTime& a, const LateTime& b) {
    return std::tuple(track_of(a), a.time.begin) < std::tuple(track_of(b), b.time.begin);
  });
  Sums sums;
  std::vector<Interval> times;
  for (size_t i = 0; i < late.size(); ++i) {
    if (!late[i].launch.valid()) {
      sums.Add({}, late[i].time.length());
      continue;
    }
    times.push_back(late[i].time);
    if (i + 1 == late.size() || track_of(late[i + 1]) != track_of(late[i])) {
      use(TrackId{track_of(late[i])}, std::span<const Interval>(times), sums);
      times.clear();
    }
  }
  return sums.Take();
}

void Walk(const RankView& view, TrackId track, std::span<const Interval> times, int64_t period_ns,
          Sums& sums) {
  WalkHostPieces(view, track, times, period_ns,
                 [&](const HostPiece& piece, Interval time) { sums.Add(piece, time.length()); });
}

std::string WordsFor(const Trace& trace, HostActivity activity, StringId name) {
  if (activity == HostActivity::kNoProcessor) {
    return "without a processor";
  }
  return SaysNothing(trace, activity, name)
             ? std::string()
             : fmt::format("in `{}`{}", ShortenedName(trace.Text(name), kLongestName),
                           activity == HostActivity::kSampled ? " (sampled)" : "");
}

std::string CallerWords(const Trace& trace, StringId caller) {
  return caller.valid()
             ? fmt::format(", called from `{}`", ShortenedName(trace.Text(caller), kLongestName))
             : std::string();
}

using NsByName = std::map<std::pair<HostActivity, uint32_t>, int64_t>;

// The first entry with at least half of the time; end() if there is none.
NsByName::const_iterator HalfOf(const NsByName& by_name, int64_t all_ns) {
  return std::find_if(by_name.begin(), by_name.end(),
                      [&](const auto& one) { return one.second >= all_ns - one.second; });
}

// Words for the event that fills a time; empty if there is none, or its name says nothing.
std::string WordsOfEvent(const RankView& view, HostId event) {
  const HostEvents& host = view.trace.host();
  if (!event.valid() || SaysNothing(view.trace, HostActivity::kEvent, host.name[event.value])) {
    return {};
  }
  const StringId caller =
      IsCall(host.kind[event.value])
          ? CallerOf(view.trace, event, view.index.tree.subtree_end[event.value])
          : StringId();
  return fmt::format("in `{}`", ShortenedName(view.trace.Name(event), kLongestName)) +
         CallerWords(view.trace, caller);
}

bool IsKnown(const LateTime& late) { return late.launch.valid() && late.time.length() > 0; }

}  // namespace

std::vector<LateHostSum> ExplainLateHost(const RankView& view, std::vector<LateTime> late) {
  const int64_t period_ns = SamplingPeriod(view.trace);
  return SumByThread(view.trace.host(), std::move(late),
                     [&](TrackId track, std::span<const Interval> times, Sums& sums) {
                       Walk(view, track, times, period_ns, sums);
                     });
}

std::string MostlyWords(const Trace& trace, const std::vector<LateHostSum>& sums) {
  NsByName by_name;
  int64_t all_ns = 0;
  for (const LateHostSum& sum : sums) {
    AddSaturatingTo(by_name[{sum.activity, sum.name.value}], sum.ns);
    AddSaturatingTo(all_ns, sum.ns);
  }
  const auto most = HalfOf(by_name, all_ns);
  if (most == by_name.end()) {
    return {};
  }
  const auto [activity, name] = most->first;
  NsByName by_caller;
  for (const LateHostSum& sum : sums) {
    if (sum.activity == activity && sum.name.value == name) {
      AddSaturatingTo(by_caller[{activity, sum.caller.value}], sum.ns);
    }
  }
  const auto caller = HalfOf(by_caller, most->second);
  return WordsFor(trace, activity, StringId{name}) +
         (caller == by_caller.end() ? std::string()
                                    : CallerWords(trace, StringId{caller->first.second}));
}

std::string MostlyWords(const RankView& view, const LateTime& late) {
  std::string words = WordsOfEvent(view, MainEventIn(view.trace, late.launch, late.time));
  if (!words.empty() || !IsKnown(late)) {
    return words;
  }
  return MostlyWords(view.trace, ExplainLateHost(view, {late}));
}

LateHost::LateHost(const RankView& view) : view_(view), period_ns_(SamplingPeriod(view.trace)) {}
LateHost::~LateHost() = default;

const ThreadHistory* LateHost::HistoryOf(TrackId track) {
  Thread& thread = threads_[track.value];
  if (thread.history == nullptr && ++thread.walks > kMostWalks) {
    thread.history = std::make_unique<const ThreadHistory>(view_, track, period_ns_);
  }
  return thread.history.get();
}

std::vector<LateHostSum> LateHost::Explain(std::vector<LateTime> late) {
  return SumByThread(view_.trace.host(), std::move(late),
                     [&](TrackId track, std::span<const Interval> times, Sums& sums) {
                       const ThreadHistory* const history = HistoryOf(track);
                       if (history == nullptr) {
                         Walk(view_, track, times, period_ns_, sums);
                         return;
                       }
                       for (const Interval& time : times) {
                         history->ForEachIn(time, [&](const HostPiece& piece, int64_t ns) {
                           sums.Add(piece, ns);
                         });
                       }
                     });
}

HostId LateHost::MainEventIn(const LateTime& late) {
  if (!IsKnown(late)) {
    return {};
  }
  const ThreadHistory* const history = HistoryOf(view_.trace.host().track[late.launch.value]);
  return history == nullptr ? internal::MainEventIn(view_.trace, late.launch, late.time)
                            : history->MainEventIn(late.time);
}

std::vector<MainActivity> LateHost::MainActivities(const std::vector<LateTime>& late) {
  std::vector<MainActivity> found(late.size());
  std::map<uint32_t, std::vector<size_t>> places;  // in `late`, by thread
  for (size_t i = 0; i < late.size(); ++i) {
    if (IsKnown(late[i])) {
      places[view_.trace.host().track[late[i].launch.value].value].push_back(i);
    }
  }
  for (auto& [track, of_thread] : places) {
    std::sort(of_thread.begin(), of_thread.end(),
              [&](size_t a, size_t b) { return late[a].time.begin < late[b].time.begin; });
    ExplainThread(TrackId{track}, late, of_thread, found);
  }
  return found;
}

void LateHost::ExplainThread(TrackId track, const std::vector<LateTime>& late,
                             const std::vector<size_t>& places, std::vector<MainActivity>& found) {
  if (const ThreadHistory* const history = HistoryOf(track); history != nullptr) {
    for (const size_t place : places) {
      found[place] = FindMainActivity(view_, *history, late[place].time);
    }
    return;
  }
  std::vector<Interval> times;
  times.reserve(places.size());
  for (const size_t place : places) {
    times.push_back(late[place].time);
  }
  const std::vector<MainActivity> answers = FindMainActivities(view_, track, times, period_ns_);
  for (size_t i = 0; i < places.size(); ++i) {
    found[places[i]] = answers[i];
  }
}

std::string LateHost::MostlyWords(const LateTime& late) {
  std::string words = WordsOfEvent(view_, MainEventIn(late));
  if (!words.empty() || !IsKnown(late)) {
    return words;
  }
  return internal::MostlyWords(view_.trace, Explain({late}));
}

}  // namespace borescope::internal
