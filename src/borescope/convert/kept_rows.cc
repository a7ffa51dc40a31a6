#include "borescope/convert/kept_rows.h"

#include <utility>

#include "borescope/base/each_row.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

class RowKeeper {
 public:
  RowKeeper(const Trace& trace, const TraceIndex& index, const TimeWindow& window)
      : trace_(trace), index_(index), window_(window) {
    rows_.host.assign(trace.host().size(), 0);
    rows_.device.assign(trace.device().size(), 0);
  }

  KeptRows Keep() {
    KeepOverlapping(trace_.host(), rows_.host);
    KeepOverlapping(trace_.device(), rows_.device);
    KeepNeighbours();
    KeepWaitingWork();
    KeepCallees();
    KeepForwardPasses();
    KeepLaunches();
    KeepCallers();
    KeepSteps();
    return std::move(rows_);
  }

 private:
  template <class Spine>
  void KeepOverlapping(const Spine& spine, std::vector<char>& kept) const {
    for (const uint32_t row : EachRow(kept.size())) {
      const int64_t begin_ns = spine.ts_ns[row];
      const bool overlaps =
          begin_ns <= window_.end_ns && begin_ns + spine.dur_ns[row] >= window_.begin_ns;
      kept[row] = overlaps ? 1 : 0;
    }
  }

  void KeepNeighbours() {
    const Tracks& tracks = trace_.tracks();
    for (uint32_t track = 0; track < tracks.size(); ++track) {
      if (tracks.kind[track] == TrackKind::kDevice) {
        KeepNeighboursOn(tracks.first_row[track], tracks.end_row[track]);
      }
    }
  }

  // Before the window both the last to begin and the last to end, as work of some streams overlaps.
  void KeepNeighboursOn(uint32_t first, uint32_t end) {
    const DeviceEvents& device = trace_.device();
    uint32_t last_begun = end;
    uint32_t last_ended = end;
    for (const uint32_t row : EachRow(first, end)) {
      if (!IsDeviceWork(device.kind[row])) {
        continue;
      }
      if (device.ts_ns[row] > window_.end_ns) {
        rows_.device[row] = 1;
        break;
      }
      if (rows_.device[row] == 0) {
        last_begun = row;
        const bool ends_last = last_ended == end ||
                               device.end_ns(DeviceId{row}) >= device.end_ns(DeviceId{last_ended});
        last_ended = ends_last ? row : last_ended;
      }
    }
    for (const uint32_t row : {last_begun, last_ended}) {
      if (row != end) {
        rows_.device[row] = 1;
      }
    }
  }

  void KeepWaitingWork() {
    const DeviceEvents& device = trace_.device();
    for (const uint32_t row : EachRow(rows_.device.size())) {
      const HostId launch = index_.correlation.launch_of[row];
      const bool waits = launch.valid() && trace_.host().ts_ns[launch.value] <= window_.end_ns &&
                         device.end_ns(DeviceId{row}) >= window_.begin_ns;
      rows_.device[row] = waits ? 1 : rows_.device[row];
    }
  }

  // Self times of operators need all of their direct calls.
  void KeepCallees() {
    const HostEvents& host = trace_.host();
    for (const uint32_t row : EachRow(rows_.host.size())) {
      const HostId caller = index_.tree.parent[row];
      if (caller.valid() && host.ts_ns[row] > window_.end_ns &&
          window_.Holds(host.ts_ns[caller.value]) &&
          (index_.IsOperator(trace_, caller) || host.kind[caller.value] == HostKind::kAnnotation)) {
        rows_.host[row] = 1;
      }
    }
  }

  void KeepForwardPasses() {
    for (const ForwardBackwardLink& link : index_.forward_backward) {
      if (rows_.host[link.backward.value] != 0) {
        KeepHost(link.forward);
      }
    }
  }

  void KeepSteps() {
    const Steps& steps = index_.steps;
    for (const uint32_t row : EachRow(steps.device_step.size())) {
      if (rows_.device[row] != 0 && steps.device_step[row] != kNoStep) {
        KeepHost(steps.steps[steps.device_step[row]].annotation);
      }
    }
  }

  void KeepLaunches() {
    for (const uint32_t row : EachRow(rows_.device.size())) {
      if (rows_.device[row] != 0) {
        KeepHost(index_.correlation.launch_of[row]);
        KeepHost(index_.correlation.op_of[row]);
      }
    }
  }

  void KeepHost(HostId id) {
    if (id.valid()) {
      rows_.host[id.value] = 1;
    }
  }

  // Callers come before what they call, so one pass from the end reaches all.
  void KeepCallers() {
    for (auto row = static_cast<uint32_t>(rows_.host.size()); row-- > 0;) {
      CheckStopAt(row);
      if (rows_.host[row] != 0) {
        KeepHost(index_.tree.parent[row]);
      }
    }
  }

  const Trace& trace_;
  const TraceIndex& index_;
  const TimeWindow& window_;
  KeptRows rows_;
};

}  // namespace

KeptRows RowsOfWindow(const Trace& trace, const TraceIndex& index, const TimeWindow& window) {
  return RowKeeper(trace, index, window).Keep();
}

}  // namespace borescope::internal
