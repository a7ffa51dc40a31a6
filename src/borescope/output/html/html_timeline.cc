#include "borescope/output/html/html_timeline.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "borescope/base/check.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/output/json_writer.h"
#include "borescope/output/sink/deflated.h"
#include "borescope/output/utf8.h"
#include "borescope/table/display/column_hints.h"
#include "borescope/table/display/view.h"
#include "borescope/table/fit.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {
namespace {

constexpr uint64_t kFormVersion = 1;

// Cells of a column of one type, which may be missing.
template <class Values>
class Cells {
 public:
  Cells(const Table& table, std::string_view name)
      : column_(*table.Find(name)), values_(std::get<Values>(column_.values)) {}

  bool IsMissing(size_t row) const { return column_.IsMissing(row); }
  auto operator[](size_t row) const { return values_[row]; }
  const Values& values() const { return values_; }

 private:
  const Column& column_;
  const Values& values_;
};
using IntCells = Cells<IntValues>;
using FloatCells = Cells<FloatValues>;

// Texts as a page has them, numbered so that those of many boxes have small numbers.
class PageTexts {
 public:
  explicit PageTexts(const Table& boxes)
      : names_(std::get<StringValues>(boxes.Find("name")->values)),
        details_(std::get<StringValues>(boxes.Find("detail")->values)) {
    Count(names_, name_numbers_);
    Count(details_, detail_numbers_);
    Rank();
  }

  uint64_t NumberOfName(size_t row) const { return ranks_[name_numbers_[names_.numbers()[row]]]; }
  uint64_t NumberOfDetail(size_t row) const {
    return ranks_[detail_numbers_[details_.numbers()[row]]];
  }
  // In the order of their numbers.
  std::vector<std::string_view> InOrder() const {
    std::vector<std::string_view> texts(texts_.size());
    for (size_t i = 0; i < texts_.size(); ++i) {
      texts[ranks_[i]] = texts_[i];
    }
    return texts;
  }

 private:
  // Numbers the distinct texts of a column, and counts their rows.
  void Count(const StringValues& column, std::vector<size_t>& numbers) {
    for (const std::string& text : column.texts()) {
      const auto [at, is_new] =
          number_of_.try_emplace(ShortenMiddle(ToPrintable(text), kLongestBoxText), texts_.size());
      if (is_new) {
        texts_.push_back(at->first);
        counts_.push_back(0);
      }
      numbers.push_back(at->second);
    }
    for (const uint32_t text : column.numbers()) {
      ++counts_[numbers[text]];
    }
  }

  void Rank() {
    std::vector<size_t> order(texts_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return counts_[a] > counts_[b]; });
    ranks_.resize(order.size());
    for (size_t rank = 0; rank < order.size(); ++rank) {
      ranks_[order[rank]] = rank;
    }
  }

  const StringValues& names_;
  const StringValues& details_;
  std::map<std::string, size_t> number_of_;
  std::vector<std::string_view> texts_;
  std::vector<size_t> counts_;
  std::vector<size_t> name_numbers_;  // by distinct text of the column
  std::vector<size_t> detail_numbers_;
  std::vector<uint64_t> ranks_;
};

// Numbers as bytes: 7 bits each, the lowest first; the eighth says that more follow.
class LebColumn {
 public:
  void Put(uint64_t number) {
    for (; number >= 0x80; number >>= 7) {
      bytes_ += static_cast<char>(number | 0x80);
    }
    bytes_ += static_cast<char>(number);
  }
  void PutInt(int64_t number) { Put(static_cast<uint64_t>(std::max<int64_t>(0, number))); }
  // Small numbers of either sign are short.
  void PutSigned(int64_t number) {
    const auto bits = static_cast<uint64_t>(number);
    Put((bits << 1) ^ (number < 0 ? ~uint64_t{0} : 0));
  }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// A stretch of rows of one track and level.
struct ChunkRows {
  size_t first = 0;
  size_t end = 0;
  int64_t track = 0;  // of the page
  int64_t level = 0;
};

// The number in the page of each rank's tracks.
class PageTracks {
 public:
  explicit PageTracks(const Table& tracks) {
    const IntCells ranks(tracks, "rank");
    for (size_t row = 0; row < tracks.rows(); ++row) {
      first_.try_emplace(ranks[row], static_cast<int64_t>(row));
    }
  }
  int64_t Number(int64_t rank, int64_t track) const { return first_.at(rank) + track; }

 private:
  std::map<int64_t, int64_t> first_;  // by rank
};

std::vector<ChunkRows> ChunksOf(const Table& table, const PageTracks& tracks) {
  const IntCells ranks(table, "rank");
  const IntCells numbers(table, "track");
  const IntCells levels(table, "level");
  std::vector<ChunkRows> chunks;
  for (size_t row = 0; row < table.rows(); ++row) {
    const int64_t track = tracks.Number(ranks[row], numbers[row]);
    if (chunks.empty() || chunks.back().track != track || chunks.back().level != levels[row]) {
      chunks.push_back({row, row, track, levels[row]});
    }
    chunks.back().end = row + 1;
  }
  return chunks;
}

class BoxWriter {
 public:
  BoxWriter(const Table& boxes, const PageTracks& tracks, const PageTexts& texts)
      : tracks_(tracks),
        texts_(texts),
        ranks_(boxes, "rank"),
        begins_(boxes, "begin_offset_ns"),
        durations_(boxes, "duration_ns"),
        depths_(boxes, "depth"),
        counts_(boxes, "count"),
        busy_(boxes, "busy_ns"),
        launch_tracks_(boxes, "launch_track"),
        launches_(boxes, "launch_offset_ns"),
        details_(boxes, "detail"),
        tones_(boxes, "tone") {
    for (const std::string& tone : tones_.values().texts()) {
      tone_numbers_.push_back(static_cast<uint64_t>(FindTone(tone).value_or(Tone::kFlameOther)));
    }
  }

  std::string Encode(const ChunkRows& chunk) const {
    std::string bytes = Times(chunk) + Looks(chunk);
    return bytes + (chunk.level > 0 ? Sums(chunk) : Origins(chunk));
  }

 private:
  std::string Times(const ChunkRows& chunk) const {
    LebColumn begins;
    LebColumn durations;
    int64_t before_ns = 0;
    for (size_t row = chunk.first; row < chunk.end; ++row) {
      begins.PutInt(SubtractSaturating(begins_[row], before_ns));
      before_ns = begins_[row];
      durations.PutInt(durations_[row]);
    }
    return begins.bytes() + durations.bytes();
  }

  std::string Looks(const ChunkRows& chunk) const {
    LebColumn depths;
    LebColumn names;
    LebColumn tones;
    for (size_t row = chunk.first; row < chunk.end; ++row) {
      depths.PutInt(depths_[row]);
      names.Put(texts_.NumberOfName(row));
      tones.Put(tone_numbers_[tones_.values().numbers()[row]]);
    }
    return depths.bytes() + names.bytes() + tones.bytes();
  }

  std::string Sums(const ChunkRows& chunk) const {
    LebColumn counts;
    LebColumn idle;
    for (size_t row = chunk.first; row < chunk.end; ++row) {
      counts.PutInt(counts_[row]);
      idle.PutInt(SubtractSaturating(durations_[row], busy_[row]));
    }
    return counts.bytes() + idle.bytes();
  }

  std::string Origins(const ChunkRows& chunk) const {
    LebColumn details;
    LebColumn tracks;
    LebColumn launches;
    for (size_t row = chunk.first; row < chunk.end; ++row) {
      details.Put(details_.IsMissing(row) ? 0 : 1 + texts_.NumberOfDetail(row));
      if (launch_tracks_.IsMissing(row)) {
        tracks.Put(0);
        continue;
      }
      tracks.PutInt(1 + tracks_.Number(ranks_[row], launch_tracks_[row]));
      launches.PutSigned(SubtractSaturating(begins_[row], launches_[row]));
    }
    return details.bytes() + tracks.bytes() + launches.bytes();
  }

  const PageTracks& tracks_;
  const PageTexts& texts_;
  IntCells ranks_, begins_, durations_, depths_, counts_, busy_, launch_tracks_, launches_;
  Cells<StringValues> details_, tones_;
  std::vector<uint64_t> tone_numbers_;  // by distinct tone of the column
};

// Values in thousandths; what is no number is 0.
int64_t Thousandths(double value) {
  constexpr double kParts = 1000;
  constexpr double kMost = 9e15;
  return std::isnan(value) ? 0 : std::llround(std::clamp(value * kParts, -kMost, kMost));
}

std::string EncodePoints(const Table& points, const ChunkRows& chunk) {
  const IntCells times(points, "begin_offset_ns");
  LebColumn begins;
  int64_t before_ns = 0;
  for (size_t row = chunk.first; row < chunk.end; ++row) {
    begins.PutInt(SubtractSaturating(times[row], before_ns));
    before_ns = times[row];
  }
  std::string bytes = begins.bytes();
  for (const std::string_view name : {"low", "high", "last"}) {
    const FloatCells values(points, name);
    LebColumn column;
    int64_t before = 0;
    for (size_t row = chunk.first; row < chunk.end; ++row) {
      const int64_t value = Thousandths(values[row]);
      column.PutSigned(value - before);
      before = value;
    }
    bytes += column.bytes();
  }
  return bytes;
}

// Members of the document, one after the other.
class TimelineWriter {
 public:
  TimelineWriter(std::span<const Table> tables, Sink& sink)
      : ranks_(GetTable(tables, "timeline")),
        tracks_(GetTable(tables, "tracks")),
        levels_(GetTable(tables, "levels")),
        boxes_(GetTable(tables, "boxes")),
        points_(GetTable(tables, "points")),
        windows_(GetTable(tables, "windows")),
        numbers_(tracks_),
        texts_(boxes_),
        json_(sink) {}

  // `has_empty`: with chunks of tracks that have nothing at a level.
  Result<void> Write(std::string_view more, bool has_empty = false) {
    json_.BeginObject();
    json_.Key("version");
    json_.Uint(kFormVersion);
    if (!more.empty()) {
      json_.Member("more", more);
    }
    PutTime();
    PutTexts();
    PutWindows();
    PutTracks();
    PutLevels();
    PutChunks(has_empty);
    json_.EndObject();
    return json_.Finish();
  }

 private:
  void PutInt(std::string_view key, int64_t value) {
    json_.Key(key);
    json_.Int(value);
  }

  static int64_t CellOr(const Table& table, std::string_view name, size_t row, int64_t missing) {
    const IntCells cells(table, name);
    return cells.IsMissing(row) ? missing : cells[row];
  }

  // When the first recording begins; Unix time where it is known.
  void PutTime() {
    int64_t begin_ns = 0;
    int64_t end_ns = 0;
    for (size_t row = 0; row < ranks_.rows(); ++row) {
      const int64_t shift_ns = CellOr(ranks_, "shift_ns", row, 0);
      if (shift_ns == 0) {
        begin_ns =
            AddSaturating(CellOr(ranks_, "base_ns", row, 0), CellOr(ranks_, "begin_ns", row, 0));
      }
      end_ns = std::max(end_ns, AddSaturating(shift_ns, CellOr(ranks_, "span_ns", row, 0)));
    }
    json_.Member("begin_ns", std::to_string(begin_ns));
    PutInt("span_ns", end_ns);
  }

  void PutTexts() {
    json_.BreakLine(1);
    json_.Key("names");
    json_.BeginArray();
    for (const std::string_view text : texts_.InOrder()) {
      json_.String(text);
    }
    json_.EndArray();
    json_.BreakLine(1);
    json_.Key("tones");
    json_.BeginArray();
    for (size_t tone = 0; tone < static_cast<size_t>(Tone::kInk); ++tone) {
      json_.String(ToneName(static_cast<Tone>(tone)));
    }
    json_.EndArray();
  }

  void PutWindow(size_t row) {
    json_.BeginObject();
    PutInt("rank", CellOr(windows_, "rank", row, 0));
    PutInt("begin_ns", CellOr(windows_, "begin_offset_ns", row, 0));
    PutInt("end_ns", CellOr(windows_, "end_offset_ns", row, 0));
    json_.Member("why", std::get<StringValues>(windows_.Find("window")->values)[row]);
    json_.Key("cut");
    json_.Bool(std::get<BoolValues>(windows_.Find("cut")->values)[row] != 0);
    json_.EndObject();
  }

  // The longest of all, then each.
  void PutWindows() {
    size_t longest = 0;
    const auto length = [&](size_t row) {
      return SubtractSaturating(CellOr(windows_, "end_offset_ns", row, 0),
                                CellOr(windows_, "begin_offset_ns", row, 0));
    };
    for (size_t row = 1; row < windows_.rows(); ++row) {
      longest = length(row) > length(longest) ? row : longest;
    }
    json_.BreakLine(1);
    json_.Key("window");
    windows_.rows() == 0 ? json_.Null() : PutWindow(longest);
    json_.BreakLine(1);
    json_.Key("windows");
    json_.BeginArray();
    for (size_t row = 0; row < windows_.rows(); ++row) {
      PutWindow(row);
    }
    json_.EndArray();
    PutLeftOut();
  }

  void PutLeftOut() {
    int64_t tracks = 0;
    int64_t events = 0;
    for (size_t row = 0; row < ranks_.rows(); ++row) {
      AddSaturatingTo(tracks, CellOr(ranks_, "left_out_tracks", row, 0));
      AddSaturatingTo(events, CellOr(ranks_, "left_out_events", row, 0));
    }
    json_.BreakLine(1);
    json_.Key("left_out");
    json_.BeginObject();
    PutInt("tracks", tracks);
    PutInt("events", events);
    json_.EndObject();
  }

  void PutText(std::string_view key, const Table& table, std::string_view column, size_t row) {
    json_.Member(key,
                 ShortenMiddle(ToPrintable(std::get<StringValues>(table.Find(column)->values)[row]),
                               kLongestPageText));
  }

  void PutTracks() {
    json_.BreakLine(1);
    json_.Key("tracks");
    json_.BeginArray();
    for (size_t row = 0; row < tracks_.rows(); ++row) {
      json_.BreakLine(2);
      json_.BeginObject();
      PutInt("rank", CellOr(tracks_, "rank", row, 0));
      for (const std::string_view text : {"kind", "name", "parent"}) {
        PutText(text, tracks_, text, row);
      }
      for (const std::string_view number : {"depths", "events", "busy_ns"}) {
        PutInt(number, CellOr(tracks_, number, row, 0));
      }
      PutText("unit", tracks_, "unit", row);
      json_.EndObject();
    }
    json_.EndArray();
  }

  void PutLevel(size_t row, int64_t begin_ns, int64_t end_ns) {
    json_.BreakLine(2);
    json_.BeginObject();
    for (const std::string_view number : {"rank", "level", "grain_ns"}) {
      PutInt(number, CellOr(levels_, number, row, 0));
    }
    PutInt("begin_ns", begin_ns);
    PutInt("end_ns", end_ns);
    if (const int64_t depths = CellOr(levels_, "depths", row, -1); depths >= 0) {
      PutInt("depths", depths);
    }
    json_.EndObject();
  }

  // Level 0 is there in each window.
  void PutLevels() {
    json_.BreakLine(1);
    json_.Key("levels");
    json_.BeginArray();
    for (size_t row = 0; row < levels_.rows(); ++row) {
      if (CellOr(levels_, "level", row, 0) > 0) {
        PutLevel(row, CellOr(levels_, "begin_offset_ns", row, 0),
                 CellOr(levels_, "end_offset_ns", row, 0));
        continue;
      }
      for (size_t window = 0; window < windows_.rows(); ++window) {
        if (CellOr(windows_, "rank", window, 0) == CellOr(levels_, "rank", row, 0)) {
          PutLevel(row, CellOr(windows_, "begin_offset_ns", window, 0),
                   CellOr(windows_, "end_offset_ns", window, 0));
        }
      }
    }
    json_.EndArray();
  }

  void PutChunk(const ChunkRows& chunk, std::string_view bytes) {
    json_.BreakLine(2);
    json_.BeginObject();
    PutInt("track", chunk.track);
    PutInt("level", chunk.level);
    PutInt("boxes", static_cast<int64_t>(chunk.end - chunk.first));
    const std::string packed = Deflated(bytes);
    packed.size() < bytes.size() ? json_.Member("packed", Base64(packed))
                                 : json_.Member("data", Base64(bytes));
    json_.EndObject();
  }

  void PutEmptyChunks(std::span<const ChunkRows> boxes, std::span<const ChunkRows> points) {
    std::set<std::pair<int64_t, int64_t>> filled;  // track and level
    for (const std::span<const ChunkRows> chunks : {boxes, points}) {
      for (const ChunkRows& chunk : chunks) {
        filled.emplace(chunk.track, chunk.level);
      }
    }
    const IntCells ranks(tracks_, "rank");
    const auto& kinds = std::get<StringValues>(tracks_.Find("kind")->values);
    for (size_t track = 0; track < tracks_.rows(); ++track) {
      for (size_t row = 0; row < levels_.rows(); ++row) {
        const ChunkRows empty{0, 0, static_cast<int64_t>(track), CellOr(levels_, "level", row, 0)};
        if (CellOr(levels_, "rank", row, 0) == ranks[track] && kinds[track] != "counter" &&
            !filled.contains({empty.track, empty.level})) {
          PutChunk(empty, {});
        }
      }
    }
  }

  void PutChunks(bool has_empty) {
    json_.BreakLine(1);
    json_.Key("chunks");
    json_.BeginArray();
    const BoxWriter writer(boxes_, numbers_, texts_);
    const std::vector<ChunkRows> boxes = ChunksOf(boxes_, numbers_);
    const std::vector<ChunkRows> points = ChunksOf(points_, numbers_);
    for (const ChunkRows& chunk : boxes) {
      CheckStop();
      PutChunk(chunk, writer.Encode(chunk));
    }
    for (const ChunkRows& chunk : points) {
      CheckStop();
      PutChunk(chunk, EncodePoints(points_, chunk));
    }
    if (has_empty) {
      PutEmptyChunks(boxes, points);
    }
    json_.EndArray();
  }

  const Table& ranks_;
  const Table& tracks_;
  const Table& levels_;
  const Table& boxes_;
  const Table& points_;
  const Table& windows_;
  PageTracks numbers_;
  PageTexts texts_;
  JsonWriter json_;
};

}  // namespace

std::map<int64_t, int64_t> ShiftsOfRanks(std::span<const Table> tables) {
  std::map<int64_t, int64_t> shifts_of;
  if (!tables.empty()) {
    const IntCells ranks(tables.front(), "rank");
    const IntCells shifts(tables.front(), "shift_ns");
    for (size_t row = 0; row < tables.front().rows(); ++row) {
      if (!ranks.IsMissing(row) && !shifts.IsMissing(row)) {
        shifts_of.emplace(ranks[row], shifts[row]);
      }
    }
  }
  return shifts_of;
}

Result<void> WriteStretch(std::span<const Table> tables, Sink& sink) {
  return TimelineWriter(tables, sink).Write({}, true);
}

Result<void> WriteTimeline(std::span<const Table> tables, std::string_view more, Sink& sink) {
  return tables.empty() ? sink.Write("null") : TimelineWriter(tables, sink).Write(more);
}

}  // namespace borescope::internal
