#include "borescope/analysis/verbs/timeline/timeline_tables.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/row.h"
#include "borescope/base/stop.h"
#include "borescope/table/numbered_texts.h"

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
            "What of the recording is drawn as it was recorded: all, the slowest step, or the "
            "stretch with the most work; missing: none of it fitted.");
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
  AddString(table, "kind", Role::kDerived, "steps, path, thread, stream, group or counter.");
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

void PushTimeline(const Timeline& timeline, Table& table) {
  Row(table)
      .Int(timeline.rank)
      .Int(timeline.span_ns)
      .Count(timeline.tracks.size())
      .MaybeText(timeline.window.why)
      .MaybeInt(timeline.window.begin_ns)
      .MaybeInt(timeline.window.end_ns)
      .Bool(timeline.window.is_cut)
      .Int(timeline.left_out_tracks)
      .Int(timeline.left_out_events)
      .Int(timeline.clock_begin_ns)
      .MaybeInt(timeline.base_ns)
      .Int(timeline.shift_ns);
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

// Of boxes there are very many, hence they are added column by column.
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
    for (size_t i = 0; i < timeline_.boxes.size(); ++i) {
      CheckStopAt(i);
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
  for (Timeline& timeline : timelines) {
    PushTimeline(timeline, tables[kTimeline]);
    PushTracks(timeline, tables[kTracks]);
    PushLevels(timeline, tables[kLevels]);
    BoxColumns(timeline, tables[kBoxes]).Push();
    PushPoints(timeline, tables[kPoints]);
    timeline.boxes = {};
    timeline.points = {};
  }
  return tables;
}

}  // namespace borescope::internal
