#include "borescope/store/file_identity.h"

#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <set>
#include <string>
#include <vector>

namespace borescope::internal {

namespace {

constexpr SecretHash::Secret kSecret = {1, 2, 3, 4};

std::string TextOfSize(size_t size) {
  std::string text(size, '\0');
  for (size_t i = 0; i < size; ++i) {
    text[i] = static_cast<char>(i * 131 + i / 257);
  }
  return text;
}

TEST(SecretHashTest, EverySizeAndEveryBitCounts) {
  const SecretHash hash(kSecret);
  std::set<std::string> seen;
  size_t texts = 0;
  for (const size_t size :
       std::initializer_list<size_t>{0, 1, 15, 16, 17, 63, 64, 65, 8191, 8192, 8193, 20'000}) {
    std::string text(size, '\0');
    seen.insert(HexOf(hash.Of(text)));
    ++texts;
    for (size_t at = 0; at < size; at += 1 + size / 50) {
      text[at] = 1;
      seen.insert(HexOf(hash.Of(text)));
      text[at] = static_cast<char>(0x80);
      seen.insert(HexOf(hash.Of(text)));
      text[at] = 0;
      texts += 2;
    }
  }
  EXPECT_EQ(seen.size(), texts);
}

// Across the borders of pieces, chunks and levels.
TEST(SecretHashTest, ReadingInPiecesGivesTheHashOfTheWhole) {
  const SecretHash hash(kSecret);
  for (const size_t size :
       {size_t{0}, size_t{5}, size_t{1} << 20, (size_t{1} << 20) + 1, (size_t{5} << 20) + 77}) {
    const std::string text = TextOfSize(size);
    const Result<ContentHash> read =
        hash.Of(size, 3, [&](uint64_t offset, char* out, size_t bytes) -> Result<void> {
          std::memcpy(out, text.data() + offset, bytes);
          return {};
        });
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(*read, hash.Of(text)) << size;
  }
}

TEST(SecretHashTest, AnErrorOfReadingIsTheAnswer) {
  const Result<ContentHash> read = SecretHash(kSecret).Of(
      100, 1,
      [](uint64_t, char*, size_t) -> Result<void> { return Error{ErrorCode::kIo, "gone"}; });
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().Sentence(), "gone");
}

TEST(SecretHashTest, ChunksInAnotherOrderDiffer) {
  const SecretHash hash(kSecret);
  const std::string a = TextOfSize(size_t{1} << 20);
  const std::string b(size_t{1} << 20, 'b');
  EXPECT_NE(hash.Of(a + b), hash.Of(b + a));
}

TEST(SecretHashTest, EverySecretHasHashesOfItsOwn) {
  std::set<std::string> seen;
  for (size_t word = 0; word < kSecret.size(); ++word) {
    SecretHash::Secret other = kSecret;
    other[word] ^= 1;
    seen.insert(HexOf(SecretHash(other).Of("text")));
  }
  seen.insert(HexOf(SecretHash(kSecret).Of("text")));
  EXPECT_EQ(seen.size(), 5U);
}

}  // namespace

}  // namespace borescope::internal
