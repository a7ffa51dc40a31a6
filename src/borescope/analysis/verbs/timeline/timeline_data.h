// What is drawn of one rank: tracks, and boxes and points on them at several levels of detail.
// docs/how-it-works/timeline.md has meanings. Plain data; times are from the recording's begin.
// Below that, what it takes in a page, and how it is made to fit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/table/display/column_hints.h"
#include "borescope/trace/string_pool.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

// In the order of drawing.
enum class TrackRole : uint8_t { kSteps, kPath, kThread, kStream, kGroup, kWait, kCounter, kCount };
std::string_view TrackRoleName(TrackRole role);

struct DrawnTrack {
  TrackRole role = TrackRole::kThread;
  std::string name = {};
  std::string parent = {};  // process or device; may be empty
  std::string unit = {};    // of a counter
  int64_t depths = 0;
  int64_t events = 0;
  int64_t busy_ns = 0;
};

struct DrawnLevel {
  int64_t level = 0;
  int64_t grain_ns = 0;  // 0: exact
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t boxes = 0;          // and points
  int64_t bytes = 0;          // about what it takes in a page
  int64_t depths = kMissing;  // rows of each track that it has at most; kMissing: all
};

struct DrawnBox {
  int64_t track = 0;
  int64_t level = 0;
  int64_t depth = 0;
  int64_t begin_ns = 0;
  int64_t duration_ns = 0;
  StringId name;  // of Timeline::texts
  Tone tone = Tone::kFlameOther;
  int64_t count = 1;
  int64_t busy_ns = 0;
  StringId detail;                  // invalid: none
  int64_t launch_track = kMissing;  // kMissing: none is known
  int64_t launch_ns = 0;
};

struct DrawnPoint {
  int64_t track = 0;
  int64_t level = 0;
  int64_t begin_ns = 0;
  double low = 0;
  double high = 0;
  double last = 0;
};

// A part of the recording of which level 0 is drawn.
struct DrawnWindow {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  std::string why;
  bool is_cut = false;  // it ends early, as no more of it fitted

  int64_t length_ns() const { return end_ns - begin_ns; }
};
// What a window of the whole recording is there for.
inline constexpr std::string_view kAllWindow = "all";
// And one of DrawFirst (tracks.h).
inline constexpr std::string_view kFindingWindow = "a finding about several ranks";

// The place of the first window that an event overlaps; their number where it overlaps none.
size_t WindowOf(const std::vector<DrawnWindow>& windows, int64_t begin_ns, int64_t end_ns);

struct Timeline {
  int64_t rank = 0;
  int64_t clock_begin_ns = 0;  // of the recording, on the clock of its file
  int64_t base_ns = kMissing;  // Unix time of that clock's 0
  int64_t shift_ns = 0;        // begin of the recording after that of the first rank
  int64_t span_ns = 0;
  int64_t left_out_tracks = 0;
  int64_t left_out_events = 0;  // of those tracks, and of depths that are not drawn
  // The most important first: what of them does not fit is left out from the end on. An event
  // belongs to the first that it overlaps. Empty: nothing fitted.
  std::vector<DrawnWindow> windows;
  std::vector<DrawnTrack> tracks;
  std::vector<DrawnLevel> levels;  // finest first
  std::vector<DrawnBox> boxes;     // by level, track, begin, depth
  std::vector<DrawnPoint> points;  // by level, track, begin
  StringPool texts;
};

// Moves all times to those of a clock that begins so much earlier, and notes that.
void ShiftTimeline(int64_t shift_ns, Timeline& timeline);

// The grain of a level: 1 us, 4 us, 16 us, ...; 0 of level 0. REQUIRES: level <= kCoarsestLevel.
int64_t GrainOf(int64_t level);
inline constexpr int64_t kCoarsestLevel = 26;
// The first level whose grain covers the span: two boxes a row or fewer.
int64_t CoarsestLevelOf(int64_t span_ns);

// What boxes and points take in a page, about: the form of docs/how-it-works/timeline.md, packed
// and in base64, with the texts that they are the first to use. The same for the same rows
// anywhere.

class PageCost {
 public:
  explicit PageCost(const StringPool& texts) : texts_(texts) {}

  // Rows of another level follow: differences begin again, texts are known from now on.
  void BeginLevel();
  // REQUIRES: rows of one track come by begin; those of several tracks may alternate.
  void Add(const DrawnBox& box);
  void Add(const DrawnPoint& point);
  void AddAll(const std::vector<DrawnBox>& boxes, const std::vector<DrawnPoint>& points);

  int64_t bytes() const { return bytes_; }

 private:
  // Where a chunk is, and what differences count from.
  struct Chunk {
    bool is_open = false;
    int64_t begin_ns = 0;
    DrawnPoint point;
  };

  Chunk& ChunkOf(int64_t track);
  void AddText(StringId text);
  void AddRaw(int64_t raw_bytes);

  const StringPool& texts_;
  std::vector<Chunk> chunks_;   // by track
  std::vector<char> is_known_;  // by text
  int64_t bytes_ = 0;
};

// No box or point of a level takes less.
inline constexpr int64_t kLeastBytesOfRow = 3;

// What a page has of tracks, whatever is drawn on them.
int64_t TrackBytes(const std::vector<DrawnTrack>& tracks);

// Makes a timeline small enough for its share of a page: without the finest levels, and with a
// window that ends sooner. What fits a smaller share is what fits it of that which fits a larger
// one, so that parts of a run can be cut before it is known how many ranks share the page.

// What of a share there is for the two. REQUIRES: the bytes are those of level 0 before any cut,
// or more than any share allows.
struct PageRoom {
  PageRoom(int64_t share, int64_t track_bytes, int64_t level0_bytes);

  int64_t window = 0;
  int64_t levels = 0;
};
// The most that windows may have, however little the levels take.
int64_t MostOfWindows(int64_t share, int64_t track_bytes);

// What level 0 takes, with the same differences between rows as where it is cut. REQUIRES: boxes
// and points are those of level 0. O(n log n).
int64_t BytesOfWindows(const Timeline& timeline);

// A first window of which nothing fits is left without length and events, so that a smaller share
// can be applied later with the same outcome. O(n log n) for each window.
void FitPage(Timeline& timeline, int64_t share);

// Takes away such a window, and level 0 with it; where all of the recording is exact, that is the
// only window. Call when no share is applied any more.
void SettleWindows(Timeline& timeline);

// Where level 0 begins and ends, as its windows are.
void MeasureWindows(Timeline& timeline);

// Counts the boxes and bytes of each level as it is.
void MeasureLevels(Timeline& timeline);

// Takes away levels that have hardly more boxes than the next coarser one, and if level 0 has the
// whole recording, those that have hardly fewer than it; the coarsest stays. REQUIRES:
// MeasureLevels, and that no share is applied any more.
void DropRedundantLevels(Timeline& timeline);

}  // namespace borescope::internal
