#include "borescope/base/range_minima.h"

#include <gtest/gtest.h>

#include <random>

namespace borescope::internal {
namespace {

TEST(RangeMinimaTest, FindsWhatALoopFinds) {
  std::mt19937 random(7);
  for (size_t size = 0; size < 40; ++size) {
    std::vector<int> numbers(size);
    for (int& number : numbers) {
      number = static_cast<int>(random() % 10);
    }
    const RangeMinima<int> minima(numbers);
    for (int round = 0; round < 30; ++round) {
      const size_t end = random() % (size + 1);
      const size_t begin = random() % (end + 1);
      const int bound = static_cast<int>(random() % 11);
      std::vector<size_t> found;
      std::vector<size_t> expected;
      minima.ForEachBelow(begin, end, bound, [&](size_t i) { found.push_back(i); });
      for (size_t i = begin; i < end; ++i) {
        if (numbers[i] < bound) {
          expected.push_back(i);
        }
      }
      EXPECT_EQ(found, expected);
    }
  }
}

}  // namespace
}  // namespace borescope::internal
