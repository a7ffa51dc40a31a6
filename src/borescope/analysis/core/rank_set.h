// RankSet: some of the ranks of a run, by their place among all, a bit each.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace borescope::internal {

class RankSet {
 public:
  explicit RankSet(size_t ranks) : words_((ranks + 63) / 64) {}

  // REQUIRES: rank < ranks.
  void Add(uint32_t rank) { words_[rank / 64] |= uint64_t{1} << (rank % 64); }
  // REQUIRES: both are of the same number of ranks.
  void Add(const RankSet& other) {
    for (size_t i = 0; i < words_.size(); ++i) {
      words_[i] |= other.words_[i];
    }
  }
  int64_t size() const {
    return std::accumulate(words_.begin(), words_.end(), int64_t{0},
                           [](int64_t sum, uint64_t word) { return sum + std::popcount(word); });
  }

 private:
  std::vector<uint64_t> words_;
};

}  // namespace borescope::internal
