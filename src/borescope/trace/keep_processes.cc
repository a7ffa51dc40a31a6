#include "borescope/trace/keep_processes.h"

#include <algorithm>
#include <vector>

#include "borescope/trace/columns.h"

namespace borescope::internal {
namespace {

// The rows of `table` for which `keep` has not 0; columns of another length are empty ones.
template <class Table>
void KeepRows(Table& table, const std::vector<char>& keep) {
  ForEachColumn(
      [&](auto& column) {
        if (column.size() != keep.size()) {
          return;
        }
        size_t kept = 0;
        for (size_t row = 0; row < keep.size(); ++row) {
          if (keep[row] != 0) {
            column[kept++] = column[row];
          }
        }
        column.resize(kept);
      },
      table);
}

// Those on tracks that are kept, which get their new numbers.
template <class Table>
void KeepOnTracks(Table& table, const std::vector<uint32_t>& new_track) {
  std::vector<char> keep(table.track.size());
  for (size_t row = 0; row < keep.size(); ++row) {
    const TrackId track = table.track[row];
    keep[row] = !track.valid() || new_track[track.value] != TrackId::kNone ? 1 : 0;
  }
  KeepRows(table, keep);
  for (size_t row = 0; row < table.track.size(); ++row) {
    if (table.track[row].valid()) {
      table.track[row] = TrackId{new_track[table.track[row].value]};
    }
  }
}

std::vector<uint32_t> KeepTracks(Tracks& tracks, const std::function<bool(int64_t)>& keeps) {
  std::vector<char> keep(tracks.size());
  std::vector<uint32_t> new_track(tracks.size(), TrackId::kNone);
  uint32_t kept = 0;
  for (size_t i = 0; i < keep.size(); ++i) {
    const int64_t process = tracks.kind[i] == TrackKind::kHost ? tracks.pid[i] : tracks.process[i];
    keep[i] = process == kMissing || keeps(process) ? 1 : 0;
    new_track[i] = keep[i] != 0 ? kept++ : TrackId::kNone;
  }
  KeepRows(tracks, keep);
  return new_track;
}

template <class Spine>
void SetSlices(const Spine& spine, Tracks& tracks) {
  for (uint32_t row = 0; row < spine.size(); ++row) {
    const uint32_t track = spine.track[row].value;
    if (row == 0 || spine.track[row - 1].value != track) {
      tracks.first_row[track] = row;
    }
    tracks.end_row[track] = row + 1;
  }
}

template <class Spine>
void Widen(const Spine& spine, TraceData& data, bool& has_any) {
  for (size_t row = 0; row < spine.size(); ++row) {
    const int64_t end_ns = spine.ts_ns[row] + spine.dur_ns[row];
    data.begin_ns = has_any ? std::min(data.begin_ns, spine.ts_ns[row]) : spine.ts_ns[row];
    data.end_ns = has_any ? std::max(data.end_ns, end_ns) : end_ns;
    has_any = true;
  }
}

}  // namespace

void KeepProcesses(TraceData& data, const std::function<bool(int64_t process)>& keeps) {
  const std::vector<uint32_t> new_track = KeepTracks(data.tracks, keeps);
  KeepOnTracks(data.host, new_track);
  KeepOnTracks(data.device, new_track);
  KeepOnTracks(data.memory, new_track);
  KeepOnTracks(data.flows, new_track);
  KeepOnTracks(data.pauses, new_track);
  KeepOnTracks(data.stack_samples, new_track);
  data.tracks.first_row.assign(data.tracks.size(), 0);
  data.tracks.end_row.assign(data.tracks.size(), 0);
  SetSlices(data.host, data.tracks);
  SetSlices(data.device, data.tracks);
  bool has_any = false;
  Widen(data.host, data, has_any);
  Widen(data.device, data, has_any);
}

}  // namespace borescope::internal
