#include "borescope/analysis/measures/graphs/align_names.h"

#include <algorithm>

#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

// The furthest place in `a` on each diagonal (place in `a` less place in `b`), after each number of
// edits.
class Alignment {
 public:
  Alignment(std::span<const uint32_t> a, std::span<const uint32_t> b)
      : a_(a),
        b_(b),
        size_a_(static_cast<int64_t>(a.size())),
        size_b_(static_cast<int64_t>(b.size())) {}

  // Whether the ends can be reached with this many edits.
  bool Reach(int64_t edits);
  std::vector<NamePair> Pairs() const;

 private:
  int64_t FurthestBefore(int64_t edits, int64_t diagonal) const;
  bool ComesFromAbove(int64_t edits, int64_t diagonal) const;
  int64_t& At(int64_t edits, int64_t diagonal) {
    return furthest_[static_cast<size_t>(edits)][static_cast<size_t>(diagonal + edits)];
  }
  int64_t At(int64_t edits, int64_t diagonal) const {
    const bool is_inside = diagonal >= -edits && diagonal <= edits;
    return is_inside ? furthest_[static_cast<size_t>(edits)][static_cast<size_t>(diagonal + edits)]
                     : -1;
  }

  std::span<const uint32_t> a_;
  std::span<const uint32_t> b_;
  int64_t size_a_;
  int64_t size_b_;
  std::vector<std::vector<int64_t>> furthest_;  // by edits, then by diagonal; -1: not reached
};

// Whether the last edit before this diagonal left out a name of `b`.
bool Alignment::ComesFromAbove(int64_t edits, int64_t diagonal) const {
  return At(edits - 1, diagonal - 1) < At(edits - 1, diagonal + 1);
}

// Where the diagonal is entered by the last edit; outside of the sequences: not at all.
int64_t Alignment::FurthestBefore(int64_t edits, int64_t diagonal) const {
  if (edits == 0) return 0;
  const bool from_above = ComesFromAbove(edits, diagonal);
  const int64_t before = At(edits - 1, from_above ? diagonal + 1 : diagonal - 1);
  const int64_t place = before < 0 ? -1 : before + (from_above ? 0 : 1);
  return place > size_a_ || place - diagonal > size_b_ ? -1 : place;
}

bool Alignment::Reach(int64_t edits) {
  furthest_.emplace_back(static_cast<size_t>(2 * edits + 1), -1);
  for (int64_t diagonal = -edits; diagonal <= edits; diagonal += 2) {
    int64_t place = FurthestBefore(edits, diagonal);
    if (place < 0 || place < diagonal) continue;
    while (place < size_a_ && place - diagonal < size_b_ &&
           a_[static_cast<size_t>(place)] == b_[static_cast<size_t>(place - diagonal)]) {
      ++place;
    }
    At(edits, diagonal) = place;
    if (place == size_a_ && place - diagonal == size_b_) return true;
  }
  return false;
}

// From the ends back to the begins.
std::vector<NamePair> Alignment::Pairs() const {
  std::vector<NamePair> pairs;
  int64_t place = size_a_;
  int64_t diagonal = size_a_ - size_b_;
  for (auto edits = static_cast<int64_t>(furthest_.size()) - 1; edits >= 0; --edits) {
    for (const int64_t begin = FurthestBefore(edits, diagonal); place > begin; --place) {
      pairs.emplace_back(static_cast<uint32_t>(place - 1),
                         static_cast<uint32_t>(place - 1 - diagonal));
    }
    if (edits == 0) break;
    const bool from_above = ComesFromAbove(edits, diagonal);
    place -= from_above ? 0 : 1;
    diagonal += from_above ? 1 : -1;
  }
  std::reverse(pairs.begin(), pairs.end());
  return pairs;
}

}  // namespace

std::optional<std::vector<NamePair>> AlignNames(std::span<const uint32_t> a,
                                                std::span<const uint32_t> b, size_t most_edits) {
  Alignment alignment(a, b);
  for (size_t edits = 0; edits <= most_edits; ++edits) {
    CheckStop();
    if (alignment.Reach(static_cast<int64_t>(edits))) return alignment.Pairs();
  }
  return std::nullopt;
}

}  // namespace borescope::internal
