// TraceBuilder: the only way to make a Trace. A format adapter fills TraceParts (one per chunk of
// input, on any thread), the builder joins them in input order and Finish sorts everything once.
//
// Legal order of calls: Append any number of times, then Finish exactly once.
#pragma once

#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include "borescope/base/column_data.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/parallel.h"
#include "borescope/base/sort_runs.h"
#include "borescope/trace/repaired_times.h"
#include "borescope/trace/tables.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// Rows of the two spines of a trace, for those who add one event after the other: every column
// gets its value, so that none can fall behind the others.

struct HostRow {
  int64_t ts_ns = 0;
  int64_t dur_ns = 0;
  StringId name = {};
  TrackId track = {};
  HostKind kind = HostKind::kOther;
  uint32_t detail = kNoDetail;
};

struct DeviceRow {
  int64_t ts_ns = 0;
  int64_t dur_ns = 0;
  StringId name = {};
  TrackId track = {};  // may be assigned later, when all streams are known
  DeviceKind kind = DeviceKind::kOther;
  int64_t correlation = kMissing;
  int64_t external_id = kMissing;
  uint32_t detail = kNoDetail;
};

// Adds an event without a position in its file; returns its row.
inline uint32_t AddHostRow(HostEvents& host, const HostRow& row) {
  host.ts_ns.push_back(row.ts_ns);
  host.dur_ns.push_back(row.dur_ns);
  host.name.push_back(row.name);
  host.track.push_back(row.track);
  host.kind.push_back(row.kind);
  host.detail.push_back(row.detail);
  return static_cast<uint32_t>(host.size() - 1);
}

inline uint32_t AddDeviceRow(DeviceEvents& device, const DeviceRow& row) {
  device.ts_ns.push_back(row.ts_ns);
  device.dur_ns.push_back(row.dur_ns);
  device.name.push_back(row.name);
  device.track.push_back(row.track);
  device.kind.push_back(row.kind);
  device.correlation.push_back(row.correlation);
  device.external_id.push_back(row.external_id);
  device.detail.push_back(row.detail);
  return static_cast<uint32_t>(device.size() - 1);
}

// The order of a spine: by track, then by start; computed once, when a trace is finished.

// Row numbers grouped by track. `first` has one entry per track and one past the last.
struct TrackOrder {
  ColumnData<uint32_t> rows;
  std::vector<uint32_t> first;
};

// The order (track, less, source order). `track_of(row)` is a number below `tracks`.
template <class TrackOf, class Less>
TrackOrder OrderByTrack(size_t row_count, size_t tracks, const TrackOf& track_of, const Less& less,
                        int threads) {
  TrackOrder order;
  order.first.assign(tracks + 1, 0);
  for (uint32_t row = 0; row < row_count; ++row) {
    ++order.first[track_of(row) + 1];
  }
  std::partial_sum(order.first.begin(), order.first.end(), order.first.begin());
  std::vector<uint32_t> next(order.first.begin(), order.first.end() - 1);
  order.rows.ResizeForOverwrite(row_count);
  for (uint32_t row = 0; row < row_count; ++row) {
    order.rows[next[track_of(row)]++] = row;
  }
  const auto rows_of = [&](size_t track) {
    const uint32_t first = order.first[track];
    return std::span(order.rows).subspan(first, order.first[track + 1] - first);
  };
  const auto is_long = [&](size_t track) { return rows_of(track).size() > row_count / 2; };
  ParallelFor(tracks, threads, [&](size_t track) {
    if (!is_long(track)) {
      SortRuns(rows_of(track), less);
    }
  });
  for (size_t track = 0; track < tracks; ++track) {
    if (is_long(track)) {  // no more than one
      SortRuns(rows_of(track), less, threads);
    }
  }
  return order;
}

// Rows of one piece of the input with ids of its own: StringIds of `data.strings`, TrackIds of
// `data.tracks`, details of `data`'s tables, positions counted from its first event. Rows are in
// source order. Not thread-safe.
class TracePart {
 public:
  TracePart();

  // A recorded name of a thread or stream; Finish assigns it to its track, if there is one.
  struct ThreadName {
    int64_t pid;
    int64_t tid;
    StringId name;
  };

  TraceData data;
  std::vector<ThreadName> thread_names;
  FrameNumbers frames;  // the details of Python frames, until Finish has used them
  uint64_t events = 0;  // of the list, for formats whose events have positions

  StringId Intern(std::string_view text) { return data.strings.Intern(text); }

  // The track of a host thread or device stream; made on first sight. `process` as in Tracks.
  TrackId Track(TrackKind kind, int64_t pid, int64_t tid, int64_t process = kMissing);
  // The track of the ranges of a host thread that may overlap; see Tracks::is_async.
  TrackId AsyncTrack(int64_t pid, int64_t tid);
  // The track if it exists, else invalid.
  TrackId FindTrack(TrackKind kind, int64_t pid, int64_t tid, int64_t process = kMissing,
                    bool is_async = false) const;

  // Rows of the tables that the events of a timeline fill, in the order of `ReserveRows`.
  using RowCounts = std::array<size_t, 9>;
  RowCounts row_counts() const;
  // Makes room, so that no table grows on the way.
  void Reserve(const RowCounts& rows);

  // Counts one event of the input.
  void CountEvent(char phase, StringId category, int64_t dur_ns);
  // Adds `more` events to the count that CountEvent touched last.
  void AddCount(uint64_t more) { data.event_counts[last_count_].count += more; }

 private:
  struct TrackKey {
    TrackKind kind;
    int64_t pid;
    int64_t tid;
    int64_t process;
    bool is_async;
    bool operator==(const TrackKey&) const = default;
    std::array<int64_t, 4> Numbers() const {
      return {pid, tid, process, static_cast<int64_t>(kind) * 2 + (is_async ? 1 : 0)};
    }
  };

  TrackId TrackOf(const TrackKey& key);
  // The row of the events of one phase and category; made on first sight.
  size_t FindCount(char phase, StringId category);

  HashMap<TrackKey, TrackId> track_ids_;
  TrackKey last_key_{};
  TrackId last_track_;
  HashMap<uint64_t, size_t> count_ids_;  // by category and phase
  size_t last_count_ = 0;
};

class TraceBuilder {
 public:
  TraceBuilder();

  // Appends the rows of `part`. Its meta is ignored.
  void Append(TracePart&& part);

  // Makes room for `times` as many rows as there are now, in all tables that the events of a
  // timeline fill: columns that are large from the start need not grow, and get large pages.
  void Reserve(double times);

  Diagnostics& diagnostics() { return whole_.data.diagnostics; }
  // For a host event that was already added, numbered in the order of appending.
  void SetHostDuration(size_t row, int64_t dur_ns) { whole_.data.host.dur_ns[row] = dur_ns; }
  size_t host_size() const { return whole_.data.host.size(); }

  // Sorts the spines, fills track slices, cuts impossible durations and returns the finished trace.
  // Python frames end with their callers (ClampFrames).
  // `profiled_ns`, when positive, is how long the profiler ran: no device work can be longer.
  Trace Finish(Meta meta, int64_t profiled_ns, int threads);

 private:
  void NameTracks();

  TracePart whole_;
};

}  // namespace borescope::internal
