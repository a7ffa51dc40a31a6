// The tables of timelines as timelines again.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "borescope/analysis/core/row.h"
#include "borescope/analysis/verbs/timeline/timeline_tables.h"
#include "borescope/base/stop.h"
#include "borescope/table/display/tone.h"

namespace borescope::internal {
namespace {

int64_t CellOr(const Table& table, std::string_view column, size_t row, int64_t missing) {
  const Column& found = *table.Find(column);
  return found.IsMissing(row) ? missing : std::get<IntValues>(found.values)[row];
}

// The texts of a column as those of the timelines of ranks, one after the other.
class RankTexts {
 public:
  explicit RankTexts(const StringValues& column) : column_(column), known_(column.texts().size()) {}

  StringId At(size_t row, StringPool& texts) {
    Known& known = known_[column_.numbers()[row]];
    if (known.pool != &texts) {
      known = {&texts, texts.Intern(column_[row])};
    }
    return known.text;
  }

 private:
  struct Known {
    const StringPool* pool = nullptr;
    StringId text;
  };

  const StringValues& column_;
  std::vector<Known> known_;  // by number of the column: what it is in the pool that asked last
};

// What of boxes is not text.
class BoxCells {
 public:
  explicit BoxCells(const Table& boxes)
      : tracks_(Ints(boxes, "track")),
        levels_(Ints(boxes, "level")),
        depths_(Ints(boxes, "depth")),
        begins_(Ints(boxes, "begin_offset_ns")),
        durations_(Ints(boxes, "duration_ns")),
        counts_(Ints(boxes, "count")),
        busy_(Ints(boxes, "busy_ns")),
        launches_(Ints(boxes, "launch_offset_ns")),
        launch_tracks_(*boxes.Find("launch_track")),
        details_(Texts(boxes, "detail")),
        tones_(Texts(boxes, "tone")) {
    for (const std::string& tone : tones_.texts()) {
      tone_of_.push_back(FindTone(tone).value_or(Tone::kFlameOther));
    }
  }

  bool HasDetail(size_t row) const { return !details_[row].empty(); }

  DrawnBox At(size_t row) const {
    DrawnBox box;
    box.track = tracks_[row];
    box.level = levels_[row];
    box.depth = depths_[row];
    box.begin_ns = begins_[row];
    box.duration_ns = durations_[row];
    box.tone = tone_of_[tones_.numbers()[row]];
    box.count = counts_[row];
    box.busy_ns = busy_[row];
    box.launch_track =
        launch_tracks_.IsMissing(row) ? kMissing : std::get<IntValues>(launch_tracks_.values)[row];
    box.launch_ns = launches_[row];
    return box;
  }

 private:
  const IntValues &tracks_, &levels_, &depths_, &begins_, &durations_, &counts_, &busy_, &launches_;
  const Column& launch_tracks_;
  const StringValues &details_, &tones_;
  std::vector<Tone> tone_of_;  // by distinct tone of the column
};

// Reads the rows of one table after the other into the timelines of their ranks.
class TimelineReader {
 public:
  explicit TimelineReader(const Tables& tables) : tables_(tables) {}

  std::vector<Timeline> Read() {
    ReadTimelines();
    ReadTracks();
    ReadLevels();
    ReadBoxes();
    ReadPoints();
    return std::move(timelines_);
  }

 private:
  void ReadTimelines() {
    const Table& table = tables_[kTimeline];
    timelines_.resize(table.rows());
    for (size_t row = 0; row < table.rows(); ++row) {
      Timeline& timeline = timelines_[row];
      timeline.rank = Ints(table, "rank")[row];
      timeline.clock_begin_ns = Ints(table, "begin_ns")[row];
      timeline.base_ns = CellOr(table, "base_ns", row, kMissing);
      timeline.span_ns = Ints(table, "span_ns")[row];
      timeline.left_out_tracks = Ints(table, "left_out_tracks")[row];
      timeline.left_out_events = Ints(table, "left_out_events")[row];
      timeline.window = {CellOr(table, "window_begin_offset_ns", row, kMissing),
                         CellOr(table, "window_end_offset_ns", row, kMissing),
                         Texts(table, "window")[row],
                         std::get<BoolValues>(table.Find("window_cut")->values)[row] != 0};
      of_rank_[timeline.rank] = row;
    }
  }

  // Rows of one rank are together.
  Timeline& Of(const IntValues& ranks, size_t row) {
    if (row == 0 || ranks[row] != ranks[row - 1]) {
      last_ = &timelines_[of_rank_.at(ranks[row])];
    }
    return *last_;
  }

  void ReadTracks() {
    const Table& table = tables_[kTracks];
    for (size_t row = 0; row < table.rows(); ++row) {
      DrawnTrack track;
      track.role = RoleOf(Texts(table, "kind")[row]);
      track.name = Texts(table, "name")[row];
      track.parent = Texts(table, "parent")[row];
      track.unit = Texts(table, "unit")[row];
      track.depths = Ints(table, "depths")[row];
      track.events = Ints(table, "events")[row];
      track.busy_ns = Ints(table, "busy_ns")[row];
      Of(Ints(table, "rank"), row).tracks.push_back(std::move(track));
    }
  }

  static TrackRole RoleOf(std::string_view name) {
    auto role = TrackRole::kSteps;
    while (role != TrackRole::kCounter && TrackRoleName(role) != name) {
      role = static_cast<TrackRole>(static_cast<uint8_t>(role) + 1);
    }
    return role;
  }

  void ReadLevels() {
    const Table& table = tables_[kLevels];
    for (size_t row = 0; row < table.rows(); ++row) {
      Of(Ints(table, "rank"), row)
          .levels.push_back({Ints(table, "level")[row], Ints(table, "grain_ns")[row],
                             Ints(table, "begin_offset_ns")[row], Ints(table, "end_offset_ns")[row],
                             Ints(table, "boxes")[row], Ints(table, "bytes")[row],
                             CellOr(table, "depths", row, kMissing)});
    }
  }

  void ReadBoxes() {
    const Table& table = tables_[kBoxes];
    const BoxCells cells(table);
    RankTexts names(Texts(table, "name"));
    RankTexts details(Texts(table, "detail"));
    const IntValues& ranks = Ints(table, "rank");
    for (size_t row = 0; row < table.rows(); ++row) {
      CheckStopAt(row);
      Timeline& timeline = Of(ranks, row);
      DrawnBox box = cells.At(row);
      box.name = names.At(row, timeline.texts);
      box.detail = cells.HasDetail(row) ? details.At(row, timeline.texts) : StringId();
      timeline.boxes.push_back(box);
    }
  }

  void ReadPoints() {
    const Table& table = tables_[kPoints];
    for (size_t row = 0; row < table.rows(); ++row) {
      Of(Ints(table, "rank"), row)
          .points.push_back({Ints(table, "track")[row], Ints(table, "level")[row],
                             Ints(table, "begin_offset_ns")[row], Floats(table, "low")[row],
                             Floats(table, "high")[row], Floats(table, "last")[row]});
    }
  }

  const Tables& tables_;
  std::vector<Timeline> timelines_;
  std::map<int64_t, size_t> of_rank_;
  Timeline* last_ = nullptr;
};

}  // namespace

std::vector<Timeline> TimelinesOf(const Tables& tables) { return TimelineReader(tables).Read(); }

}  // namespace borescope::internal
