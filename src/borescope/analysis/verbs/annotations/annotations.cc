// annotations: time under each annotation, as recorded on the host and as seen on the device. Each
// counts with its whole length, nested ones too, so that totals of different names may overlap.
// annotated_kernels tells what ran under them: every piece of device work once, under its leaf
// annotation (annotation_leaves.h), or under none.
#include <vector>

#include "borescope/analysis/core/group_keys.h"
#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/time/duration_stats.h"
#include "borescope/analysis/verbs/annotations/annotation_leaves.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

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
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
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
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    if (host.kind[row] == HostKind::kAnnotation && selected.Keeps(HostId{row})) {
      groups.Add(HostId{row}, AnnotationSide::kHost, host.name[row], {}, host.dur_ns[row]);
    }
  }
}

// An annotation of the device belongs to the window in which the first work it holds was launched.
void AddDeviceAnnotations(const RankView& view, const Selected& selected,
                          const AnnotationLeaves& leaves, Groups& groups) {
  const DeviceEvents& device = view.trace.device();
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
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
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
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
