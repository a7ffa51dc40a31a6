// annotations: time under each annotation, as recorded on the host and as seen on the device. Each
// counts with its whole length, nested ones too, so that totals of different names may overlap.
// annotated_kernels says what ran under them: every piece of device work once, under its leaf
// annotation, or under none.
#include <cstdint>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/time/duration_stats.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/each_row.h"
#include "borescope/index/call_tree.h"

namespace borescope::internal {

namespace {

// Which annotation each piece of device work belongs to: its leaf annotation, by true nesting.

enum class AnnotationSide : uint8_t { kHost, kDevice, kNone };

struct AnnotationLeaf {
  AnnotationSide side = AnnotationSide::kNone;
  StringId name;  // invalid on side kNone
};

struct AnnotationLeaves {
  std::vector<AnnotationLeaf> leaf;     // per device row; filled for device work
  std::vector<DeviceId> first_work_of;  // per device row; filled for annotations: the first work
                                        // they hold, invalid when there is none
};

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
// where a frame that began in an annotation outlives it. Parents come before children.
std::vector<HostId> HostAnnotations(const RankView& view) {
  const HostEvents& host = view.trace.host();
  std::vector<HostId> around(host.all_size());
  OpenSpans open(host);
  for (const uint32_t row : EachRow(around.size())) {
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
  for (const uint32_t row : EachRow(device.size())) {
    const HostId launch = correlation.launch_of[row];
    const HostId host = launch.valid() ? launch : correlation.op_of[row];
    if (!IsDeviceWork(device.kind[row]) || leaves.leaf[row].side != AnnotationSide::kNone ||
        !host.valid() || !around[host.value].valid()) {
      continue;
    }
    leaves.leaf[row] = {AnnotationSide::kHost, view.trace.host().name[around[host.value].value]};
  }
}

// The innermost device annotation on the stream that holds the start of the work (of several that
// are not nested the one begun last), else the innermost host annotation around its launch, else
// none. O(rows).
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

constexpr std::string_view kSideNames[] = {"host", "device", "none"};

// Durations by the extra keys, a side and two names.
class Groups {
 public:
  explicit Groups(const GroupKeys& keys) : keys_(keys), groups_(keys.size() + 3) {}

  template <class Id>  // the row that decides the extra keys
  void Add(Id id, AnnotationSide side, StringId annotation, StringId kernel, int64_t dur_ns) {
    key_.clear();
    keys_.Append(id, key_);
    key_.push_back(static_cast<int64_t>(side));
    key_.push_back(annotation.valid() ? annotation.value : kMissing);
    key_.push_back(kernel.valid() ? kernel.value : kMissing);
    const uint32_t group = groups_.Find(key_);
    stats_.resize(groups_.size());
    stats_[group].Add(dur_ns);
  }

  // One row each: rank, extra keys, side, annotation[, kernel], statistics.
  void PushRows(Table& table, const RankView& view, bool with_kernel) const {
    for (size_t i = 0; i < stats_.size(); ++i) {
      const std::span<const int64_t> key = groups_.key(i);
      Row row(table);
      row.Int(view.rank);
      keys_.PushBeforeName(row, key);
      const std::span<const int64_t> name = key.subspan(keys_.size());
      row.Text(kSideNames[name[0]]);
      row.MaybeText(TextOf(view, name[1]));
      if (with_kernel) {
        row.MaybeText(TextOf(view, name[2]));
      }
      PushDurations(row, stats_[i]);
    }
  }

 private:
  static std::string_view TextOf(const RankView& view, int64_t id) {
    return id == kMissing ? std::string_view()
                          : view.trace.Text(StringId{static_cast<uint32_t>(id)});
  }

  const GroupKeys& keys_;
  Grouper groups_;
  std::vector<DurationStats> stats_;
  std::vector<int64_t> key_;
};

Table AnnotationTable(const RankView& view, const GroupKeys& keys, const Groups& groups) {
  Table table{"annotations", "Time under each annotation", {}};
  AddRankKey(table);
  keys.AddColumnsBeforeName(table);
  AddString(table, "side", Role::kKey,
            "host: as the code ran; device: from the first to the last work on one stream.");
  AddString(table, "name", Role::kKey, "Name of the annotation.").hints = {
      .palette = Palette::kWork, .names = true};
  AddDurationColumns(table, "annotations of this name");
  groups.PushRows(table, view, false);
  return Sorted(table, "total_ns");
}

// Whether all annotations of the host are ranges that may start and end on different threads, as
// those of nvtxRangeStart and nvtxRangeEnd: nothing is known to be inside of these.
bool AreAllAsync(const Trace& trace) {
  const HostEvents& host = trace.host();
  bool has_any = false;
  for (const uint32_t row : EachRow(host.size())) {
    if (host.kind[row] == HostKind::kAnnotation) {
      if (trace.tracks().is_async[host.track[row].value] == 0) {
        return false;
      }
      has_any = true;
    }
  }
  return has_any;
}

Table KernelTable(const RankView& view, const GroupKeys& keys, const Groups& groups) {
  Table table{"annotated_kernels", "Device work under each annotation", {}, 20};
  if (AreAllAsync(view.trace)) {
    table.title +=
        " (none: all are ranges by start and end, which may end on another thread, so that no "
        "launch is known to be inside; --annotation NAME and --step-pattern select what was "
        "launched while one was open)";
  }
  AddRankKey(table);
  keys.AddColumnsBeforeName(table);
  AddString(table, "side", Role::kKey,
            "device: under an annotation of its stream; host: none there, but one around the "
            "launch; none: neither.");
  AddString(table, "annotation", Role::kKey, "The innermost annotation; missing on side none.");
  AddString(table, "name", Role::kKey, "Name of the kernel, memcpy or memset.");
  AddDurationColumns(table, "kernels, memcpys and memsets");
  groups.PushRows(table, view, true);
  return Sorted(table, "total_ns");
}

void AddHostAnnotations(const RankView& view, const Selected& selected, Groups& groups) {
  const HostEvents& host = view.trace.host();
  for (const uint32_t row : EachRow(host.size())) {
    if (host.kind[row] == HostKind::kAnnotation && selected.Keeps(HostId{row})) {
      groups.Add(HostId{row}, AnnotationSide::kHost, host.name[row], {}, host.dur_ns[row]);
    }
  }
}

// An annotation of the device belongs to the window in which the first work it holds was launched.
void AddDeviceAnnotations(const RankView& view, const Selected& selected,
                          const AnnotationLeaves& leaves, Groups& groups) {
  const DeviceEvents& device = view.trace.device();
  for (const uint32_t row : EachRow(device.size())) {
    if (device.kind[row] != DeviceKind::kAnnotation || !selected.KeepsTrack(device.track[row])) {
      continue;
    }
    const DeviceId work = leaves.first_work_of[row];
    if (work.valid() ? selected.Keeps(work) : selected.KeepsTime(device.ts_ns[row])) {
      groups.Add(work.valid() ? work : DeviceId{row}, AnnotationSide::kDevice, device.name[row], {},
                 device.dur_ns[row]);
    }
  }
}

void AddDeviceWork(const RankView& view, const Selected& selected, const AnnotationLeaves& leaves,
                   Groups& groups) {
  const DeviceEvents& device = view.trace.device();
  for (const uint32_t row : EachRow(device.size())) {
    if (IsDeviceWork(device.kind[row]) && selected.Keeps(DeviceId{row})) {
      const AnnotationLeaf& leaf = leaves.leaf[row];
      groups.Add(DeviceId{row}, leaf.side, leaf.name, device.name[row], device.dur_ns[row]);
    }
  }
}

Result<Tables> MapAnnotations(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  const GroupKeys keys(view, params.by, params.selection.step_rule);
  const AnnotationLeaves leaves = FindAnnotationLeaves(view);
  Groups annotations(keys);
  AddHostAnnotations(view, selected, annotations);
  AddDeviceAnnotations(view, selected, leaves, annotations);
  Groups kernels(keys);
  AddDeviceWork(view, selected, leaves, kernels);
  return Tables{AnnotationTable(view, keys, annotations), KernelTable(view, keys, kernels)};
}

constexpr std::string_view kStepKey[] = {"step"};
constexpr const ParamSpec* kHtaParams[] = {&kIncludeLastStepParam};
constexpr std::string_view kAnnotation[] = {"rank", "side", "name"};
constexpr std::string_view kTotal[] = {"total_ns"};
constexpr ViewSpec kViews[] = {
    {"annotations", ViewKind::kBars, "Time under annotations", kAnnotation, kTotal}};

}  // namespace

const AnalysisSpec kAnnotationsVerb{
    .name = "annotations",
    .summary = "time under each annotation, on host and device, and the kernels inside",
    .example = "borescope annotations trace.json.gz --top 20",
    .needs = Needs::kAnnotations,
    .by = kStepKey,
    .params = kHtaParams,
    .answer = {.map = MapAnnotations, .reduce = ConcatTables},
    .views = kViews};

}  // namespace borescope::internal
