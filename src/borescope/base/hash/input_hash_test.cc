#include "borescope/base/hash/input_hash.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace borescope::internal {
namespace {

// How many of the hashes end in the same twelve bits as another, in the fullest slot.
template <class Hashes>
size_t FullestSlot(const Hashes& hashes) {
  std::vector<size_t> slots(4096);
  size_t fullest = 0;
  for (const uint64_t hash : hashes) {
    fullest = std::max(fullest, ++slots[hash % slots.size()]);
  }
  return fullest;
}

TEST(InputHashTest, TextsOfEveryLengthAndWithOneOtherByteDiffer) {
  std::set<uint64_t> hashes;
  size_t texts = 0;
  for (size_t size = 0; size <= 70; ++size) {
    std::string text(size, 'a');
    hashes.insert(HashText(text));
    ++texts;
    for (char& c : text) {
      c = '\0';
      hashes.insert(HashText(text));
      ++texts;
      c = 'a';
    }
  }
  EXPECT_EQ(hashes.size(), texts);
}

TEST(InputHashTest, EqualValuesHaveEqualHashes) {
  const std::string text = "a name of twenty-six bytes";
  EXPECT_EQ(HashText(text), HashText(std::string(text)));
  EXPECT_EQ(InputHash()(text), InputHash()(std::string_view(text)));
  EXPECT_EQ(HashNumber(7), HashNumber(7));
  EXPECT_EQ(InputHash()(std::pair<int64_t, int64_t>(1, 2)),
            InputHash()(std::pair<int64_t, int64_t>(1, 2)));
}

// 4096 of these in as many slots: by chance the fullest has about seven.
TEST(InputHashTest, RegularNumbersAreSpread) {
  for (const unsigned shift : {0U, 6U, 12U, 32U, 40U, 52U}) {
    std::vector<uint64_t> hashes;
    for (uint64_t i = 0; i < 4096; ++i) {
      hashes.push_back(HashNumber(i << shift));
    }
    EXPECT_LT(FullestSlot(hashes), 40U) << shift;
  }
}

TEST(InputHashTest, RegularTuplesAreSpread) {
  std::vector<uint64_t> hashes;
  for (int64_t i = 0; i < 64; ++i) {
    for (int64_t j = 0; j < 64; ++j) {
      hashes.push_back(InputHash()(std::array<int64_t, 3>{i << 32, j << 40, i}));
    }
  }
  EXPECT_LT(FullestSlot(hashes), 40U);
}

// Otherwise who knows the program could choose names that collide.
TEST(InputHashTest, KeysDifferBetweenProcesses) {
  const ProcessKey one = MakeProcessKey();
  const ProcessKey other = MakeProcessKey();
  EXPECT_NE(one, other);
  EXPECT_EQ(one[1] & 1, 1U);
}

}  // namespace
}  // namespace borescope::internal
