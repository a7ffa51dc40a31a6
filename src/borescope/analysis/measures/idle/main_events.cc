#include "borescope/analysis/measures/idle/main_events.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "borescope/analysis/measures/idle/host_time.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

// The times from `first` to before `end` are filled to a half at least.
struct Filling {
  HostId row;
  size_t first;
  size_t end;
};

// What fills half of a time is there in the middle of it, so that only the outermost two of the
// times in whose middle a row is open can be filled in part.
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

  // Of each time the shortest row, of equal ones the last: each takes what those before it left.
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

  // The first time from `i` on that no row has; halves the way for who asks next.
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

}  // namespace

std::vector<HostId> MainEventsIn(const Trace& trace, TrackId track,
                                 std::span<const Interval> times) {
  Fillings fillings(trace.host(), times);
  const Tracks& tracks = trace.tracks();
  for (uint32_t row = tracks.first_row[track.value]; row < tracks.end_row[track.value]; ++row) {
    CheckStopAt(row);
    fillings.Add(HostId{row});
  }
  return fillings.Innermost();
}

}  // namespace borescope::internal
