#include "borescope/analysis/verbs/timeline/exact_boxes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "borescope/analysis/measures/collectives.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/measures/path/path.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

constexpr size_t kLongestDetail = 160;

// Calls `use` with track, depth and row of every event that overlaps the window.
template <class Use>
void ForEachEvent(const RankView& view, const RankTracks& tracks, const DrawnWindow& window,
                  const Use& use) {
  const int64_t origin_ns = view.trace.begin_ns();
  for (size_t number = 0; number < tracks.events.size(); ++number) {
    const EventTrack& track = tracks.events[number];
    const EventColumns columns = tracks.ColumnsOf(view.trace, track.side);
    for (uint32_t depth = 0; depth + 1 < track.depth_begin.size(); ++depth) {
      for (uint32_t i = track.depth_begin[depth]; i < track.depth_begin[depth + 1]; ++i) {
        CheckStopAt(i);
        const uint32_t row = track.rows[i];
        const int64_t begin_ns = SubtractSaturating(columns.begin_ns[row], origin_ns);
        if (begin_ns <= window.end_ns && begin_ns + columns.dur_ns[row] >= window.begin_ns) {
          use(number, depth, row, begin_ns);
        }
      }
    }
  }
}

// Finds a moment up to which there are at least so many events, soon after that many.
class LatestBegin {
 public:
  explicit LatestBegin(const DrawnWindow& window)
      : window_(window), bucket_ns_((window.end_ns - window.begin_ns) / int64_t{kBuckets} + 1) {}

  void Count(int64_t begin_ns) { ++counts_[BucketOf(begin_ns)]; }

  int64_t Find(size_t most) const {
    size_t before = 0;
    for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
      before += counts_[bucket];
      if (before > most) {
        return window_.begin_ns + static_cast<int64_t>(bucket + 1) * bucket_ns_;
      }
    }
    return window_.end_ns;
  }

 private:
  static constexpr size_t kBuckets = 4096;

  size_t BucketOf(int64_t begin_ns) const {
    const int64_t bucket = std::max<int64_t>(0, begin_ns - window_.begin_ns) / bucket_ns_;
    return std::min(kBuckets - 1, static_cast<size_t>(bucket));
  }

  const DrawnWindow& window_;
  int64_t bucket_ns_;
  std::array<size_t, kBuckets> counts_{};
};

std::string DetailOfKernel(const RankView& view, uint32_t row) {
  const Trace& trace = view.trace;
  if (const uint32_t args = CollectiveArgsOf(view, DeviceId{row}); args != kNoDetail) {
    const Collectives& collectives = trace.collectives();
    return collectives.in_elems[args] == kMissing
               ? std::string(trace.Text(collectives.collective[args]))
               : fmt::format("{} of {} {}", trace.Text(collectives.collective[args]),
                             collectives.in_elems[args], trace.Text(collectives.dtype[args]));
  }
  const uint32_t detail = trace.device().detail[row];
  const Kernels& kernels = trace.kernels();
  if (detail == kNoDetail || kernels.grid_x[detail] < 0 || kernels.block_x[detail] < 0) {
    return {};
  }
  return fmt::format("grid {},{},{} block {},{},{}", kernels.grid_x[detail], kernels.grid_y[detail],
                     kernels.grid_z[detail], kernels.block_x[detail], kernels.block_y[detail],
                     kernels.block_z[detail]);
}

std::string DetailOfDevice(const RankView& view, uint32_t row) {
  const DeviceEvents& device = view.trace.device();
  if (device.kind[row] == DeviceKind::kKernel) {
    return DetailOfKernel(view, row);
  }
  const uint32_t detail = device.detail[row];
  const int64_t bytes = detail == kNoDetail ? kMissing : view.trace.copies().bytes[detail];
  return bytes == kMissing ? std::string() : fmt::format("{} bytes", bytes);
}

// The shapes of an operator, as recorded.
std::string_view DetailOfHost(const Trace& trace, uint32_t row) {
  const HostEvents& host = trace.host();
  const bool has_shapes =
      (host.kind[row] == HostKind::kOp || host.kind[row] == HostKind::kAnnotation) &&
      host.detail[row] != kNoDetail;
  return has_shapes ? trace.Text(trace.ops().input_dims[host.detail[row]]) : std::string_view();
}

// Makes boxes of events.
class BoxMaker {
 public:
  BoxMaker(const RankView& view, const RankTracks& tracks, DrawnTexts& texts)
      : view_(view), tracks_(tracks), texts_(texts), origin_ns_(view.trace.begin_ns()) {}

  DrawnBox Make(size_t track, uint32_t depth, uint32_t row) {
    const EventSide side = tracks_.events[track].side;
    const EventColumns columns = tracks_.ColumnsOf(view_.trace, side);
    DrawnBox box;
    box.track = static_cast<int64_t>(track);
    box.depth = depth;
    box.begin_ns = SubtractSaturating(columns.begin_ns[row], origin_ns_);
    box.duration_ns = columns.dur_ns[row];
    box.busy_ns = box.duration_ns;
    box.name = texts_.Of(columns.name[row]);
    box.tone = ToneOf(view_, tracks_.path, side, row);
    AddDetail(side, row, box);
    return box;
  }

 private:
  void AddDetail(EventSide side, uint32_t row, DrawnBox& box) {
    switch (side) {
      case EventSide::kHost:
        box.detail = texts_.OfText(ShortenedName(DetailOfHost(view_.trace, row), kLongestDetail));
        break;
      case EventSide::kDevice:
        box.detail = texts_.OfText(DetailOfDevice(view_, row));
        SetLaunch(view_.index.correlation.launch_of[row], box);
        break;
      case EventSide::kPath:
        box.detail = texts_.OfText(tracks_.path.bound_by[row]);
        SetOwner(row, box);
        break;
    }
  }

  void SetLaunch(HostId call, DrawnBox& box) {
    if (call.valid() && !view_.trace.host().IsCaptured(call)) {
      const HostEvents& host = view_.trace.host();
      Set(host.track[call.value], host.ts_ns[call.value], box);
    }
  }

  // The event that a stretch of the path is of.
  void SetOwner(uint32_t row, DrawnBox& box) {
    const uint32_t event = tracks_.path.event[row];
    if (event == kNoEvent) {
      return;
    }
    const HostEvents& host = view_.trace.host();
    const DeviceEvents& device = view_.trace.device();
    tracks_.path.is_host[row] != 0 ? Set(host.track[event], host.ts_ns[event], box)
                                   : Set(device.track[event], device.ts_ns[event], box);
  }

  void Set(TrackId source, int64_t ts_ns, DrawnBox& box) {
    box.launch_track = tracks_.track_of_source[source.value];
    box.launch_ns = box.launch_track == kMissing ? 0 : SubtractSaturating(ts_ns, origin_ns_);
  }

  const RankView& view_;
  const RankTracks& tracks_;
  DrawnTexts& texts_;
  int64_t origin_ns_;
};

void AddExactPoints(const RankView& view, const RankTracks& tracks, const DrawnWindow& window,
                    Timeline& timeline) {
  for (size_t i = 0; i < tracks.counters.size(); ++i) {
    const CounterTrack& counter = tracks.counters[i];
    for (size_t point = 0; point < counter.ts_ns.size(); ++point) {
      const int64_t begin_ns =
          std::max<int64_t>(0, SubtractSaturating(counter.ts_ns[point], view.trace.begin_ns()));
      if (window.begin_ns <= begin_ns && begin_ns <= window.end_ns) {
        const double value = counter.value[point];
        timeline.points.push_back(
            {static_cast<int64_t>(tracks.events.size() + i), 0, begin_ns, value, value, value});
      }
    }
  }
}

}  // namespace

void AddExactRows(const RankView& view, const RankTracks& tracks, const DrawnWindow& window,
                  size_t most, DrawnTexts& texts, Timeline& timeline) {
  LatestBegin latest(window);
  ForEachEvent(view, tracks, window,
               [&](size_t, uint32_t, uint32_t, int64_t begin_ns) { latest.Count(begin_ns); });
  const int64_t last_ns = latest.Find(most);
  BoxMaker maker(view, tracks, texts);
  std::vector<DrawnBox>& boxes = timeline.boxes;
  ForEachEvent(view, tracks, window,
               [&](size_t track, uint32_t depth, uint32_t row, int64_t begin_ns) {
                 if (begin_ns <= last_ns) {
                   boxes.push_back(maker.Make(track, depth, row));
                 }
               });
  std::stable_sort(boxes.begin(), boxes.end(), [](const DrawnBox& a, const DrawnBox& b) {
    return std::tie(a.track, a.begin_ns, a.depth) < std::tie(b.track, b.begin_ns, b.depth);
  });
  AddExactPoints(view, tracks, window, timeline);
}

}  // namespace borescope::internal
