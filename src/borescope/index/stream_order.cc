#include "borescope/index/stream_order.h"

#include <algorithm>
#include <span>

#include "borescope/base/sort_runs.h"
#include "borescope/base/stop.h"

namespace borescope::internal {

StreamOrder::StreamOrder(const Trace& trace, const Correlation& correlation)
    : trace_(trace), correlation_(correlation), slices_(trace.tracks().size()) {
  const Tracks& tracks = trace.tracks();
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] == TrackKind::kDevice) {
      SortTrack(track);
    }
  }
  for (uint32_t track = 0; track < slices_.size(); ++track) {
    if (slices_[track].begin != slices_[track].end) {
      numbers_.push_back(
          {tracks.pid[track], tracks.process[track], tracks.tid[track], TrackId{track}});
    }
  }
  std::sort(numbers_.begin(), numbers_.end(),
            [](const Number& a, const Number& b) { return a.key() < b.key(); });
  streams_.reserve(numbers_.size());
  for (const Number& number : numbers_) {
    streams_.push_back(number.track);
  }
}

int64_t StreamOrder::IssueTime(DeviceId work) const {
  const HostId launch = correlation_.launch_of[work.value];
  return launch.valid() ? trace_.host().ts_ns[launch.value] : trace_.device().ts_ns[work.value];
}

void StreamOrder::SortTrack(uint32_t track) {
  const DeviceEvents& device = trace_.device();
  const auto begin = static_cast<uint32_t>(work_.size());
  for (uint32_t row = trace_.tracks().first_row[track]; row < trace_.tracks().end_row[track];
       ++row) {
    CheckStopAt(row);
    if (IsDeviceWork(device.kind[row])) {
      work_.push_back({row});
    }
  }
  SortRuns(std::span(work_).subspan(begin),
           [&](DeviceId a, DeviceId b) { return IssueTime(a) < IssueTime(b); });
  DeviceId last;
  for (uint32_t i = begin; i < work_.size(); ++i) {
    CheckStopAt(i);
    if (!last.valid() || device.end_ns(work_[i]) >= device.end_ns(last)) {
      last = work_[i];
    }
    last_.push_back(last);
    issue_ns_.push_back(IssueTime(work_[i]));
  }
  slices_[track] = {begin, static_cast<uint32_t>(work_.size())};
}

TrackId StreamOrder::Find(int64_t device, int64_t process, int64_t stream) const {
  const Number wanted{device, process, stream, {}};
  const auto found =
      std::lower_bound(numbers_.begin(), numbers_.end(), wanted,
                       [](const Number& a, const Number& b) { return a.key() < b.key(); });
  return found != numbers_.end() && found->key() == wanted.key() ? found->track : TrackId{};
}

uint32_t StreamOrder::IssuedBefore(Slice slice, int64_t ts_ns) const {
  const auto begin = issue_ns_.begin() + slice.begin;
  return static_cast<uint32_t>(std::lower_bound(begin, issue_ns_.begin() + slice.end, ts_ns) -
                               begin);
}

DeviceId StreamOrder::LastBefore(TrackId stream, int64_t ts_ns) const {
  const Slice slice = slices_[stream.value];
  const uint32_t issued = IssuedBefore(slice, ts_ns);
  return issued == 0 ? DeviceId{} : last_[slice.begin + issued - 1];
}

DeviceId StreamOrder::LastEndedBefore(TrackId stream, int64_t ts_ns, int64_t end_ns) const {
  const Slice slice = slices_[stream.value];
  const auto begin = last_.begin() + slice.begin;
  const auto past =
      std::partition_point(begin, begin + IssuedBefore(slice, ts_ns),
                           [&](DeviceId last) { return trace_.device().end_ns(last) <= end_ns; });
  return past == begin ? DeviceId{} : *std::prev(past);
}

DeviceId StreamOrder::FirstFrom(TrackId stream, int64_t ts_ns) const {
  const Slice slice = slices_[stream.value];
  const uint32_t first = slice.begin + IssuedBefore(slice, ts_ns);
  return first == slice.end ? DeviceId{} : work_[first];
}

}  // namespace borescope::internal
