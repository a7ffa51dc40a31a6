#include "borescope/index/clocks/device_clocks.h"

#include <algorithm>
#include <functional>
#include <map>

#include "borescope/base/each_row.h"

namespace borescope::internal {
namespace {

enum class PairKind : uint8_t { kLaunch, kWait, kInferredWait };

// The values of the skew that the pairs of one device allow.
struct Allowed {
  int64_t lowest_ns = -kMostSkewNs;
  int64_t highest_ns = kMostSkewNs;
  // Bounds of launches and recorded waits that contradict each other.
  std::vector<int64_t> launches;
  std::vector<int64_t> waits;

  bool is_empty() const { return lowest_ns > highest_ns; }
};

// Whether a skew that satisfies the bound can be that of a clock. Launches give lower bounds, waits
// upper ones.
bool IsPlausible(PairKind kind, int64_t bound_ns) {
  return kind == PairKind::kLaunch ? bound_ns <= kMostSkewNs : bound_ns >= -kMostSkewNs;
}

// The values with the least sum of contradictions. Where k launches and k waits contradict each
// other, each value between the k-th and the next of both violates k bounds on either side, so the
// sum is the same for all values in between.
void Reconcile(Allowed& allowed) {
  std::sort(allowed.launches.begin(), allowed.launches.end(), std::greater<>());
  std::sort(allowed.waits.begin(), allowed.waits.end());
  const size_t both = std::min(allowed.launches.size(), allowed.waits.size());
  size_t count = 0;
  while (count < both && allowed.launches[count] > allowed.waits[count]) {
    ++count;
  }
  if (count == 0) {
    return;
  }
  allowed.lowest_ns = allowed.waits[count - 1];
  allowed.highest_ns = allowed.launches[count - 1];
  if (count < allowed.launches.size()) {
    allowed.lowest_ns = std::max(allowed.lowest_ns, allowed.launches[count]);
  }
  if (count < allowed.waits.size()) {
    allowed.highest_ns = std::min(allowed.highest_ns, allowed.waits[count]);
  }
}

class Estimate {
 public:
  Estimate(const Trace& trace, const Correlation& correlation, std::span<const WaitPair> waits)
      : trace_(trace), correlation_(correlation), waits_(waits), slots_(trace.tracks().size()) {}

  DeviceClocks Make() {
    NumberDevices();
    allowed_.resize(result_.clocks.size());
    ForEachPair(
        [&](uint32_t slot, PairKind kind, int64_t bound_ns) { Count(slot, kind, bound_ns); });
    ReconcileAll();
    ForEachPair([&](uint32_t slot, PairKind kind, int64_t bound_ns) {
      Allowed& allowed = allowed_[slot];
      if (kind == PairKind::kInferredWait && bound_ns >= allowed.lowest_ns) {
        allowed.highest_ns = std::min(allowed.highest_ns, bound_ns);
      }
    });
    for (uint32_t slot = 0; slot < allowed_.size(); ++slot) {
      result_.clocks[slot].skew_ns =
          std::clamp(int64_t{0}, allowed_[slot].lowest_ns, allowed_[slot].highest_ns);
    }
    ForEachPair([&](uint32_t slot, PairKind kind, int64_t bound_ns) {
      DeviceClock& clock = result_.clocks[slot];
      const bool holds =
          kind == PairKind::kLaunch ? bound_ns <= clock.skew_ns : bound_ns >= clock.skew_ns;
      clock.contradicting += holds ? 0 : 1;
    });
    SpreadToTracks();
    return std::move(result_);
  }

 private:
  void NumberDevices() {
    const Tracks& tracks = trace_.tracks();
    std::map<int64_t, uint32_t> numbers;
    for (size_t track = 0; track < tracks.size(); ++track) {
      if (tracks.kind[track] == TrackKind::kDevice) {
        numbers.try_emplace(tracks.pid[track], 0);
      }
    }
    for (auto& [device, slot] : numbers) {
      slot = static_cast<uint32_t>(result_.clocks.size());
      result_.clocks.push_back({.device = device});
    }
    for (size_t track = 0; track < tracks.size(); ++track) {
      if (tracks.kind[track] == TrackKind::kDevice) {
        slots_[track] = numbers[tracks.pid[track]];
      }
    }
  }

  // Calls visit(slot, kind, bound) for launches, then waits.
  template <class Visit>
  void ForEachPair(const Visit& visit) const {
    const DeviceEvents& device = trace_.device();
    for (const uint32_t row : EachRow(device.size())) {
      const HostId launch = correlation_.launch_of[row];
      if (IsDeviceWork(device.kind[row]) && launch.valid()) {
        visit(slots_[device.track[row].value], PairKind::kLaunch,
              trace_.host().ts_ns[launch.value] - device.ts_ns[row]);
      }
    }
    for (const size_t i : EachIndex(waits_.size())) {
      const WaitPair& wait = waits_[i];
      visit(slots_[device.track[wait.work.value].value],
            wait.inferred ? PairKind::kInferredWait : PairKind::kWait,
            trace_.host().end_ns(wait.call) - device.end_ns(wait.work));
    }
  }

  void Count(uint32_t slot, PairKind kind, int64_t bound_ns) {
    DeviceClock& clock = result_.clocks[slot];
    int64_t* counts[] = {&clock.launches, &clock.waits, &clock.inferred};
    ++*counts[static_cast<size_t>(kind)];
    if (!IsPlausible(kind, bound_ns) || kind == PairKind::kInferredWait) {
      return;
    }
    int64_t& limit = kind == PairKind::kLaunch ? clock.lowest_ns : clock.highest_ns;
    if (limit == kMissing) {
      limit = bound_ns;
    }
    limit = kind == PairKind::kLaunch ? std::max(limit, bound_ns) : std::min(limit, bound_ns);
  }

  void ReconcileAll() {
    bool has_contradictions = false;
    for (uint32_t slot = 0; slot < allowed_.size(); ++slot) {
      const DeviceClock& clock = result_.clocks[slot];
      Allowed& allowed = allowed_[slot];
      allowed.lowest_ns = std::max(allowed.lowest_ns, clock.lowest_ns);
      allowed.highest_ns = clock.highest_ns == kMissing
                               ? allowed.highest_ns
                               : std::min(allowed.highest_ns, clock.highest_ns);
      has_contradictions = has_contradictions || allowed.is_empty();
    }
    if (!has_contradictions) {
      return;
    }
    ForEachPair([&](uint32_t slot, PairKind kind, int64_t bound_ns) {
      Allowed& allowed = allowed_[slot];
      if (!allowed.is_empty() || !IsPlausible(kind, bound_ns)) {
        return;
      }
      if (kind == PairKind::kLaunch && bound_ns > allowed.highest_ns) {
        allowed.launches.push_back(bound_ns);
      } else if (kind == PairKind::kWait && bound_ns < allowed.lowest_ns) {
        allowed.waits.push_back(bound_ns);
      }
    });
    for (Allowed& allowed : allowed_) {
      Reconcile(allowed);
    }
  }

  // Devices without pairs have no clock of their own.
  void SpreadToTracks() {
    const Tracks& tracks = trace_.tracks();
    result_.track_skew_ns.assign(tracks.size(), 0);
    for (size_t track = 0; track < tracks.size(); ++track) {
      if (tracks.kind[track] == TrackKind::kDevice) {
        result_.track_skew_ns[track] = result_.clocks[slots_[track]].skew_ns;
      }
    }
    std::erase_if(result_.clocks, [](const DeviceClock& clock) {
      return clock.launches + clock.waits + clock.inferred == 0;
    });
  }

  const Trace& trace_;
  const Correlation& correlation_;
  std::span<const WaitPair> waits_;
  std::vector<uint32_t> slots_;  // per device track: index of its clock
  DeviceClocks result_;
  std::vector<Allowed> allowed_;  // per clock
};

}  // namespace

DeviceClocks EstimateClocks(const Trace& trace, const Correlation& correlation,
                            std::span<const WaitPair> waits) {
  return Estimate(trace, correlation, waits).Make();
}

}  // namespace borescope::internal
