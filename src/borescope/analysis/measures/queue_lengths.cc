#include "borescope/analysis/measures/queue_lengths.h"

#include <algorithm>
#include <span>
#include <tuple>

#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/base/each_row.h"

namespace borescope::internal {
namespace {

// REQUIRES: both are sorted, and as many entered as left by any time.
std::vector<QueueChange> ChangesOf(std::span<const int64_t> entered,
                                   std::span<const int64_t> left) {
  std::vector<QueueChange> changes;
  changes.reserve(entered.size() + left.size());
  size_t in = 0;
  size_t out = 0;
  while (out < left.size()) {
    const bool enters = in < entered.size() && entered[in] <= left[out];
    const int64_t ts_ns = enters ? entered[in] : left[out];
    (enters ? in : out) += 1;
    changes.push_back({ts_ns, static_cast<int64_t>(in) - static_cast<int64_t>(out)});
  }
  return changes;
}

// The queues of all selected streams with work, by GPU and stream.
class Queues {
 public:
  Queues(const RankView& view, const Selected& selected)
      : view_(view),
        selected_(selected),
        track_of_call_(view.trace.runtime_calls().size(), TrackId{}) {}

  std::vector<StreamQueue> Build() {
    std::vector<StreamQueue> queues;
    for (uint32_t track = 0; track < view_.trace.tracks().size(); ++track) {
      if (HasDeviceWork(view_.trace, track) && selected_.KeepsTrack(TrackId{track})) {
        queues.push_back(OfTrack(TrackId{track}));
      }
    }
    std::sort(queues.begin(), queues.end(), [](const StreamQueue& a, const StreamQueue& b) {
      return std::tie(a.gpu, a.stream, a.process) < std::tie(b.gpu, b.stream, b.process);
    });
    return queues;
  }

 private:
  StreamQueue OfTrack(TrackId track) {
    const Tracks& tracks = view_.trace.tracks();
    const DeviceEvents& device = view_.trace.device();
    StreamQueue queue{.gpu = tracks.pid[track.value],
                      .stream = tracks.tid[track.value],
                      .process = tracks.process[track.value],
                      .changes = {}};
    std::vector<int64_t> entered;
    std::vector<int64_t> left;
    for (const uint32_t row : EachRow(tracks.first_row[track.value], tracks.end_row[track.value])) {
      const HostId launch = view_.index.correlation.launch_of[row];
      if (!launch.valid()) {
        queue.unlinked += selected_.Keeps(DeviceId{row}) ? 1 : 0;
      } else if (IsDeviceWork(device.kind[row]) && IsFirst(launch, track)) {
        left.push_back(device.ts_ns[row]);
        entered.push_back(std::min(view_.trace.host().ts_ns[launch.value], device.ts_ns[row]));
      }
    }
    std::sort(entered.begin(), entered.end());
    queue.changes = ChangesOf(entered, left);
    return queue;
  }

  // Whether this is the first work of the launch on the track. REQUIRES: called track by track.
  bool IsFirst(HostId launch, TrackId track) {
    TrackId& seen = track_of_call_[view_.trace.host().detail[launch.value]];
    const bool is_first = seen != track;
    seen = track;
    return is_first;
  }

  const RankView& view_;
  const Selected& selected_;
  std::vector<TrackId> track_of_call_;  // where each runtime call had work last
};

}  // namespace

std::vector<StreamQueue> FindQueues(const RankView& view, const Selected& selected) {
  return Queues(view, selected).Build();
}

}  // namespace borescope::internal
