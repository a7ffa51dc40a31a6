#include "borescope/analysis/measures/idle/device_use.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <utility>

#include "borescope/analysis/measures/idle/stream_gaps.h"
#include "borescope/analysis/measures/time/duration_stats.h"
#include "borescope/base/each_row.h"
#include "borescope/base/saturating.h"
#include "borescope/index/syncs/sync_edges.h"

namespace borescope::internal {

namespace {

int64_t SelectedBusy(const DeviceIdle& device) {
  return Coverage(Intersect(device.time->busy, device.windows));
}

IntervalSet Shifted(IntervalSet set, int64_t by_ns) {
  for (Interval& part : set) {
    part = {AddSaturating(part.begin, by_ns), AddSaturating(part.end, by_ns)};
  }
  return set;
}

// The process that launched most of the work on `tracks`, by time; kMissing if most of it has no
// recorded launch. Of equal ones the first by number.
int64_t MainProcessOf(const RankView& view, const std::vector<uint32_t>& tracks) {
  const Tracks& all = view.trace.tracks();
  const DeviceEvents& device = view.trace.device();
  std::map<int64_t, int64_t> times;
  for (const uint32_t track : tracks) {
    for (const uint32_t row : EachRow(all.first_row[track], all.end_row[track])) {
      const HostId launch = view.index.correlation.launch_of[row];
      if (IsDeviceWork(device.kind[row])) {
        const int64_t process =
            launch.valid() ? all.pid[view.trace.host().track[launch.value].value] : kMissing;
        AddSaturatingTo(times[process], device.dur_ns[row]);
      }
    }
  }
  const auto most = std::max_element(
      times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == times.end() ? kMissing : most->first;
}

// A launch call that takes long, and the devices that its work is on.
struct LongLaunchCall {
  Interval time;
  std::vector<int64_t> gpus;
};

// What the threads of the host do for which a device may idle because of another.
class DeviceHosts {
 public:
  explicit DeviceHosts(const RankView& view) {
    const Trace& trace = view.trace;
    const HostEvents& host = trace.host();
    std::vector<char> blocks(trace.strings().size(), 2);
    std::map<uint32_t, std::vector<Interval>> blocked;
    for (const uint32_t row : EachRow(host.size())) {
      if (host.kind[row] != HostKind::kRuntime) {
        continue;
      }
      const Interval time{host.ts_ns[row], host.end_ns(HostId{row})};
      char& known = blocks[host.name[row].value];
      if (known == 2) {
        known = AlwaysBlocks(ClassifyBlockingCall(trace.Name(HostId{row}))) ? 1 : 0;
      }
      if (known == 1) {
        blocked[host.track[row].value].push_back(time);
      } else if (time.length() >= kOrdinaryLaunchNs && host.detail[row] != kNoDetail) {
        AddLong(view, row, time);
      }
    }
    for (auto& [track, times] : blocked) {
      blocked_[track] = Union(std::move(times));
    }
  }

  // When the thread of a launch waited for devices.
  IntervalSet WaitsIn(TrackId thread, Interval time) const {
    const auto found = blocked_.find(thread.value);
    return found == blocked_.end() ? IntervalSet() : Clip(found->second, time);
  }

  // When the thread was in launch calls for other devices that take long.
  IntervalSet LongLaunchesIn(TrackId thread, Interval time, int64_t gpu) const {
    const auto found = long_.find(thread.value);
    if (found == long_.end()) {
      return {};
    }
    const std::vector<LongLaunchCall>& calls = found->second;
    auto call = std::partition_point(calls.begin(), calls.end(), [&](const LongLaunchCall& one) {
      return one.time.end <= time.begin;
    });
    IntervalSet times;
    for (; call != calls.end() && call->time.begin < time.end; ++call) {
      if (std::find(call->gpus.begin(), call->gpus.end(), gpu) == call->gpus.end()) {
        Extend(times, {std::max(call->time.begin, time.begin), std::min(call->time.end, time.end)});
      }
    }
    return times;
  }

 private:
  // Calls around others come first and last longer; the inner ones of these add nothing.
  void AddLong(const RankView& view, uint32_t row, Interval time) {
    std::vector<int64_t> gpus;
    for (const DeviceId id : view.index.correlation.DevicesOf(view.trace.host().detail[row])) {
      if (IsDeviceWork(view.trace.device().kind[id.value])) {
        gpus.push_back(view.trace.DeviceOf(id));
      }
    }
    std::vector<LongLaunchCall>& calls = long_[view.trace.host().track[row].value];
    if (!gpus.empty() && (calls.empty() || calls.back().time.end <= time.begin)) {
      calls.push_back({time, std::move(gpus)});
    }
  }

  std::map<uint32_t, IntervalSet> blocked_;               // by thread
  std::map<uint32_t, std::vector<LongLaunchCall>> long_;  // by thread, disjoint, by time
};

// The devices of one process, which are two or more; all times are on the clock of the host.
class DevicesOfProcess {
 public:
  DevicesOfProcess(const RankView& view, const IdleTimes& idle, const DeviceHosts& hosts,
                   std::vector<size_t> devices)
      : view_(view), idle_(idle), hosts_(hosts), devices_(std::move(devices)) {
    any_ = WorkOf(devices_, Windows::kAll).any;
    any_before_ns_.reserve(any_.size());
    int64_t sum_ns = 0;
    for (const Interval& part : any_) {
      any_before_ns_.push_back(sum_ns);
      AddSaturatingTo(sum_ns, part.length());
    }
  }

  void Compare(std::vector<DeviceUse>& uses) {
    const Work selected = WorkOf(devices_, Windows::kSelected);
    const int64_t any_ns = Coverage(selected.any);
    const int64_t together_ns = Coverage(selected.together);
    for (const size_t i : devices_) {
      uses[i].any_ns = any_ns;
      uses[i].together_ns = together_ns;
      for (const IdlePiece& piece : idle_.devices[i].pieces) {
        AddPiece(i, piece, uses[i]);
      }
    }
  }

 private:
  // When one or more of some devices work, and when two or more.
  struct Work {
    IntervalSet any;
    IntervalSet together;
  };

  // What holds a device may be of another step than its own, and outside of what is selected.
  enum class Windows : uint8_t { kSelected, kAll };

  // By halves, so that many devices take no longer than as many intervals of few.
  Work WorkOf(std::span<const size_t> devices, Windows windows) const {
    if (devices.size() == 1) {
      const DeviceIdle& device = idle_.devices[devices.front()];
      const IntervalSet& busy = device.time->busy;
      return {Shifted(windows == Windows::kAll ? busy : Intersect(busy, device.windows),
                      device.skew_ns),
              {}};
    }
    const size_t half = devices.size() / 2;
    const Work first = WorkOf(devices.first(half), windows);
    const Work second = WorkOf(devices.subspan(half), windows);
    return {Union(first.any, second.any),
            Union(Union(first.together, second.together), Intersect(first.any, second.any))};
  }

  // For how long one or more work up to a time.
  int64_t AnyUpTo(int64_t ns) const {
    const auto next = std::partition_point(any_.begin(), any_.end(),
                                           [ns](const Interval& part) { return part.begin < ns; });
    if (next == any_.begin()) {
      return 0;
    }
    const Interval last = *std::prev(next);
    return any_before_ns_[static_cast<size_t>(next - any_.begin()) - 1] + std::min(last.end, ns) -
           last.begin;
  }

  void AddPiece(size_t device, const IdlePiece& piece, DeviceUse& use) {
    const DeviceIdle& idle = idle_.devices[device];
    const Interval time{AddSaturating(piece.time.begin, idle.skew_ns),
                        AddSaturating(piece.time.end, idle.skew_ns)};
    // As this device idles, what works is another one.
    int64_t ns = 0;
    for (const Interval& part : TimesIn(device, piece, time)) {
      AddSaturatingTo(ns, SubtractSaturating(AnyUpTo(part.end), AnyUpTo(part.begin)));
    }
    const bool is_at_end = piece.cause == IdleCause::kTail;
    if (ns <= (is_at_end ? 0 : kUsualDelayNs)) {
      return;  // the device next to it has something to do now and then
    }
    AddSaturatingTo(use.held_ns[static_cast<size_t>(piece.cause)], ns);
    if (piece.cause == IdleCause::kUnrecorded && piece.time.end <= idle.gaps.first_ns) {
      AddSaturatingTo(use.held_at_begin_ns, ns);
    }
    if (piece.time.length() > use.longest.length() && !is_at_end) {
      use.longest = piece.time;
    }
  }

  // The part of a piece for which another device may be the reason.
  IntervalSet TimesIn(size_t device, const IdlePiece& piece, Interval time) {
    const HostEvents& host = view_.trace.host();
    if (piece.cause == IdleCause::kTail) {
      return {time};
    }
    if (!piece.launch.valid()) {
      return {};
    }
    const TrackId thread = host.track[piece.launch.value];
    switch (piece.cause) {
      case IdleCause::kSync:
        return hosts_.WaitsIn(thread, time);
      case IdleCause::kHost:
        return hosts_.LongLaunchesIn(thread, time, idle_.devices[device].time->gpu);
      case IdleCause::kDevice:
        return time.length() > kUsualDelayNs && IsHandedOver(device, time.end) ? IntervalSet{time}
                                                                               : IntervalSet();
      case IdleCause::kUnrecorded:  // what is before the launch is of copies without a record
        return time.begin >= host.ts_ns[piece.launch.value] && IsHandedOver(device, time.end)
                   ? IntervalSet{time}
                   : IntervalSet();
      default:
        return {};
    }
  }

  // Whether work of another device ended so shortly before that work which begins then may have
  // waited for it.
  bool IsHandedOver(size_t device, int64_t begin_ns) {
    if (ends_.empty()) {
      FindEnds();
    }
    auto end = std::lower_bound(ends_.begin(), ends_.end(),
                                std::pair(SubtractSaturating(begin_ns, kUsualDelayNs), size_t{0}));
    const int64_t latest_ns = AddSaturating(begin_ns, kClockDoubtNs);
    while (end != ends_.end() && end->first <= latest_ns && end->second == device) {
      ++end;  // it idles before: few of its own can be here
    }
    return end != ends_.end() && end->first <= latest_ns;
  }

  void FindEnds() {
    const Tracks& all = view_.trace.tracks();
    const DeviceEvents& work = view_.trace.device();
    for (const size_t i : devices_) {
      const DeviceIdle& device = idle_.devices[i];
      for (const uint32_t track : device.time->tracks) {
        for (const uint32_t row : EachRow(all.first_row[track], all.end_row[track])) {
          if (IsDeviceWork(work.kind[row])) {
            ends_.emplace_back(AddSaturating(work.end_ns(DeviceId{row}), device.skew_ns), i);
          }
        }
      }
    }
    std::sort(ends_.begin(), ends_.end());
  }

  const RankView& view_;
  const IdleTimes& idle_;
  const DeviceHosts& hosts_;
  const std::vector<size_t> devices_;
  IntervalSet any_;                               // when one or more work, selected or not
  std::vector<int64_t> any_before_ns_;            // of each part of any_
  std::vector<std::pair<int64_t, size_t>> ends_;  // of all work, with its device, sorted
};

}  // namespace

std::vector<char> FindHardlyUsed(const IdleTimes& idle) {
  std::vector<int64_t> busy_ns;
  busy_ns.reserve(idle.devices.size());
  for (const DeviceIdle& device : idle.devices) {
    busy_ns.push_back(SelectedBusy(device));
  }
  const int64_t most_ns = busy_ns.empty() ? 0 : *std::max_element(busy_ns.begin(), busy_ns.end());
  std::vector<char> hardly;
  hardly.reserve(busy_ns.size());
  for (const int64_t ns : busy_ns) {
    hardly.push_back(IsHardlyUsed(ns, most_ns) ? 1 : 0);
  }
  return hardly;
}

std::vector<DeviceUse> FindDeviceUse(const RankView& view, const IdleTimes& idle) {
  const std::vector<char> hardly = FindHardlyUsed(idle);
  std::vector<DeviceUse> uses;
  std::map<int64_t, std::vector<size_t>> processes;
  for (size_t i = 0; i < idle.devices.size(); ++i) {
    const DeviceIdle& device = idle.devices[i];
    DeviceUse& use = uses.emplace_back();
    use.gpu = device.time->gpu;
    use.span_ns = Coverage(device.windows);
    use.busy_ns = SelectedBusy(device);
    use.is_hardly_used = hardly[i] != 0;
    if (idle.devices.size() > 1 && !use.is_hardly_used) {
      use.process = MainProcessOf(view, device.time->tracks);
      processes[use.process].push_back(i);
    }
  }
  processes.erase(kMissing);  // whether it is one process is not known
  std::erase_if(processes, [](const auto& process) { return process.second.size() < 2; });
  if (processes.empty()) {
    return uses;
  }
  const DeviceHosts hosts(view);
  for (auto& [pid, devices] : processes) {
    DevicesOfProcess(view, idle, hosts, std::move(devices)).Compare(uses);
  }
  return uses;
}

}  // namespace borescope::internal
