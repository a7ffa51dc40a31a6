#include "borescope/packs/hta/events.h"

#include <algorithm>
#include <cmath>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/packs/hta/rows.h"
#include "borescope/packs/hta/views/queue_launches.h"

namespace borescope::internal {
namespace {

// Events of formats without positions are numbered as the trace holds them.
uint32_t PositionOf(const ColumnData<uint32_t>& positions, size_t row, size_t before) {
  return positions.empty() ? static_cast<uint32_t>(before + row) : positions[row];
}

void SetTimes(HtaEvent& event, const HtaTimes& times) {
  event.ts_us = std::llround(times.ts_us);
  event.dur_us = std::llround(times.dur_us);
}

void SetTrack(HtaEvent& event, const Tracks& tracks, TrackId track) {
  event.pid = tracks.pid[track.value];
  event.tid = tracks.tid[track.value];
}

HtaEvent MakeHost(const HtaFrame& frame, HostId id) {
  const HostEvents& host = frame.trace().host();
  HtaEvent event;
  event.host = id;
  event.position = PositionOf(host.position, id.value, 0);
  event.name = host.name[id.value];
  event.correlation = frame.CorrelationOf(id);
  SetTimes(event, frame.TimesOf(id));
  SetTrack(event, frame.trace().tracks(), host.track[id.value]);
  return event;
}

HtaEvent MakeDevice(const HtaFrame& frame, DeviceId id) {
  const DeviceEvents& device = frame.trace().device();
  HtaEvent event;
  event.device = id;
  event.position = PositionOf(device.position, id.value, frame.trace().host().size());
  event.name = device.name[id.value];
  event.stream = frame.StreamOf(id);
  event.correlation = frame.CorrelationOf(id);
  SetTimes(event, frame.TimesOf(id));
  SetTrack(event, frame.trace().tracks(), device.track[id.value]);
  return event;
}

// The last rows of a correlation number on either side.
struct Ends {
  HtaEventRow host = kNoHtaEvent;
  HtaEventRow device = kNoHtaEvent;
};

}  // namespace

HtaEvents::HtaEvents(const HtaFrame& frame) : frame_(frame) {
  Collect();
  MarkTriton();
  std::stable_sort(rows_.begin(), rows_.end(),
                   [](const HtaEvent& a, const HtaEvent& b) { return a.position < b.position; });
  TieAndFilter();
}

void HtaEvents::Collect() {
  const HostEvents& host = trace().host();
  rows_.reserve(host.size() + trace().device().size());
  for (uint32_t row = 0; row < host.size(); ++row) {
    rows_.push_back(MakeHost(frame_, HostId{row}));
  }
  for (uint32_t row = 0; row < trace().device().size(); ++row) {
    rows_.push_back(MakeDevice(frame_, DeviceId{row}));
  }
}

// Operators of Triton kernels have a stream of their own.
void HtaEvents::MarkTriton() {
  std::vector<char> is_triton(trace().host().size(), 0);
  for (const HtaRow& row : HtaDeviceRows(frame_)) {
    if (row.op.valid()) {
      is_triton[row.op.value] = 1;
    }
  }
  for (HtaEvent& event : rows_) {
    if (event.is_host() && is_triton[event.host.value] != 0) {
      event.stream = 0;
    }
  }
}

void HtaEvents::TieAndFilter() {
  HashMap<int64_t, Ends> ends;
  for (HtaEventRow row = 0; row < rows_.size(); ++row) {
    if (rows_[row].correlation >= 0) {
      Ends& found = ends[rows_[row].correlation];
      (IsDeviceSide(row) ? found.device : found.host) = row;
    }
  }
  std::vector<HtaEventRow> new_row(rows_.size(), kNoHtaEvent);
  HtaEventRow kept = 0;
  for (HtaEventRow row = 0; row < rows_.size(); ++row) {
    const HtaEvent& event = rows_[row];
    if (event.is_host() ? frame_.Keeps(event.host) : frame_.Repeats(event.device) > 0) {
      new_row[row] = kept++;
    }
  }
  for (HtaEventRow row = 0; row < rows_.size(); ++row) {
    if (new_row[row] == kNoHtaEvent) {
      continue;
    }
    const auto found = ends.find(rows_[row].correlation);
    const bool is_device = IsDeviceSide(row);
    HtaEvent& event = rows_[new_row[row]] = rows_[row];
    if (found != ends.end()) {
      const HtaEventRow partner = is_device ? found->second.host : found->second.device;
      event.partner = partner == kNoHtaEvent ? kNoHtaEvent : new_row[partner];
    }
  }
  rows_.resize(kept);
}

bool HtaEvents::IsSync(HtaEventRow row) const {
  const DeviceId id = rows_[row].device;
  return id.valid() && trace().device().kind[id.value] == DeviceKind::kSync;
}

bool HtaEvents::IsLaunch(HtaEventRow row) const {
  return IsHtaQueueLaunch(NameOf(row)) && HasPartner(row);
}

std::vector<HtaEventRow> HtaEvents::FrameOrder() const {
  std::vector<HtaEventRow> order(rows_.size());
  for (HtaEventRow row = 0; row < order.size(); ++row) {
    order[row] = row;
  }
  if (frame_.filters_steps()) {
    std::stable_partition(order.begin(), order.end(),
                          [&](HtaEventRow row) { return IsDeviceSide(row); });
  }
  return order;
}

}  // namespace borescope::internal
