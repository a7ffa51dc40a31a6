#include "borescope/analysis/verbs/timeline/timeline_tables.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "borescope/analysis/core/row.h"
#include "borescope/base/each_row.h"
#include "borescope/base/stop.h"
#include "borescope/table/display/column_hints.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {

namespace {

// How many rows of boxes and of points text shows.
constexpr size_t kPreviewRows = 10;

constexpr std::string_view kSinceBegin =
    " Counts from the begin of the recording that begins first.";

void AddTime(Table& table, std::string_view name, std::string_view doc, bool is_moment = false) {
  AddInt(table, name, Unit::kNanoseconds, Role::kDerived,
         std::string(doc) + std::string(is_moment ? kSinceBegin : ""));
}

void AddTrack(Table& table, Role role) {
  AddInt(table, "track", Unit::kNone, role, "Number of the track, in the order of drawing.");
}

void AddLevel(Table& table, Role role) {
  AddInt(table, "level", Unit::kNone, role, "Level of detail; 0: as it was recorded.");
}

Table NewTimeline() {
  Table table{"timeline", "What of each rank is drawn", {}};
  AddRankKey(table);
  AddTime(table, "span_ns", "How long the recording is.");
  AddInt(table, "tracks", Unit::kCount, Role::kDerived, "Rows to be drawn.");
  AddString(table, "window", Role::kDerived,
            "What the longest of the windows is, of which events are drawn as they were recorded: "
            "all, the slowest step, the stretch with the most work, or a place that a finding "
            "may name; missing: none of it fitted.");
  AddTime(table, "window_begin_offset_ns", "Where that begins.", true);
  AddTime(table, "window_end_offset_ns", "Where it ends.", true);
  AddBool(table, "window_cut", Role::kDerived, "Whether it ends early, because it did not fit.");
  AddInt(table, "left_out_tracks", Unit::kCount, Role::kDerived,
         "Tracks that are not drawn: those with the fewest events of very many.");
  AddInt(table, "left_out_events", Unit::kCount, Role::kDerived,
         "Events of these, and events that are nested too deep.");
  AddTime(table, "begin_ns", "When the recording begins, on the clock of its file.");
  AddTime(table, "base_ns", "Unix time of 0 on that clock; missing: not recorded.");
  AddTime(table, "shift_ns", "How much later the recording begins than the first.");
  return table;
}

Table NewTracks() {
  Table table{"tracks", "Rows of the timeline", {}};
  AddRankKey(table);
  AddTrack(table, Role::kKey);
  AddString(table, "kind", Role::kDerived, "steps, path, thread, stream, group, wait or counter.");
  AddString(table, "name", Role::kDerived, "The thread, stream, group or counter.");
  AddString(table, "parent", Role::kDerived, "Its process or device; missing: none.");
  AddInt(table, "depths", Unit::kCount, Role::kDerived,
         "Rows that it takes, because events are nested or overlap.");
  AddInt(table, "events", Unit::kCount, Role::kDerived, "Events, or points of a counter.");
  AddTime(table, "busy_ns", "Time with any event.");
  AddFloat(table, "share", Unit::kShare, Role::kDerived, "Of the recording.");
  AddString(table, "unit", Role::kDerived, "Of the values of a counter; missing: none.");
  return table;
}

Table NewLevels() {
  Table table{"levels", "Levels of detail", {}};
  AddRankKey(table);
  AddLevel(table, Role::kKey);
  AddTime(table, "grain_ns", "Shorter events may be merged; 0: no events are merged.");
  AddTime(table, "begin_offset_ns", "Where it begins.", true);
  AddTime(table, "end_offset_ns", "Where it ends.", true);
  AddInt(table, "boxes", Unit::kCount, Role::kDerived, "Its boxes and points.");
  AddInt(table, "bytes", Unit::kBytes, Role::kDerived, "About what they take in a page.");
  AddInt(table, "depths", Unit::kCount, Role::kDerived,
         "Where only so many rows of each track fit; missing: it has all.");
  return table;
}

Table NewBoxes() {
  Table table{"boxes", "Boxes of the timeline", {}};
  AddRankKey(table);
  AddTrack(table, Role::kDerived);
  AddLevel(table, Role::kDerived);
  AddInt(table, "depth", Unit::kNone, Role::kDerived, "Row within the track, from 0.");
  AddTime(table, "begin_offset_ns", "When it begins.", true);
  AddTime(table, "duration_ns", "How long it is.");
  AddString(table, "name", Role::kDerived,
            "The event; of several the name that takes the largest part of their time.");
  AddString(table, "tone", Role::kDerived, "Its colour, as in the hints of columns.");
  AddInt(table, "count", Unit::kCount, Role::kDerived, "Events in it.");
  AddTime(table, "busy_ns", "Time of these.");
  AddString(table, "detail", Role::kDerived,
            "Shapes, sizes, or what the critical path is bound by; level 0 only.");
  AddInt(table, "launch_track", Unit::kNone, Role::kDerived,
         "Track of the call that launched it, or of the event that a stretch of the critical path "
         "is of; level 0 only.");
  AddTime(table, "launch_offset_ns", "When that begins.", true);
  table.preview_rows = kPreviewRows;
  return table;
}

Table NewPoints() {
  Table table{"points", "Points of the counters of the timeline", {}};
  AddRankKey(table);
  AddTrack(table, Role::kDerived);
  AddLevel(table, Role::kDerived);
  AddTime(table, "begin_offset_ns", "From when on.", true);
  const auto value = [&](std::string_view name, std::string_view doc) {
    AddFloat(table, name, Unit::kNone, Role::kDerived, doc);
  };
  value("low", "The smallest value from then on, for the grain of the level.");
  value("high", "The largest.");
  value("last", "The last.");
  table.preview_rows = kPreviewRows;
  return table;
}

Table NewWindows() {
  Table table{"windows", "What is drawn as it was recorded", {}};
  AddRankKey(table);
  AddString(
      table, "window", Role::kDerived,
      "Why: all of it, a step, the most work, or where some kind of time is longest. The most "
      "important come first; what does not fit is left out from the end on.");
  AddTime(table, "begin_offset_ns", "Where it begins.", true);
  AddTime(table, "end_offset_ns", "Where it ends.", true);
  AddBool(table, "cut", Role::kDerived, "Whether it ends early, because it did not fit.");
  return table;
}

// The longest window; nullptr without any.
const DrawnWindow* LongestOf(const std::vector<DrawnWindow>& windows) {
  const auto longest =
      std::max_element(windows.begin(), windows.end(),
                       [](const auto& a, const auto& b) { return a.length_ns() < b.length_ns(); });
  return longest == windows.end() ? nullptr : &*longest;
}

void PushTimeline(const Timeline& timeline, Table& table) {
  const DrawnWindow* const longest = LongestOf(timeline.windows);
  Row(table)
      .Int(timeline.rank)
      .Int(timeline.span_ns)
      .Count(timeline.tracks.size())
      .MaybeText(longest == nullptr ? std::string_view() : longest->why)
      .MaybeInt(longest == nullptr ? kMissing : longest->begin_ns)
      .MaybeInt(longest == nullptr ? kMissing : longest->end_ns)
      .Bool(longest == nullptr || longest->is_cut)
      .Int(timeline.left_out_tracks)
      .Int(timeline.left_out_events)
      .Int(timeline.clock_begin_ns)
      .MaybeInt(timeline.base_ns)
      .Int(timeline.shift_ns);
}

void PushWindows(const Timeline& timeline, Table& table) {
  for (const DrawnWindow& window : timeline.windows) {
    Row(table)
        .Int(timeline.rank)
        .Text(window.why)
        .Int(window.begin_ns)
        .Int(window.end_ns)
        .Bool(window.is_cut);
  }
}

void PushTracks(const Timeline& timeline, Table& table) {
  for (size_t track = 0; track < timeline.tracks.size(); ++track) {
    const DrawnTrack& drawn = timeline.tracks[track];
    Row(table)
        .Int(timeline.rank)
        .Count(track)
        .Text(TrackRoleName(drawn.role))
        .Text(drawn.name)
        .MaybeText(drawn.parent)
        .Int(drawn.depths)
        .Int(drawn.events)
        .Int(drawn.busy_ns)
        .Share(drawn.busy_ns, timeline.span_ns)
        .MaybeText(drawn.unit);
  }
}

void PushLevels(const Timeline& timeline, Table& table) {
  for (const DrawnLevel& level : timeline.levels) {
    Row(table)
        .Int(timeline.rank)
        .Int(level.level)
        .Int(level.grain_ns)
        .Int(level.begin_ns)
        .Int(level.end_ns)
        .Int(level.boxes)
        .Int(level.bytes)
        .MaybeInt(level.depths);
  }
}

// There are very many boxes, hence they are added column by column.
class BoxColumns {
 public:
  BoxColumns(const Timeline& timeline, Table& table) : timeline_(timeline), table_(table) {}

  void Push() {
    PushInts("rank", [&](const DrawnBox&) { return timeline_.rank; });
    PushInts("track", [](const DrawnBox& box) { return box.track; });
    PushInts("level", [](const DrawnBox& box) { return box.level; });
    PushInts("depth", [](const DrawnBox& box) { return box.depth; });
    PushInts("begin_offset_ns", [](const DrawnBox& box) { return box.begin_ns; });
    PushInts("duration_ns", [](const DrawnBox& box) { return box.duration_ns; });
    PushNames();
    PushTones();
    PushInts("count", [](const DrawnBox& box) { return box.count; });
    PushInts("busy_ns", [](const DrawnBox& box) { return box.busy_ns; });
    PushDetails();
    PushLaunches("launch_track", [](const DrawnBox& box) {
      return box.launch_track == kMissing ? 0 : box.launch_track;
    });
    PushLaunches("launch_offset_ns", [](const DrawnBox& box) {
      return box.launch_track == kMissing ? 0 : box.launch_ns;
    });
  }

 private:
  template <class Use>
  void ForEachBox(const Use& use) const {
    for (const size_t i : EachIndex(timeline_.boxes.size())) {
      use(timeline_.boxes[i]);
    }
  }

  template <class Get>
  void PushInts(std::string_view column, const Get& get) {
    auto& values = std::get<IntValues>(table_.Find(column)->values);
    const size_t before = values.size();
    values.resize(before + timeline_.boxes.size());
    int64_t* value = values.data() + before;
    ForEachBox([&](const DrawnBox& box) { *value++ = get(box); });
  }

  // Missing where no launch is known; `get` gives 0 then.
  template <class Get>
  void PushLaunches(std::string_view column, const Get& get) {
    Column& cells = *table_.Find(column);
    const size_t before = cells.size();
    PushInts(column, get);
    const auto is_missing = [](const DrawnBox& box) { return box.launch_track == kMissing; };
    if (cells.missing.empty() &&
        std::none_of(timeline_.boxes.begin(), timeline_.boxes.end(), is_missing)) {
      return;
    }
    cells.missing.resize(cells.size(), 0);
    std::transform(timeline_.boxes.begin(), timeline_.boxes.end(),
                   cells.missing.begin() + static_cast<std::ptrdiff_t>(before),
                   [&](const DrawnBox& box) { return static_cast<char>(is_missing(box)); });
  }

  void PushNames() {
    NumberedTexts names(*table_.Find("name"), timeline_.texts.size());
    ForEachBox([&](const DrawnBox& box) { PushText(box.name, names); });
  }

  void PushDetails() {
    Column& cells = *table_.Find("detail");
    NumberedTexts details(cells, timeline_.texts.size());
    ForEachBox([&](const DrawnBox& box) {
      box.detail.valid() ? PushText(box.detail, details) : PushMissing(cells);
    });
  }

  void PushText(StringId text, NumberedTexts& column) const {
    column.Push(text.value, [&] { return timeline_.texts.Get(text); });
  }

  void PushTones() {
    NumberedTexts tones(*table_.Find("tone"), static_cast<size_t>(Tone::kCount));
    ForEachBox([&](const DrawnBox& box) {
      tones.Push(static_cast<size_t>(box.tone), [&] { return ToneName(box.tone); });
    });
  }

  const Timeline& timeline_;
  Table& table_;
};

void PushPoints(const Timeline& timeline, Table& table) {
  for (const DrawnPoint& point : timeline.points) {
    Row(table)
        .Int(timeline.rank)
        .Int(point.track)
        .Int(point.level)
        .Int(point.begin_ns)
        .Float(point.low)
        .Float(point.high)
        .Float(point.last);
  }
}

}  // namespace

Tables TimelineTables(std::vector<Timeline> timelines) {
  Tables tables;
  tables.push_back(NewTimeline());
  tables.push_back(NewTracks());
  tables.push_back(NewLevels());
  tables.push_back(NewBoxes());
  tables.push_back(NewPoints());
  tables.push_back(NewWindows());
  for (Timeline& timeline : timelines) {
    PushTimeline(timeline, tables[kTimeline]);
    PushTracks(timeline, tables[kTracks]);
    PushLevels(timeline, tables[kLevels]);
    BoxColumns(timeline, tables[kBoxes]).Push();
    PushPoints(timeline, tables[kPoints]);
    PushWindows(timeline, tables[kWindows]);
    timeline.boxes = {};
    timeline.points = {};
  }
  return tables;
}

namespace {

// Whether tables, which may come from a file, are those of timelines.

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

// Each event is compared with the windows of its rank.
bool HasFewWindows(const Table& windows) {
  constexpr int64_t kMostWindows = 256;
  std::map<int64_t, int64_t> count;  // by rank
  const IntValues& ranks = Ints(windows, "rank");
  return std::all_of(ranks.begin(), ranks.end(),
                     [&](int64_t rank) { return ++count[rank] <= kMostWindows; });
}

// Checks recordings, tracks and levels, of which there are few.
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
         AreStretches(tables[kWindows], "begin_offset_ns", "end_offset_ns") &&
         HasFewWindows(tables[kWindows]) &&
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

namespace {

// The tables of timelines as timelines again.

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
    ReadWindows();
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
      of_rank_[timeline.rank] = row;
    }
  }

  void ReadWindows() {
    const Table& table = tables_[kWindows];
    for (size_t row = 0; row < table.rows(); ++row) {
      Of(Ints(table, "rank"), row)
          .windows.push_back({Ints(table, "begin_offset_ns")[row],
                              Ints(table, "end_offset_ns")[row],
                              std::string(Texts(table, "window")[row]),
                              std::get<BoolValues>(table.Find("cut")->values)[row] != 0});
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
    for (const size_t row : EachIndex(table.rows())) {
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

std::vector<Timeline> ShiftedTimelines(const Tables& tables) {
  std::vector<Timeline> timelines = TimelinesOf(tables);
  const IntValues& shifts = Ints(tables[kTimeline], "shift_ns");
  for (size_t row = 0; row < timelines.size(); ++row) {
    timelines[row].shift_ns = shifts[row];
  }
  return timelines;
}

}  // namespace borescope::internal
