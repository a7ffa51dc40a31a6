#include "borescope/analysis/verbs/timeline/timeline_data.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <tuple>

#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/table/fit.h"

namespace borescope::internal {

namespace {

constexpr int64_t kFinestGrainNs = 1000;

}  // namespace

std::string_view TrackRoleName(TrackRole role) {
  constexpr std::string_view kNames[] = {"steps", "path", "thread", "stream", "group", "counter"};
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

void ShiftTimeline(int64_t shift_ns, Timeline& timeline) {
  timeline.shift_ns = shift_ns;
  const auto move = [shift_ns](int64_t& ns) { AddSaturatingTo(ns, shift_ns); };
  move(timeline.window.begin_ns);
  move(timeline.window.end_ns);
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

// Four letters for three bytes.
void PageCost::AddRaw(int64_t raw_bytes) { bytes_ += (4 * raw_bytes + 2) / 3; }

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
// The bytes of a box or point where only some depths of a level fit.
constexpr int64_t kRoughBytes = 32;
// A level has at least a third more boxes than the next coarser one, and no more than half of those
// of the whole recording where these are drawn, too: else it looks the same.
constexpr int64_t kPartOfCoarser = 3;
constexpr int64_t kLeastGain = 2;

// A row of level 0 among all others of it.
struct TimedRow {
  int64_t begin_ns = 0;
  int64_t track = 0;
  int64_t depth = 0;  // of points -1
  uint32_t row = 0;

  auto Key() const { return std::tie(begin_ns, track, depth, row); }
};

std::vector<TimedRow> RowsByTime(const Timeline& timeline) {
  std::vector<TimedRow> rows;
  for (uint32_t i = 0; i < timeline.boxes.size() && timeline.boxes[i].level == 0; ++i) {
    rows.push_back(
        {timeline.boxes[i].begin_ns, timeline.boxes[i].track, timeline.boxes[i].depth, i});
  }
  for (uint32_t i = 0; i < timeline.points.size() && timeline.points[i].level == 0; ++i) {
    rows.push_back({timeline.points[i].begin_ns, timeline.points[i].track, -1, i});
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

template <class Keep>
void KeepRows(Timeline& timeline, const Keep& keep) {
  std::erase_if(timeline.boxes,
                [&](const DrawnBox& box) { return !keep(box.level, box.begin_ns, box.depth); });
  std::erase_if(timeline.points,
                [&](const DrawnPoint& point) { return !keep(point.level, point.begin_ns, 0); });
}

void CutWindow(Timeline& timeline, int64_t room) {
  DrawnLevel* exact = FindLevel(timeline, 0);
  if (exact == nullptr) {
    return;
  }
  // Events that overlap the window may begin before it: where not even these fit, nothing does.
  const int64_t end_ns = std::max(timeline.window.begin_ns, EndThatFits(timeline, room));
  if (end_ns >= exact->end_ns) {
    return;
  }
  const bool has_any = end_ns > timeline.window.begin_ns;
  KeepRows(timeline, [&](int64_t level, int64_t begin_ns, int64_t) {
    return level > 0 || (has_any && begin_ns < end_ns);
  });
  exact->end_ns = end_ns;
  timeline.window.end_ns = end_ns;
  timeline.window.is_cut = true;
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
  KeepRows(timeline, [&](int64_t level, int64_t, int64_t depth) {
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
           [&](int64_t level, int64_t, int64_t) { return level == 0 || level >= finest; });
  std::erase_if(timeline.levels,
                [&](const DrawnLevel& level) { return level.level > 0 && level.level < finest; });
  if (fits == nullptr) {
    CutDepths(timeline, room);
  }
}

// The boxes of level 0, if it has the whole recording; else more than any level has.
int64_t BoxesOfWhole(const Timeline& timeline) {
  const DrawnLevel& finest = timeline.levels.front();
  const bool is_whole = finest.level == 0 && finest.begin_ns <= 0 &&
                        finest.end_ns >= timeline.span_ns && !timeline.window.is_cut;
  return is_whole ? finest.boxes : INT64_MAX;
}

void KeepLevels(Timeline& timeline, const std::vector<char>& is_kept) {
  KeepRows(timeline, [&](int64_t level, int64_t, int64_t) {
    return is_kept[static_cast<size_t>(level)] != 0;
  });
  std::erase_if(timeline.levels, [&](const DrawnLevel& level) {
    return is_kept[static_cast<size_t>(level.level)] == 0;
  });
}

}  // namespace

int64_t MostOfWindow(int64_t share, int64_t track_bytes) {
  return std::max<int64_t>(0, share - track_bytes - kLeastForWindow) / 2;
}

PageRoom::PageRoom(int64_t share, int64_t track_bytes, int64_t level0_bytes)
    : window(std::min(level0_bytes, MostOfWindow(share, track_bytes))),
      levels(std::max<int64_t>(0, share - track_bytes) - window) {}

int64_t EndThatFits(const Timeline& timeline, int64_t room) {
  PageCost cost(timeline.texts);
  for (const TimedRow& row : RowsByTime(timeline)) {
    CheckStopAt(row.row);
    row.depth < 0 ? cost.Add(timeline.points[row.row]) : cost.Add(timeline.boxes[row.row]);
    if (cost.bytes() > room) {
      return row.begin_ns;
    }
  }
  return INT64_MAX;
}

void FitPage(Timeline& timeline, int64_t share) {
  const DrawnLevel* exact = FindLevel(timeline, 0);
  const PageRoom room(share, TrackBytes(timeline.tracks), exact == nullptr ? 0 : exact->bytes);
  CutWindow(timeline, room.window);
  CutLevels(timeline, room.levels);
}

void DropEmptyWindow(Timeline& timeline) {
  DrawnWindow& window = timeline.window;
  if (window.is_cut && window.end_ns <= window.begin_ns) {
    window = {kMissing, kMissing, "", true};
    std::erase_if(timeline.levels, [](const DrawnLevel& level) { return level.level == 0; });
  }
}

void MeasureLevels(Timeline& timeline) {
  std::map<int64_t, PageCost> costs;
  std::map<int64_t, int64_t> rows;
  for (const DrawnBox& box : timeline.boxes) {
    costs.try_emplace(box.level, timeline.texts).first->second.Add(box);
    ++rows[box.level];
  }
  for (const DrawnPoint& point : timeline.points) {
    costs.try_emplace(point.level, timeline.texts).first->second.Add(point);
    ++rows[point.level];
  }
  for (DrawnLevel& level : timeline.levels) {
    const auto cost = costs.find(level.level);
    level.bytes = cost == costs.end() ? 0 : cost->second.bytes();
    level.boxes = rows[level.level];
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
