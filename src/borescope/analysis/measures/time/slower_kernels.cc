#include "borescope/analysis/measures/time/slower_kernels.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/base/each_row.h"
#include "borescope/base/saturating.h"
#include "borescope/index/names/kernel_class.h"

namespace borescope::internal {

namespace {

constexpr double kLeastRatio = 1.1;
constexpr double kSlowerBy = 1.05;
constexpr double kMostOfGroups = 0.8;
constexpr size_t kLeastGroups = 2;
constexpr double kLeastPartOfSide = 0.1;
constexpr double kLeastCompared = 0.5;
constexpr double kSteady = 0.3;
constexpr size_t kQuarters = 4;

double LogOf(int64_t ns) { return std::log(static_cast<double>(std::max<int64_t>(ns, 1))); }

// Sums of logarithms of times, beside or on both sides of a place.
struct LogSum {
  int64_t count = 0;
  double logs = 0;
  double ns = 0;

  void Add(const KernelTime& launch) {
    ++count;
    logs += LogOf(launch.dur_ns);
    ns += static_cast<double>(launch.dur_ns);
  }
  double mean() const { return logs / static_cast<double>(count); }
};

struct Weighted {
  double weight = 0;
  double sum = 0;

  double mean() const { return sum / weight; }
};

size_t CountGroups(std::span<const KernelTime> launches) {
  uint32_t groups = 0;
  for (const KernelTime& launch : launches) {
    groups = std::max(groups, launch.group + 1);
  }
  return groups;
}

// How a launch differs from the mean of its group, and what it counts; groups with few launches
// count nothing.
class Deviations {
 public:
  Deviations(std::span<const KernelTime> launches, int64_t least)
      : least_(least), groups_(CountGroups(launches)) {
    for (const KernelTime& launch : launches) {
      groups_[launch.group].Add(launch);
    }
  }

  double WeightOf(const KernelTime& launch) const {
    const LogSum& group = groups_[launch.group];
    return group.count < 2 * least_ ? 0 : group.ns / static_cast<double>(group.count);
  }
  double Of(const KernelTime& launch) const {
    return LogOf(launch.dur_ns) - groups_[launch.group].mean();
  }
  Weighted SumOf(std::span<const KernelTime> launches) const {
    Weighted sum;
    for (const KernelTime& launch : launches) {
      const double weight = WeightOf(launch);
      sum.weight += weight;
      sum.sum += weight * Of(launch);
    }
    return sum;
  }

 private:
  const int64_t least_;
  std::vector<LogSum> groups_;
};

// The place that explains most, with longer times after it; the number of launches if none does.
size_t PlaceOfStep(std::span<const KernelTime> launches, const Deviations& deviations) {
  const Weighted all = deviations.SumOf(launches);
  Weighted before;
  size_t place = launches.size();
  double most = 0;
  for (const size_t i : EachIndex(launches.size())) {
    const Weighted after{all.weight - before.weight, all.sum - before.sum};
    const double least = kLeastPartOfSide * all.weight;
    if (before.weight >= least && after.weight >= least && before.weight > 0 && after.weight > 0) {
      const double longer = after.mean() - before.mean();
      const double explained = longer * longer * before.weight * after.weight;
      if (longer > 0 && explained > most) {
        most = explained;
        place = i;
      }
    }
    const double weight = deviations.WeightOf(launches[i]);
    before.weight += weight;
    before.sum += weight * deviations.Of(launches[i]);
  }
  return place;
}

// Whether all quarters of a side, by weight, are near its mean.
bool IsSteady(std::span<const KernelTime> side, const Deviations& deviations, double difference) {
  const Weighted all = deviations.SumOf(side);
  std::array<Weighted, kQuarters> quarters{};
  double weight = 0;
  for (const KernelTime& launch : side) {
    const double own = deviations.WeightOf(launch);
    const auto quarter = static_cast<size_t>(static_cast<double>(kQuarters) * weight / all.weight);
    Weighted& sum = quarters[std::min(quarter, kQuarters - 1)];
    sum.weight += own;
    sum.sum += own * deviations.Of(launch);
    weight += own;
  }
  return std::all_of(quarters.begin(), quarters.end(), [&](const Weighted& quarter) {
    return quarter.weight == 0 || std::abs(quarter.mean() - all.mean()) <= kSteady * difference;
  });
}

}  // namespace

std::optional<SlowerKernels> FindSlowerKernels(std::span<const KernelTime> launches,
                                               int64_t least) {
  const Deviations deviations(launches, least);
  const size_t place = PlaceOfStep(launches, deviations);
  if (place == launches.size()) {
    return std::nullopt;
  }
  const std::span<const KernelTime> before = launches.first(place);
  const std::span<const KernelTime> after = launches.subspan(place);
  std::vector<std::array<LogSum, 2>> groups(CountGroups(launches));
  double all_ns = 0;
  for (const size_t i : EachIndex(launches.size())) {
    groups[launches[i].group][i < place ? 0 : 1].Add(launches[i]);
    all_ns += static_cast<double>(launches[i].dur_ns);
  }
  SlowerKernels found{.first = place};
  double compared_ns = 0;
  double longer_ns = 0;
  double logs = 0;
  double lost_ns = 0;
  size_t longer_groups = 0;
  for (const auto& [early, late] : groups) {
    if (early.count < least || late.count < least) {
      continue;
    }
    const double ns = early.ns + late.ns;
    const double ratio = std::exp(late.mean() - early.mean());
    found.launches += early.count + late.count;
    compared_ns += ns;
    logs += ns * (late.mean() - early.mean());
    lost_ns += late.ns * (1 - 1 / ratio);
    if (ratio >= kSlowerBy) {
      longer_ns += ns;
      ++longer_groups;
    }
  }
  if (compared_ns <= 0) {
    return std::nullopt;
  }
  found.ratio = std::exp(logs / compared_ns);
  found.compared_ns = TruncateSaturating(compared_ns);
  found.lost_ns = TruncateSaturating(lost_ns);
  const double difference = deviations.SumOf(after).mean() - deviations.SumOf(before).mean();
  const bool is_clear = compared_ns >= kLeastCompared * all_ns && found.ratio >= kLeastRatio &&
                        longer_ns >= kMostOfGroups * compared_ns && longer_groups >= kLeastGroups;
  return is_clear && IsSteady(before, deviations, difference) &&
                 IsSteady(after, deviations, difference)
             ? std::optional(found)
             : std::nullopt;
}

namespace {

// The shapes of the operator that launched a kernel, as a StringId; kMissing if they are not known.
int64_t ShapesOf(const RankView& view, DeviceId id) {
  const HostEvents& host = view.trace.host();
  const HostId launch = view.index.correlation.launch_of[id.value];
  const HostId op = launch.valid() ? view.index.tree.parent[launch.value] : HostId{};
  if (!op.valid() || host.kind[op.value] != HostKind::kOp || host.detail[op.value] == kNoDetail) {
    return kMissing;
  }
  const StringId dims = view.trace.ops().input_dims[host.detail[op.value]];
  return dims.valid() ? dims.value : kMissing;
}

// A launch, and the step that it is of.
struct StepTime {
  KernelTime time;
  uint32_t step = kNoStep;
};

// Calls of a kernel with equal blocks may do unequal work. Those at the same place among its calls
// in their steps do the same, if steps do.
std::vector<KernelTime> ByPlaceInStep(const std::vector<StepTime>& launches, size_t groups) {
  struct Last {
    uint32_t step = kNoStep;
    int64_t place = 0;
  };
  std::vector<Last> last(groups);
  Grouper places(2);
  std::vector<KernelTime> times;
  times.reserve(launches.size());
  for (const StepTime& launch : launches) {
    Last& before = last[launch.time.group];
    before.place = before.step == launch.step ? before.place + 1 : 0;
    before.step = launch.step;
    const std::array<int64_t, 2> key = {launch.time.group,
                                        launch.step == kNoStep ? kMissing : before.place};
    times.push_back({launch.time.begin_ns, launch.time.dur_ns, places.Find(key)});
  }
  return times;
}

}  // namespace

KernelTimes TimesOfKernels(const RankView& view, const Selected& selected,
                           std::span<const uint32_t> tracks) {
  constexpr size_t kKeys = 8;
  const DeviceEvents& device = view.trace.device();
  const Kernels& kernels = view.trace.kernels();
  const Tracks& all = view.trace.tracks();
  Grouper groups(kKeys);
  KernelTimes times;
  std::vector<StepTime> launches;
  const bool has_steps = !view.steps().steps.empty();
  for (const uint32_t track : tracks) {
    for (const uint32_t row : EachRow(all.first_row[track], all.end_row[track])) {
      const DeviceId id{row};
      if (device.kind[row] != DeviceKind::kKernel || !selected.Keeps(id) ||
          ActivityOf(device.kind[row], view.index.ClassOf(view.trace, id)) != Activity::kCompute) {
        continue;
      }
      AddSaturatingTo(times.all_ns, device.dur_ns[row]);
      const uint32_t detail = device.detail[row];
      if (detail == kNoDetail || kernels.grid_x[detail] < 0 || kernels.block_x[detail] < 0) {
        continue;
      }
      const std::array<int64_t, kKeys> key = {device.name[row].value,  kernels.grid_x[detail],
                                              kernels.grid_y[detail],  kernels.grid_z[detail],
                                              kernels.block_x[detail], kernels.block_y[detail],
                                              kernels.block_z[detail], ShapesOf(view, id)};
      launches.push_back({{device.ts_ns[row], device.dur_ns[row], groups.Find(key)},
                          has_steps ? StepOf(view, id, StepRule::kLaunch) : kNoStep});
    }
  }
  std::stable_sort(launches.begin(), launches.end(), [](const StepTime& a, const StepTime& b) {
    return a.time.begin_ns < b.time.begin_ns;
  });
  times.least = has_steps ? 2 : 4;
  times.launches = ByPlaceInStep(launches, groups.size());
  return times;
}

}  // namespace borescope::internal
