#include "borescope/analysis/measures/idle/inherited_work.h"

#include <algorithm>
#include <limits>
#include <map>

#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// Of the calls of one process, or of all.
struct FirstCalls {
  int64_t least_number = kNever;
  int64_t first_launch_ns = kNever;
};

// The first work of a track; the end of its rows if there is none.
uint32_t FirstWorkOn(const Trace& trace, uint32_t track) {
  const Tracks& tracks = trace.tracks();
  uint32_t row = tracks.first_row[track];
  while (row < tracks.end_row[track] && !IsDeviceWork(trace.device().kind[row])) {
    CheckStopAt(row);
    ++row;
  }
  return row;
}

// The streams that begin with work without a launch.
std::vector<uint32_t> CandidatesOf(const RankView& view) {
  const Tracks& tracks = view.trace.tracks();
  std::vector<uint32_t> candidates;
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] != TrackKind::kDevice) {
      continue;
    }
    const uint32_t first = FirstWorkOn(view.trace, track);
    if (first < tracks.end_row[track] && !view.index.correlation.launch_of[first].valid()) {
      candidates.push_back(track);
    }
  }
  return candidates;
}

// By process; of all under kMissing.
std::map<int64_t, FirstCalls> FindFirstCalls(const RankView& view) {
  const HostEvents& host = view.trace.host();
  std::map<int64_t, FirstCalls> calls;
  const auto use = [&](uint32_t row, const auto& add) {
    add(calls[kMissing]);
    add(calls[view.trace.tracks().pid[host.track[row].value]]);
  };
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    const uint32_t detail = host.detail[row];
    if (host.kind[row] != HostKind::kRuntime || detail == kNoDetail) {
      continue;
    }
    if (const int64_t number = view.trace.runtime_calls().correlation[detail]; number > 0) {
      use(row, [&](FirstCalls& of) { of.least_number = std::min(of.least_number, number); });
    }
  }
  for (const HostId launch : view.index.correlation.launch_of) {
    if (launch.valid()) {
      const int64_t begin_ns = host.ts_ns[launch.value];
      use(launch.value,
          [&](FirstCalls& of) { of.first_launch_ns = std::min(of.first_launch_ns, begin_ns); });
    }
  }
  return calls;
}

bool HasLaunchedWork(const RankView& view, uint32_t track) {
  const Tracks& tracks = view.trace.tracks();
  for (uint32_t row = tracks.first_row[track]; row < tracks.end_row[track]; ++row) {
    CheckStopAt(row);
    if (IsDeviceWork(view.trace.device().kind[row]) &&
        view.index.correlation.launch_of[row].valid()) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<char> StreamsWithInheritedWork(const RankView& view) {
  const Tracks& tracks = view.trace.tracks();
  std::vector<char> inherited(tracks.size());
  const std::vector<uint32_t> candidates = CandidatesOf(view);
  if (candidates.empty()) {
    return inherited;
  }
  const std::map<int64_t, FirstCalls> calls = FindFirstCalls(view);
  for (const uint32_t track : candidates) {
    const uint32_t row = FirstWorkOn(view.trace, track);
    const int64_t number = view.trace.device().correlation[row];
    const auto of_process = calls.find(tracks.process[track]);
    const auto found = of_process == calls.end() ? calls.find(kMissing) : of_process;
    if (found == calls.end() || found->second.first_launch_ns == kNever) {
      continue;
    }
    const FirstCalls& first = found->second;
    const bool is_inherited = number > 0 && first.least_number != kNever
                                  ? number < first.least_number
                                  : view.trace.device().ts_ns[row] < first.first_launch_ns ||
                                        HasLaunchedWork(view, track);
    inherited[track] = is_inherited ? 1 : 0;
  }
  return inherited;
}

bool IsOnAny(const std::vector<char>& inherited, std::span<const uint32_t> tracks) {
  return std::any_of(tracks.begin(), tracks.end(),
                     [&](uint32_t track) { return inherited[track] != 0; });
}

}  // namespace borescope::internal
