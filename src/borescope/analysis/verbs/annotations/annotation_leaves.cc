#include "borescope/analysis/verbs/annotations/annotation_leaves.h"

#include "borescope/base/stop.h"
#include "borescope/index/call_tree.h"

namespace borescope::internal {
namespace {

// Annotations of one stream that have begun, by start; those that have ended are dropped once they
// are on top.
class OpenAnnotations {
 public:
  OpenAnnotations(const DeviceEvents& device, std::vector<DeviceId>& first_work_of)
      : device_(device), first_work_of_(first_work_of) {}

  void Begin(DeviceId annotation) { open_.push_back({annotation, false}); }

  // The innermost annotation that holds the start of `work`; invalid when there is none.
  DeviceId At(DeviceId work) {
    const int64_t now = device_.ts_ns[work.value];
    while (!open_.empty() && HasEnded(open_.back().annotation, now)) {
      open_.pop_back();
    }
    // Below one that has seen work all have seen it.
    for (size_t i = open_.size(); i > 0 && !open_[i - 1].has_seen_work; --i) {
      open_[i - 1].has_seen_work = true;
      if (!HasEnded(open_[i - 1].annotation, now)) {
        first_work_of_[open_[i - 1].annotation.value] = work;
      }
    }
    return open_.empty() ? DeviceId() : open_.back().annotation;
  }

 private:
  struct Open {
    DeviceId annotation;
    bool has_seen_work;
  };

  // Work without length that starts with an annotation without length lies inside.
  bool HasEnded(DeviceId annotation, int64_t now) const {
    return device_.end_ns(annotation) <= now &&
           !(device_.dur_ns[annotation.value] == 0 && device_.ts_ns[annotation.value] == now);
  }

  const DeviceEvents& device_;
  std::vector<DeviceId>& first_work_of_;
  std::vector<Open> open_;
};

// Annotations that start with the work hold it, however the rows are ordered.
void SweepStream(const RankView& view, uint32_t track, AnnotationLeaves& leaves) {
  const DeviceEvents& device = view.trace.device();
  const Tracks& tracks = view.trace.tracks();
  const uint32_t end = tracks.end_row[track];
  OpenAnnotations open(device, leaves.first_work_of);
  uint32_t next = tracks.first_row[track];  // the next row that may be an annotation
  for (uint32_t row = next; row < end; ++row) {
    for (; next < end && device.ts_ns[next] <= device.ts_ns[row]; ++next) {
      if (device.kind[next] == DeviceKind::kAnnotation) {
        open.Begin(DeviceId{next});
      }
    }
    if (!IsDeviceWork(device.kind[row])) {
      continue;
    }
    if (const DeviceId annotation = open.At(DeviceId{row}); annotation.valid()) {
      leaves.leaf[row] = {AnnotationSide::kDevice, device.name[annotation.value]};
    }
  }
}

// Per host row the innermost annotation around it, itself included: by the call tree, or in time
// where a frame that began in an annotation outlives it. Parents stand before children.
std::vector<HostId> HostAnnotations(const RankView& view) {
  const HostEvents& host = view.trace.host();
  std::vector<HostId> around(host.all_size());
  OpenSpans open(host);
  for (uint32_t row = 0; row < around.size(); ++row) {
    CheckStopAt(row);
    const HostId id{row};
    if (host.kind[row] == HostKind::kAnnotation) {
      around[row] = id;
      if (!host.IsCaptured(id)) {
        open.Open(id);
      }
      continue;
    }
    const HostId parent = view.index.tree.parent[row];
    const HostId in_tree = parent.valid() ? around[parent.value] : HostId();
    const HostId in_time = host.IsCaptured(id) ? HostId() : open.Around(id);
    const bool is_inner = in_time.valid() && (!in_tree.valid() || in_tree.value < in_time.value);
    around[row] = is_inner ? in_time : in_tree;
  }
  return around;
}

void FillFromHost(const RankView& view, AnnotationLeaves& leaves) {
  const std::vector<HostId> around = HostAnnotations(view);
  const Correlation& correlation = view.index.correlation;
  const DeviceEvents& device = view.trace.device();
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    const HostId launch = correlation.launch_of[row];
    const HostId host = launch.valid() ? launch : correlation.op_of[row];
    if (!IsDeviceWork(device.kind[row]) || leaves.leaf[row].side != AnnotationSide::kNone ||
        !host.valid() || !around[host.value].valid()) {
      continue;
    }
    leaves.leaf[row] = {AnnotationSide::kHost, view.trace.host().name[around[host.value].value]};
  }
}

}  // namespace

AnnotationLeaves FindAnnotationLeaves(const RankView& view) {
  AnnotationLeaves leaves;
  leaves.leaf.resize(view.trace.device().size());
  leaves.first_work_of.resize(view.trace.device().size());
  const Tracks& tracks = view.trace.tracks();
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] == TrackKind::kDevice) {
      SweepStream(view, track, leaves);
    }
  }
  FillFromHost(view, leaves);
  return leaves;
}

}  // namespace borescope::internal
