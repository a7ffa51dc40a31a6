#include "borescope/analysis/verbs/timeline/timeline_data.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/table/fit.h"

namespace borescope::internal {

namespace {

constexpr int64_t kFinestGrainNs = 1000;

}  // namespace

std::string_view TrackRoleName(TrackRole role) {
  constexpr std::string_view kNames[] = {"steps", "path", "thread", "stream",
                                         "group", "wait", "counter"};
  return kNames[static_cast<size_t>(role)];
}

int64_t GrainOf(int64_t level) { return level == 0 ? 0 : kFinestGrainNs << (2 * (level - 1)); }

int64_t CoarsestLevelOf(int64_t span_ns) {
  int64_t level = 1;
  while (level < kCoarsestLevel && GrainOf(level) < span_ns) {
    ++level;
  }
  return level;
}

size_t WindowOf(const std::vector<DrawnWindow>& windows, int64_t begin_ns, int64_t end_ns) {
  size_t place = 0;
  while (place < windows.size() &&
         (begin_ns > windows[place].end_ns || end_ns < windows[place].begin_ns)) {
    ++place;
  }
  return place;
}

void ShiftTimeline(int64_t shift_ns, Timeline& timeline) {
  timeline.shift_ns = shift_ns;
  const auto move = [shift_ns](int64_t& ns) { AddSaturatingTo(ns, shift_ns); };
  for (DrawnWindow& window : timeline.windows) {
    move(window.begin_ns);
    move(window.end_ns);
  }
  for (DrawnLevel& level : timeline.levels) {
    move(level.begin_ns);
    move(level.end_ns);
  }
  for (DrawnBox& box : timeline.boxes) {
    move(box.begin_ns);
    move(box.launch_ns);
  }
  for (DrawnPoint& point : timeline.points) {
    move(point.begin_ns);
  }
}

namespace {

constexpr int64_t kChunkBytes = 60;  // the members around the data of a chunk
constexpr int64_t kTrackBytes = 120;
constexpr int64_t kEscapedBytes = 6;   // "\u003c"
constexpr int64_t kQuotes = 3;         // with the comma
constexpr int64_t kBytesOfNumber = 2;  // of a text or a track

// The bytes of an unsigned number in LEB128.
int64_t Leb(int64_t number) {
  return std::max(1, (static_cast<int>(std::bit_width(static_cast<uint64_t>(number))) + 6) / 7);
}

// The bytes of a number with a sign.
int64_t Zigzag(int64_t number) {
  const auto bits = static_cast<uint64_t>(number);
  return Leb(static_cast<int64_t>((bits << 1) ^ (number < 0 ? ~uint64_t{0} : 0)));
}

int64_t ValueBytes(double value, double before) {
  constexpr double kThousandths = 1000;
  constexpr double kMost = 9e15;
  const double difference = std::clamp((value - before) * kThousandths, -kMost, kMost);
  return Zigzag(std::isnan(difference) ? 0 : std::llround(difference));
}

int64_t TextBytes(std::string_view text) {
  int64_t bytes = kQuotes;
  size_t characters = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    characters += (byte & 0xC0U) == 0x80U ? 0 : 1;  // those are not the first byte of a character
    if (characters > kLongestBoxText) {
      break;
    }
    const bool is_escaped = byte < ' ' || c == '<' || c == '"' || c == '\\';
    bytes += is_escaped ? kEscapedBytes : 1;
  }
  return bytes;
}

}  // namespace

void PageCost::BeginLevel() { chunks_.clear(); }

PageCost::Chunk& PageCost::ChunkOf(int64_t track) {
  if (chunks_.size() <= static_cast<size_t>(track)) {
    chunks_.resize(static_cast<size_t>(track) + 1);
  }
  Chunk& chunk = chunks_[static_cast<size_t>(track)];
  if (!chunk.is_open) {
    chunk.is_open = true;
    bytes_ += kChunkBytes;
  }
  return chunk;
}

void PageCost::AddText(StringId text) {
  if (is_known_.size() <= text.value) {
    is_known_.resize(std::max<size_t>(texts_.size(), size_t{text.value} + 1));
  }
  if (is_known_[text.value] == 0) {
    is_known_[text.value] = 1;
    bytes_ += TextBytes(texts_.Get(text));
  }
}

// Four letters for three bytes, of which packing leaves half: measured, it is a third to a half
// (bench/README.md).
void PageCost::AddRaw(int64_t raw_bytes) { bytes_ += (2 * raw_bytes + 2) / 3; }

void PageCost::Add(const DrawnBox& box) {
  Chunk& chunk = ChunkOf(box.track);
  const int64_t begin = Leb(SubtractSaturating(box.begin_ns, chunk.begin_ns));
  chunk.begin_ns = box.begin_ns;
  AddText(box.name);
  int64_t rest = 0;
  if (box.level > 0) {
    rest = Leb(box.count) + Leb(SubtractSaturating(box.duration_ns, box.busy_ns));
  } else {
    const bool has_launch = box.launch_track != kMissing;
    rest =
        (box.detail.valid() ? kBytesOfNumber : 1) +
        (has_launch ? kBytesOfNumber + Zigzag(SubtractSaturating(box.begin_ns, box.launch_ns)) : 1);
    if (box.detail.valid()) {
      AddText(box.detail);
    }
  }
  AddRaw(begin + Leb(box.duration_ns) + Leb(box.depth) + kBytesOfNumber + 1 + rest);
}

void PageCost::Add(const DrawnPoint& point) {
  Chunk& chunk = ChunkOf(point.track);
  AddRaw(Leb(SubtractSaturating(point.begin_ns, chunk.point.begin_ns)) +
         ValueBytes(point.low, chunk.point.low) + ValueBytes(point.high, chunk.point.high) +
         ValueBytes(point.last, chunk.point.last));
  chunk.point = point;
}

void PageCost::AddAll(const std::vector<DrawnBox>& boxes, const std::vector<DrawnPoint>& points) {
  for (const DrawnBox& box : boxes) {
    Add(box);
  }
  for (const DrawnPoint& point : points) {
    Add(point);
  }
}

int64_t TrackBytes(const std::vector<DrawnTrack>& tracks) {
  int64_t bytes = 0;
  for (const DrawnTrack& track : tracks) {
    bytes += kTrackBytes + TextBytes(track.name) + TextBytes(track.parent);
  }
  return bytes;
}

namespace {

// A smaller share is for coarse levels alone: a window of so few boxes is of no use.
constexpr int64_t kLeastForWindow = 64'000;
// Of so many parts of a page windows take all but one at most.
constexpr int64_t kWindowParts = 4;
// The bytes of a box or point where only some depths of a level fit.
constexpr int64_t kRoughBytes = 16;
// A level has at least a third more boxes than the next coarser one, and no more than half of those
// of the whole recording where these are drawn, too: else it looks the same.
constexpr int64_t kPartOfCoarser = 3;
constexpr int64_t kLeastGain = 2;

// A row of level 0 among all others of it: by window, then by time.
struct TimedRow {
  size_t window = 0;
  int64_t begin_ns = 0;
  int64_t track = 0;
  int64_t depth = 0;  // of points -1
  uint32_t row = 0;

  auto Key() const { return std::tie(window, begin_ns, track, depth, row); }
};

std::vector<TimedRow> RowsByTime(const Timeline& timeline) {
  std::vector<TimedRow> rows;
  const std::vector<DrawnWindow>& windows = timeline.windows;
  for (uint32_t i = 0; i < timeline.boxes.size() && timeline.boxes[i].level == 0; ++i) {
    const DrawnBox& box = timeline.boxes[i];
    rows.push_back({WindowOf(windows, box.begin_ns, AddSaturating(box.begin_ns, box.duration_ns)),
                    box.begin_ns, box.track, box.depth, i});
  }
  for (uint32_t i = 0; i < timeline.points.size() && timeline.points[i].level == 0; ++i) {
    const DrawnPoint& point = timeline.points[i];
    rows.push_back(
        {WindowOf(windows, point.begin_ns, point.begin_ns), point.begin_ns, point.track, -1, i});
  }
  std::sort(rows.begin(), rows.end(),
            [](const TimedRow& a, const TimedRow& b) { return a.Key() < b.Key(); });
  return rows;
}

DrawnLevel* FindLevel(Timeline& timeline, int64_t level) {
  const auto found = std::find_if(timeline.levels.begin(), timeline.levels.end(),
                                  [&](const DrawnLevel& one) { return one.level == level; });
  return found == timeline.levels.end() ? nullptr : &*found;
}

// `keep` gets level, begin, end and depth.
template <class Keep>
void KeepRows(Timeline& timeline, const Keep& keep) {
  std::erase_if(timeline.boxes, [&](const DrawnBox& box) {
    return !keep(box.level, box.begin_ns, AddSaturating(box.begin_ns, box.duration_ns), box.depth);
  });
  std::erase_if(timeline.points, [&](const DrawnPoint& point) {
    return !keep(point.level, point.begin_ns, point.begin_ns, 0);
  });
}

// Calls `use` with each row of level 0, in the order of windows, and what all up to it take, as
// long as that says true.
template <class Use>
void PriceRows(const Timeline& timeline, const Use& use) {
  PageCost cost(timeline.texts);
  size_t window = 0;
  for (const TimedRow& row : RowsByTime(timeline)) {
    CheckStopAt(row.row);
    if (row.window != window) {
      cost.BeginLevel();  // differences count from the begin again
      window = row.window;
    }
    row.depth < 0 ? cost.Add(timeline.points[row.row]) : cost.Add(timeline.boxes[row.row]);
    if (!use(row, cost.bytes())) {
      break;
    }
  }
}

// The first row of level 0 with which it takes more than `room`; none where it fits.
std::optional<TimedRow> FirstThatDoesNotFit(const Timeline& timeline, int64_t room) {
  std::optional<TimedRow> first;
  PriceRows(timeline, [&](const TimedRow& row, int64_t bytes) {
    first = bytes > room ? std::optional(row) : std::nullopt;
    return bytes <= room;
  });
  return first;
}

void CutWindows(Timeline& timeline, int64_t room) {
  const std::optional<TimedRow> row =
      timeline.windows.empty() ? std::nullopt : FirstThatDoesNotFit(timeline, room);
  if (!row) {
    return;
  }
  std::vector<DrawnWindow>& windows = timeline.windows;
  const size_t last = std::min(row->window, windows.size() - 1);
  // Events that overlap a window may begin before it: where not even these fit, nothing does.
  const int64_t end_ns = std::max(windows[last].begin_ns, row->begin_ns);
  const bool has_any = end_ns > windows[last].begin_ns;
  KeepRows(timeline, [&](int64_t level, int64_t begin_ns, int64_t row_end_ns, int64_t) {
    const size_t window = level > 0 ? 0 : WindowOf(windows, begin_ns, row_end_ns);
    return level > 0 || window < last || (window == last && has_any && begin_ns < end_ns);
  });
  windows.resize(last + 1);
  windows[last].end_ns = std::min(windows[last].end_ns, end_ns);
  windows[last].is_cut = true;
  if (!has_any && last > 0) {
    windows.pop_back();
  }
  MeasureWindows(timeline);
}

// The finest level that fits with all coarser ones; none: not even the coarsest does.
const DrawnLevel* FinestThatFits(const Timeline& timeline, int64_t room) {
  const DrawnLevel* finest = nullptr;
  for (size_t left = timeline.levels.size(); left > 0; --left) {
    const DrawnLevel& level = timeline.levels[left - 1];
    room -= level.bytes;
    if (level.level == 0 || room < 0) {
      break;
    }
    finest = &level;
  }
  return finest;
}

// How many depths of a level fit.
int64_t DepthsThatFit(const Timeline& timeline, int64_t level, int64_t room) {
  std::map<int64_t, int64_t> bytes;  // by depth
  for (const DrawnBox& box : timeline.boxes) {
    bytes[box.depth] += box.level == level ? kRoughBytes : 0;
  }
  for (const DrawnPoint& point : timeline.points) {
    bytes[0] += point.level == level ? kRoughBytes : 0;
  }
  for (const auto& [depth, more] : bytes) {
    room -= more;
    if (room < 0) {
      return depth;
    }
  }
  return kMissing;
}

void CutDepths(Timeline& timeline, int64_t room) {
  DrawnLevel& coarsest = timeline.levels.back();
  const int64_t depths = DepthsThatFit(timeline, coarsest.level, room);
  if (depths == kMissing) {
    return;
  }
  KeepRows(timeline, [&](int64_t level, int64_t, int64_t, int64_t depth) {
    return level != coarsest.level || depth < depths;
  });
  coarsest.depths = depths;
}

void CutLevels(Timeline& timeline, int64_t room) {
  if (timeline.levels.empty() || timeline.levels.back().level == 0) {
    return;
  }
  const DrawnLevel* fits = FinestThatFits(timeline, room);
  const int64_t finest = fits == nullptr ? timeline.levels.back().level : fits->level;
  KeepRows(timeline,
           [&](int64_t level, int64_t, int64_t, int64_t) { return level == 0 || level >= finest; });
  std::erase_if(timeline.levels,
                [&](const DrawnLevel& level) { return level.level > 0 && level.level < finest; });
  if (fits == nullptr) {
    CutDepths(timeline, room);
  }
}

bool IsAllExact(const Timeline& timeline) {
  return std::any_of(timeline.windows.begin(), timeline.windows.end(), [&](const auto& window) {
    const int64_t begin_ns = SubtractSaturating(window.begin_ns, timeline.shift_ns);
    return begin_ns <= 0 && !window.is_cut &&
           SubtractSaturating(window.end_ns, timeline.shift_ns) >= timeline.span_ns;
  });
}

// The boxes of level 0, if it has the whole recording; else more than any level has.
int64_t BoxesOfWhole(const Timeline& timeline) {
  const DrawnLevel& finest = timeline.levels.front();
  return finest.level == 0 && IsAllExact(timeline) ? finest.boxes : INT64_MAX;
}

void KeepLevels(Timeline& timeline, const std::vector<char>& is_kept) {
  KeepRows(timeline, [&](int64_t level, int64_t, int64_t, int64_t) {
    return is_kept[static_cast<size_t>(level)] != 0;
  });
  std::erase_if(timeline.levels, [&](const DrawnLevel& level) {
    return is_kept[static_cast<size_t>(level.level)] == 0;
  });
}

}  // namespace

int64_t MostOfWindows(int64_t share, int64_t track_bytes) {
  return std::max<int64_t>(0, share - track_bytes - kLeastForWindow) / kWindowParts *
         (kWindowParts - 1);
}

PageRoom::PageRoom(int64_t share, int64_t track_bytes, int64_t level0_bytes)
    : window(std::min(level0_bytes, MostOfWindows(share, track_bytes))),
      levels(std::max<int64_t>(0, share - track_bytes) - window) {}

int64_t BytesOfWindows(const Timeline& timeline) {
  int64_t all = 0;
  PriceRows(timeline, [&](const TimedRow&, int64_t bytes) {
    all = bytes;
    return true;
  });
  return all;
}

void FitPage(Timeline& timeline, int64_t share) {
  const DrawnLevel* exact = FindLevel(timeline, 0);
  const PageRoom room(share, TrackBytes(timeline.tracks), exact == nullptr ? 0 : exact->bytes);
  CutWindows(timeline, room.window);
  CutLevels(timeline, room.levels);
}

void SettleWindows(Timeline& timeline) {
  std::vector<DrawnWindow>& windows = timeline.windows;
  std::erase_if(windows, [](const DrawnWindow& window) {
    return window.is_cut && window.end_ns <= window.begin_ns;
  });
  if (windows.empty()) {
    std::erase_if(timeline.levels, [](const DrawnLevel& level) { return level.level == 0; });
  } else if (IsAllExact(timeline)) {
    windows = {{timeline.shift_ns, AddSaturating(timeline.shift_ns, timeline.span_ns),
                std::string(kAllWindow)}};
  }
  MeasureWindows(timeline);
}

void MeasureWindows(Timeline& timeline) {
  DrawnLevel* const exact = FindLevel(timeline, 0);
  if (exact == nullptr || timeline.windows.empty()) {
    return;
  }
  *exact = {.level = 0,
            .begin_ns = timeline.windows.front().begin_ns,
            .end_ns = timeline.windows.front().end_ns,
            .boxes = exact->boxes,
            .bytes = exact->bytes};
  for (const DrawnWindow& window : timeline.windows) {
    exact->begin_ns = std::min(exact->begin_ns, window.begin_ns);
    exact->end_ns = std::max(exact->end_ns, window.end_ns);
  }
}

void MeasureLevels(Timeline& timeline) {
  std::map<int64_t, std::vector<const DrawnBox*>> boxes;
  std::map<int64_t, std::vector<const DrawnPoint*>> points;
  for (const DrawnBox& box : timeline.boxes) {
    boxes[box.level].push_back(&box);
  }
  for (const DrawnPoint& point : timeline.points) {
    points[point.level].push_back(&point);
  }
  // Coarsest first, as levels are left out from the finest on: a text is paid by the coarsest that
  // has it.
  PageCost cost(timeline.texts);
  for (size_t left = timeline.levels.size(); left > 0; --left) {
    DrawnLevel& level = timeline.levels[left - 1];
    const int64_t before = cost.bytes();
    cost.BeginLevel();
    for (const DrawnBox* box : boxes[level.level]) {
      cost.Add(*box);
    }
    for (const DrawnPoint* point : points[level.level]) {
      cost.Add(*point);
    }
    level.bytes = cost.bytes() - before;
    level.boxes = static_cast<int64_t>(boxes[level.level].size() + points[level.level].size());
  }
}

void DropRedundantLevels(Timeline& timeline) {
  if (timeline.levels.empty()) {
    return;
  }
  const int64_t most = BoxesOfWhole(timeline) / kLeastGain;
  std::vector<char> is_kept(kCoarsestLevel + 1, 0);
  int64_t coarser = -1;
  for (size_t left = timeline.levels.size(); left > 0; --left) {
    const DrawnLevel& level = timeline.levels[left - 1];
    const bool is_coarsest = coarser < 0;
    const bool adds = level.boxes > coarser + coarser / kPartOfCoarser && level.boxes <= most;
    if (level.level == 0 || is_coarsest || adds) {
      is_kept[static_cast<size_t>(level.level)] = 1;
      coarser = level.boxes;
    }
  }
  KeepLevels(timeline, is_kept);
}

}  // namespace borescope::internal
