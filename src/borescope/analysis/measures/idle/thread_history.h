// What one thread of the host did, prepared once for many questions about parts of its time.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/measures/idle/host_activities.h"
#include "borescope/base/range_minima.h"

namespace borescope::internal {

// Takes about 40 bytes a row of the thread. Thread-safe once it is made.
class ThreadHistory {
 public:
  // As WalkHostPieces and MainEventIn would answer. `view` must outlive it. O(n log n).
  ThreadHistory(const RankView& view, TrackId track, int64_t period_ns);

  using UseSum = std::function<void(const HostPiece& piece, int64_t ns)>;
  // Calls `use` with each kind of piece in `time` and how long it was in all, in the order of their
  // first pieces. O((1 + kinds) log n).
  void ForEachIn(Interval time, const UseSum& use) const;

  // As MainEventIn (host_time.h). O((1 + rows open in the middle of `time`) log n).
  HostId MainEventIn(Interval time) const;

 private:
  struct Kind {
    HostPiece piece;
    std::vector<uint32_t> pieces;  // its places, in order
    std::vector<uint64_t> before;  // the time of those before each; differences of them are exact
  };

  Interval Hull() const;
  void AddPiece(const HostPiece& piece, Interval time);
  RangeMinima<int64_t> MakePrevious() const;
  RangeMinima<int64_t> MakeEnds() const;
  int64_t LengthOf(const Kind& kind, size_t first, size_t end, Interval time) const;

  const RankView& view_;
  const TrackId track_;
  const int64_t period_ns_;
  const Interval hull_;  // nothing is known outside of it
  Grouper groups_{4};
  std::vector<Kind> kinds_;
  std::vector<int64_t> begins_;  // of the pieces, which follow one another
  std::vector<uint32_t> kind_of_;
  RangeMinima<int64_t> previous_;  // the place after that of the last piece of the same kind; 0
  RangeMinima<int64_t> ends_;      // of the rows of the thread, negated
};

}  // namespace borescope::internal
