// TraceBuilder: the only way to make a Trace. A format adapter fills TraceParts (one per chunk of
// input, on any thread), the builder joins them in input order and Finish sorts everything once.
//
// Legal order of calls: Append any number of times, then Finish exactly once.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/trace/clamp_frames.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

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
