#include "borescope/analysis/measures/idle/thread_history.h"

#include <algorithm>

#include "borescope/analysis/measures/idle/host_time.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"

namespace borescope::internal {

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

// From the first to the last that is known of the thread.
Interval ThreadHistory::Hull() const {
  const HostEvents& host = view_.trace.host();
  const Tracks& tracks = view_.trace.tracks();
  Interval hull{INT64_MAX, INT64_MIN};
  const auto add = [&](int64_t begin_ns, int64_t end_ns) {
    hull = {std::min(hull.begin, begin_ns), std::max(hull.end, end_ns)};
  };
  for (uint32_t row = tracks.first_row[track_.value]; row < tracks.end_row[track_.value]; ++row) {
    CheckStopAt(row);
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
  if (!kind_of_.empty() && kind_of_.back() == number) {  // the same goes on
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

// What the pieces of a kind from `first` to before `end`, which `time` cuts, have of it.
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

// What fills half of a time is there in the middle of it.
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

}  // namespace borescope::internal
