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

  void Add(int64_t number, bool launches, int64_t begin_ns) {
    least_number = number > 0 ? std::min(least_number, number) : least_number;
    first_launch_ns = launches ? std::min(first_launch_ns, begin_ns) : first_launch_ns;
  }
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
  FirstCalls& all = calls[kMissing];
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    const uint32_t detail = host.detail[row];
    if (host.kind[row] != HostKind::kRuntime || detail == kNoDetail) {
      continue;
    }
    const int64_t number = view.trace.runtime_calls().correlation[detail];
    const bool launches = !view.index.correlation.DevicesOf(detail).empty();
    all.Add(number, launches, host.ts_ns[row]);
    calls[view.trace.tracks().pid[host.track[row].value]].Add(number, launches, host.ts_ns[row]);
  }
  return calls;
}

}  // namespace

InheritedWork::InheritedWork(const RankView& view)
    : has_work_(view.trace.tracks().size()), end_rows_(view.trace.tracks().size()) {
  const Tracks& tracks = view.trace.tracks();
  std::copy(tracks.first_row.begin(), tracks.first_row.end(), end_rows_.begin());
  const std::vector<uint32_t> candidates = CandidatesOf(view);
  if (candidates.empty()) {
    return;
  }
  const std::map<int64_t, FirstCalls> calls = FindFirstCalls(view);
  for (const uint32_t track : candidates) {
    const auto found = calls.find(tracks.process[track]);
    const FirstCalls& first = (found == calls.end() ? calls.find(kMissing) : found)->second;
    if (first.first_launch_ns != kNever) {
      FindOn(view, track, first.least_number, first.first_launch_ns);
    }
  }
}

void InheritedWork::FindOn(const RankView& view, uint32_t track, int64_t least_number,
                           int64_t first_launch_ns) {
  const Tracks& tracks = view.trace.tracks();
  const DeviceEvents& device = view.trace.device();
  const auto is_launched = [&](uint32_t row) {
    return IsDeviceWork(device.kind[row]) && view.index.correlation.launch_of[row].valid();
  };
  uint32_t launched = tracks.first_row[track];  // the first on the stream whose launch was recorded
  while (launched < tracks.end_row[track] && !is_launched(launched)) {
    CheckStopAt(launched);
    ++launched;
  }
  const bool is_before_launched = launched < tracks.end_row[track];
  for (uint32_t row = tracks.first_row[track]; row < launched; ++row) {
    if (!IsDeviceWork(device.kind[row])) {
      continue;
    }
    const int64_t number = device.correlation[row];
    const bool is_inherited = number > 0 && least_number != kNever
                                  ? number < least_number
                                  : is_before_launched || device.ts_ns[row] < first_launch_ns;
    if (!is_inherited) {
      return;
    }
    end_rows_[track] = row + 1;
    has_work_[track] = 1;
    is_anywhere_ = true;
  }
}

bool InheritedWork::IsOnAny(std::span<const uint32_t> tracks) const {
  return std::any_of(tracks.begin(), tracks.end(),
                     [this](uint32_t track) { return has_work_[track] != 0; });
}

}  // namespace borescope::internal
