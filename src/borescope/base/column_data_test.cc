#include "borescope/base/column_data.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <new>
#include <random>
#include <utility>
#include <vector>

#include "borescope/base/memory_limit.h"
#include "borescope/base/sanitized_testing.h"
#include "borescope/base/spilled_blocks.h"
#include "borescope/base/stop.h"

namespace borescope::internal {

namespace {

using Numbers = ColumnData<int64_t>;

constexpr size_t kLargeRows = kLargeBlockBytes / sizeof(int64_t);

// A limit under which every large column lies in a file.
MemoryLimit SpillAll(std::shared_ptr<SpillFiles> files) { return MemoryLimit(1, std::move(files)); }

std::shared_ptr<SpillFiles> FilesForTest() {
  return std::make_shared<SpillFiles>(testing::TempDir());
}

// What a vector does, with sizes on both sides of that from which on blocks are large.
void ChangeAtRandom(uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int64_t> expected;
  Numbers column;
  for (int64_t i = 0; i < 200; ++i) {
    const size_t size = random() % (kLargeRows * 4);
    const size_t at = random() % (expected.size() + 1);
    switch (random() % 8) {
      case 0:
        column.resize(size, i), expected.resize(size, i);
        break;
      case 1:
        column.reserve(size), expected.reserve(size);
        break;
      case 2:
        column.insert(column.begin() + at, size, i);
        expected.insert(expected.begin() + static_cast<ptrdiff_t>(at), size, i);
        break;
      case 3:
        column.erase(column.begin() + at, column.end());
        expected.erase(expected.begin() + static_cast<ptrdiff_t>(at), expected.end());
        break;
      case 4:
        column.AppendZeros(size), expected.resize(expected.size() + size);
        break;
      case 5:
        column.shrink_to_fit();
        EXPECT_EQ(column.capacity(), column.size());
        break;
      case 6: {
        Numbers copy = column;
        column = std::move(copy);
        break;
      }
      default:
        column.push_back(i), expected.push_back(i);
    }
    ASSERT_EQ(column, expected);
    if (expected.size() > kLargeRows * 8) {
      column.clear(), expected.clear();
    }
  }
}

TEST(ColumnBlockTest, LargeColumnsDoWhatAVectorDoes) {
  ChangeAtRandom(1);
  EXPECT_EQ(SpilledBytes(), 0U);
}

TEST(ColumnBlockTest, SoDoThoseInFiles) {
  const MemoryLimit limit = SpillAll(FilesForTest());
  const StopScope scope({}, &limit);
  ChangeAtRandom(2);
  Numbers column(kLargeRows, 7);
  EXPECT_EQ(SpilledBytes(), kLargeBlockBytes);
  column.clear(), column.shrink_to_fit();
  EXPECT_EQ(SpilledBytes(), 0U);
}

TEST(ColumnBlockTest, WhatWasReleasedIsReadAgain) {
  const MemoryLimit limit = SpillAll(FilesForTest());
  Numbers column;
  {
    const StopScope scope({}, &limit);
    for (int64_t i = 0; i < 1'000'000; ++i) {
      column.push_back(i * i);
    }
  }
  ReleaseSpilledBlocks();
  EXPECT_GE(SpilledBytes(), 8'000'000U);
  int64_t wrong = 0;
  for (int64_t i = 0; i < 1'000'000; ++i) {
    wrong += column[static_cast<size_t>(i)] == i * i ? 0 : 1;
  }
  EXPECT_EQ(wrong, 0);
}

// A column that grew in a scope stays in its file, and grows there, when the scope is over and its
// limit gone.
TEST(ColumnBlockTest, AColumnOutlivesItsLimit) {
  Numbers column;
  {
    const MemoryLimit limit = SpillAll(FilesForTest());
    const StopScope scope({}, &limit);
    column.resize(kLargeRows, 1);
  }
  const size_t before = SpilledBytes();
  EXPECT_GE(before, kLargeBlockBytes);
  column.resize(kLargeRows * 3, 2);
  EXPECT_GT(SpilledBytes(), before);
  EXPECT_EQ(column.front(), 1);
  EXPECT_EQ(column.back(), 2);
}

TEST(ColumnBlockTest, ColumnsWithinAQuarterOfTheLimitStayInMemory) {
  const MemoryLimit limit(size_t{64} << 20, FilesForTest());
  const StopScope scope({}, &limit);
  const Numbers fits((size_t{12} << 20) / sizeof(int64_t), 1);
  EXPECT_EQ(SpilledBytes(), 0U);
  const Numbers does_not((size_t{24} << 20) / sizeof(int64_t), 1);
  EXPECT_EQ(SpilledBytes(), size_t{24} << 20);
}

TEST(ColumnBlockTest, WithoutRoomForFilesMemoryIsTaken) {
  const auto files = std::make_shared<SpillFiles>("/no/such/folder");
  const MemoryLimit limit = SpillAll(files);
  const StopScope scope({}, &limit);
  const Numbers column(kLargeRows, 3);
  EXPECT_EQ(column.back(), 3);
  EXPECT_EQ(SpilledBytes(), 0U);
  EXPECT_EQ(files->failure(),
            "/no/such/folder: no room for 0 MiB of columns: No such file or directory; free some, "
            "or name a folder on another disk with TMPDIR");
}

TEST(ColumnBlockTest, MemoryThatRunsOutChangesNothing) {
  Numbers column(kLargeRows, 5);
  if (!testkit::kSanitized) {  // these end the process
    EXPECT_THROW(column.reserve(size_t{1} << 58), std::bad_alloc);
  }
  EXPECT_THROW(column.reserve(~size_t{0} / 8), std::bad_alloc);
  EXPECT_EQ(column, std::vector<int64_t>(kLargeRows, 5));
}

TEST(ColumnBlockTest, ZerosAreSeen) {
  const char values[] = {0, 0, 0, 1};
  EXPECT_TRUE(AreZeros(values, 0));
  EXPECT_TRUE(AreZeros(values, 1));
  EXPECT_TRUE(AreZeros(values, 3));
  EXPECT_FALSE(AreZeros(values, 4));
  EXPECT_FALSE(AreZeros(values + 3, 1));
}

// Values that were written and cut off are no zeros.
TEST(ColumnBlockTest, AppendedZerosReplaceWhatWasThere) {
  Numbers column(kLargeRows * 2, 9);
  column.resize(10);
  column.AppendZeros(kLargeRows);
  std::vector<int64_t> expected(10, 9);
  expected.resize(10 + kLargeRows);
  EXPECT_EQ(column, expected);
}

TEST(ColumnBlockTest, NoZerosNeedNoMemory) {
  ColumnData<uint32_t> none;
  none.AppendZeros(0);
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.capacity(), 0U);
}

using Numbers = ColumnData<int64_t>;

TEST(ColumnDataTest, DoesWhatAVectorDoes) {
  std::mt19937 random(1);
  std::vector<int64_t> expected;
  Numbers column;
  for (int64_t i = 0; i < 20'000; ++i) {
    const size_t size = random() % 50;
    switch (random() % 8) {
      case 0:
        column.resize(size, i), expected.resize(size, i);
        break;
      case 1:
        column.reserve(size), expected.reserve(size);
        break;
      case 2: {
        const std::vector<int64_t> more(size, i);
        const size_t at = random() % (expected.size() + 1);
        column.insert(column.begin() + at, more.begin(), more.end());
        expected.insert(expected.begin() + static_cast<ptrdiff_t>(at), more.begin(), more.end());
        break;
      }
      case 3: {
        const size_t at = random() % (expected.size() + 1);
        column.erase(column.begin() + at, column.end());
        expected.erase(expected.begin() + static_cast<ptrdiff_t>(at), expected.end());
        break;
      }
      case 4:
        column.assign(size, i), expected.assign(size, i);
        break;
      case 5:
        column.shrink_to_fit();
        break;
      default:
        column.push_back(i), expected.push_back(i);
    }
    ASSERT_EQ(column, expected);
  }
}

TEST(ColumnDataTest, TakesTheMemoryOfAColumnOfAnotherType) {
  for (const size_t size : {size_t{8}, size_t{100'000}}) {  // a small block, and a large one
    ColumnData<uint32_t> other(size, 7);
    other.shrink_to_fit();
    const void* const memory = other.data();
    Numbers column = Numbers::InMemoryOf(std::move(other));
    EXPECT_EQ(column.data(), memory);
    EXPECT_EQ(column.capacity(), size / 2);
    EXPECT_TRUE(column.empty());
    EXPECT_TRUE(other.empty());  // NOLINT: it is moved from, and defined to be empty
    EXPECT_EQ(other.capacity(), 0U);
    column.assign(size, 5);  // more than there is room for
    EXPECT_EQ(column, std::vector<int64_t>(size, 5));
  }
}

TEST(ColumnDataTest, TakesNoMemoryThatItsValuesDoNotFillOrThatIsOfAView) {
  ColumnData<uint32_t> odd(9, 7);
  odd.shrink_to_fit();
  EXPECT_EQ(Numbers::InMemoryOf(std::move(odd)).capacity(), 0U);
  int64_t values[] = {3, 1, 2};
  EXPECT_EQ(Numbers::InMemoryOf(Numbers::View(values)).capacity(), 0U);
  EXPECT_EQ(values[0], 3);
  EXPECT_EQ(Numbers::InMemoryOf(ColumnData<char>()).capacity(), 0U);
}

TEST(ColumnDataTest, AViewShowsWhatIsThere) {
  int64_t values[] = {3, 1, 2};
  const Numbers view = Numbers::View(values);
  EXPECT_TRUE(view.is_view());
  EXPECT_EQ(view.data(), values);
  EXPECT_EQ(view.capacity(), 0U);
  values[1] = 5;
  EXPECT_EQ(view, (std::vector<int64_t>{3, 5, 2}));
}

TEST(ColumnDataTest, ChangingAViewLeavesTheOriginalAlone) {
  const std::vector<int64_t> values = {3, 1, 2};
  const auto changed = [&](auto change) {
    Numbers column = Numbers::View(values);
    change(column);
    EXPECT_FALSE(column.is_view() && column.data() == values.data());
    return std::vector<int64_t>(column.begin(), column.end());
  };
  using List = std::vector<int64_t>;
  EXPECT_EQ(changed([](Numbers& column) { column.push_back(7); }), (List{3, 1, 2, 7}));
  EXPECT_EQ(changed([](Numbers& column) { column.pop_back(); }), (List{3, 1}));
  EXPECT_EQ(changed([](Numbers& column) { column.resize(1); }), (List{3}));
  EXPECT_EQ(changed([](Numbers& column) { column.resize(4, 9); }), (List{3, 1, 2, 9}));
  EXPECT_EQ(changed([](Numbers& column) { column.clear(); }), List());
  EXPECT_EQ(changed([](Numbers& column) { column.insert(column.begin() + 1, 2, 8); }),
            (List{3, 8, 8, 1, 2}));
  EXPECT_EQ(changed([](Numbers& column) { column.erase(column.begin(), column.begin() + 2); }),
            (List{2}));
  EXPECT_EQ(changed([](Numbers& column) {
              column.Own();
              column[0] = 4;
            }),
            (List{4, 1, 2}));
  EXPECT_EQ(values, (List{3, 1, 2}));
}

TEST(ColumnDataTest, CopiesOfAViewHaveTheirOwnValuesAndMovedOnesDoNot) {
  const std::vector<int64_t> values = {3, 1, 2};
  Numbers view = Numbers::View(values);
  const Numbers copy = view;
  EXPECT_FALSE(copy.is_view());
  EXPECT_EQ(copy, values);
  const Numbers moved = std::move(view);
  EXPECT_TRUE(moved.is_view());
  EXPECT_EQ(moved.data(), values.data());
}

}  // namespace

}  // namespace borescope::internal
