// What boxes and points take in a page, about: the form of docs/how-it-works/timeline.md, in
// base64, with the texts that they are the first to use. The same for the same rows anywhere.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/analysis/verbs/timeline/timeline_data.h"

namespace borescope::internal {

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
inline constexpr int64_t kLeastBytesOfRow = 6;

// What a page has of tracks, whatever is drawn on them.
int64_t TrackBytes(const std::vector<DrawnTrack>& tracks);

}  // namespace borescope::internal
