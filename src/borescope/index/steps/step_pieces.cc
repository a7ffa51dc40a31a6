#include "borescope/index/steps/step_pieces.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace borescope::internal {
namespace {

// Cuts windows that overlap into pieces that do not.
class Cutter {
 public:
  explicit Cutter(const std::vector<Step>& steps) : steps_(steps) {}

  std::vector<Steps::Piece> Cut(std::span<const uint32_t> some) {
    for (const uint32_t step : some) {
      if (steps_[step].begin_ns < steps_[step].end_ns) {  // one of zero length contains nothing
        EndWindows(steps_[step].begin_ns);
        Start(steps_[step].begin_ns, step);
        open_.push_back(step);
      }
    }
    EndWindows(std::numeric_limits<int64_t>::max());
    pieces_.shrink_to_fit();
    return std::move(pieces_);
  }

 private:
  void Start(int64_t begin_ns, uint32_t step) {
    if (!pieces_.empty() && pieces_.back().begin_ns == begin_ns) {
      pieces_.back().step = step;
    } else {
      pieces_.push_back({begin_ns, step});
    }
  }

  // Ends windows that are over at `now_ns`; the rest of the enclosing one continues.
  void EndWindows(int64_t now_ns) {
    while (!open_.empty() && steps_[open_.back()].end_ns <= now_ns) {
      const int64_t end_ns = steps_[open_.back()].end_ns;
      while (!open_.empty() && steps_[open_.back()].end_ns <= end_ns) {
        open_.pop_back();
      }
      Start(end_ns, open_.empty() ? kNoStep : open_.back());
    }
  }

  const std::vector<Step>& steps_;
  std::vector<uint32_t> open_;  // begun and not known to have ended; the last to begin on top
  std::vector<Steps::Piece> pieces_;
};

uint32_t FindPiece(const std::vector<Steps::Piece>& pieces, int64_t ts_ns) {
  const auto after =
      std::upper_bound(pieces.begin(), pieces.end(), ts_ns,
                       [](int64_t ts, const Steps::Piece& piece) { return ts < piece.begin_ns; });
  return after == pieces.begin() ? kNoStep : std::prev(after)->step;
}

}  // namespace

std::vector<Steps::Piece> CutSteps(const std::vector<Step>& steps, std::span<const uint32_t> some) {
  return Cutter(steps).Cut(some);
}

uint32_t Steps::At(TrackId track, int64_t ts_ns) const {
  const uint32_t process = steps.empty() ? kNoProcess : process_of[track.value];
  if (process == kNoProcess) {
    return kNoStep;
  }
  return FindPiece(process == kAnyProcess ? pieces.back() : pieces[process], ts_ns);
}

}  // namespace borescope::internal
