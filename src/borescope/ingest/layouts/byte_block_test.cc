#include "borescope/ingest/layouts/byte_block.h"

#include <gtest/gtest.h>

#include <array>

namespace borescope::internal {
namespace {

using Bytes = std::array<char, ByteBlock::kBytes>;

// All bytes from `first` on, each followed by the next.
Bytes BytesFrom(int first) {
  Bytes bytes{};
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(first + static_cast<int>(i));
  }
  return bytes;
}

TEST(ByteBlockTest, AnswersAsItsTwinForEveryByte) {
  for (int first = 0; first < 256; first += static_cast<int>(ByteBlock::kBytes)) {
    const Bytes bytes = BytesFrom(first);
    Bytes others = bytes;
    others[static_cast<size_t>(first / 32)] ^= 1;
    const ByteBlock block(bytes.data());
    const PlainBlock plain(bytes.data());
    EXPECT_EQ(block.EndsNumber(), plain.EndsNumber()) << first;
    EXPECT_EQ(block.EndsPlainText(), plain.EndsPlainText()) << first;
    EXPECT_EQ(block.EndsPlainList(), plain.EndsPlainList()) << first;
    EXPECT_EQ(block.Equals(ByteBlock(others.data())), plain.Equals(PlainBlock(others.data())));
    EXPECT_EQ(plain.Equals(PlainBlock(others.data())), ~(uint32_t{1} << (first / 32)));
  }
}

}  // namespace
}  // namespace borescope::internal
