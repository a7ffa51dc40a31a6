#include "borescope/analysis/verbs/timeline/page_cost.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "borescope/base/saturating.h"

namespace borescope::internal {
namespace {

constexpr int64_t kChunkBytes = 60;  // the members around the data of a chunk
constexpr int64_t kTrackBytes = 120;
constexpr int64_t kEscapedBytes = 6;   // "\u003c"
constexpr int64_t kQuotes = 3;         // with the comma
constexpr int64_t kBytesOfNumber = 2;  // of a text or a track

// Of an unsigned number in LEB128.
int64_t Leb(int64_t number) {
  return std::max(1, (static_cast<int>(std::bit_width(static_cast<uint64_t>(number))) + 6) / 7);
}

// Of a number with a sign.
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
  for (const char c : text.substr(0, kLongestPageText)) {
    const bool is_escaped =
        static_cast<unsigned char>(c) < ' ' || c == '<' || c == '"' || c == '\\';
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

}  // namespace borescope::internal
