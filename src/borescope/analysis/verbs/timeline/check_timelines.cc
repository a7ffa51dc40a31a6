// Whether tables, which may come from a file, are those of timelines.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "borescope/analysis/core/row.h"
#include "borescope/analysis/verbs/timeline/timeline_tables.h"

namespace borescope::internal {
namespace {

Error BadTimeline(std::string_view what) {
  return {ErrorCode::kInvalidArgument, "timeline: " + std::string(what),
          "map the recording again with this version"};
}

// Whether every cell of a column is from `least` to `most`; those that are missing have to be 0, as
// they are written, because nothing looks at them again.
bool AreWithin(const Table& table, std::string_view column, int64_t least, int64_t most) {
  const Column& found = *table.Find(column);
  const IntValues& values = std::get<IntValues>(found.values);
  for (size_t row = 0; row < values.size(); ++row) {
    const bool is_missing = found.IsMissing(row);
    if (values[row] < (is_missing ? 0 : least) || values[row] > (is_missing ? 0 : most)) {
      return false;
    }
  }
  return true;
}

// The largest time: sums of two do not overflow.
constexpr int64_t kLatest = INT64_MAX / 4;

// Whether a stretch of time of every row, missing ones aside, ends no sooner than it begins.
bool AreStretches(const Table& table, std::string_view begin, std::string_view end) {
  if (!AreWithin(table, begin, 0, kLatest) || !AreWithin(table, end, 0, kLatest)) {
    return false;
  }
  const IntValues& begins = Ints(table, begin);
  const IntValues& ends = Ints(table, end);
  for (size_t row = 0; row < table.rows(); ++row) {
    if (begins[row] > ends[row]) {
      return false;
    }
  }
  return true;
}

// Of recordings, tracks and levels, of which there are few.
bool HasSoundFrames(const Tables& tables) {
  const Table& timeline = tables[kTimeline];
  const auto are_sizes = [](const Table& table, std::initializer_list<std::string_view> columns) {
    return std::all_of(columns.begin(), columns.end(), [&](std::string_view column) {
      return AreWithin(table, column, 0, kLatest);
    });
  };
  return AreStretches(timeline, "window_begin_offset_ns", "window_end_offset_ns") &&
         are_sizes(timeline, {"span_ns", "left_out_tracks", "left_out_events"}) &&
         AreWithin(timeline, "begin_ns", -kLatest, kLatest) &&
         AreWithin(timeline, "base_ns", -kLatest, kLatest) &&
         AreWithin(timeline, "shift_ns", 0, kLatest) &&
         are_sizes(tables[kTracks], {"depths", "events", "busy_ns"}) &&
         AreStretches(tables[kLevels], "begin_offset_ns", "end_offset_ns") &&
         AreWithin(tables[kLevels], "level", 0, kCoarsestLevel) &&
         are_sizes(tables[kLevels], {"grain_ns", "boxes", "bytes", "depths"});
}

bool HasSoundRows(const Tables& tables) {
  const auto most_tracks = static_cast<int64_t>(tables[kTracks].rows()) - 1;
  for (const TimelineTable table : {kBoxes, kPoints}) {
    if (!AreWithin(tables[table], "track", 0, most_tracks) ||
        !AreWithin(tables[table], "level", 0, kCoarsestLevel) ||
        !AreWithin(tables[table], "begin_offset_ns", 0, kLatest)) {
      return false;
    }
  }
  const Table& boxes = tables[kBoxes];
  return AreWithin(boxes, "depth", 0, UINT32_MAX) && AreWithin(boxes, "duration_ns", 0, kLatest) &&
         AreWithin(boxes, "count", 0, UINT32_MAX) && AreWithin(boxes, "busy_ns", 0, kLatest) &&
         AreWithin(boxes, "launch_track", 0, most_tracks) &&
         AreWithin(boxes, "launch_offset_ns", -kLatest, kLatest);
}

// Whether all rows of a table are of ranks of the first one.
bool HasKnownRanks(const Tables& tables) {
  const IntValues& of_recordings = Ints(tables[kTimeline], "rank");
  std::vector<int64_t> ranks(of_recordings.begin(), of_recordings.end());
  std::sort(ranks.begin(), ranks.end());
  for (size_t table = kTracks; table < kTableCount; ++table) {
    const IntValues& of_rows = Ints(tables[table], "rank");
    int64_t last = 0;
    for (size_t row = 0; row < of_rows.size(); ++row) {
      if ((row == 0 || of_rows[row] != last) &&
          !std::binary_search(ranks.begin(), ranks.end(), of_rows[row])) {
        return false;
      }
      last = of_rows[row];
    }
  }
  return true;
}

}  // namespace

Result<void> CheckTimelineTables(const Tables& tables, const Params&) {
  if (!HasKnownRanks(tables)) {
    return BadTimeline("rows of a rank that is not there");
  }
  if (!HasSoundFrames(tables) || !HasSoundRows(tables)) {
    return BadTimeline("numbers out of range");
  }
  return {};
}

}  // namespace borescope::internal
