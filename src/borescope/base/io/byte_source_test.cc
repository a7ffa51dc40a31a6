#include "borescope/base/io/byte_source.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;

// A file that is removed after the test.
class TempFile {
 public:
  explicit TempFile(std::string_view content)
      : path_(fs::path(testing::TempDir()) /
              (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + "." +
               std::to_string(getpid()))) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TempFile() { fs::remove(path_); }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

// Gives one byte per call, as a pipe may, and fails instead of byte number `fails_at`.
class DripSource : public ByteSource {
 public:
  explicit DripSource(std::string bytes, size_t fails_at = std::string::npos)
      : bytes_(std::move(bytes)), fails_at_(fails_at) {}

  Result<size_t> Read(char* out, size_t capacity) override {
    if (at_ == fails_at_) {
      return Error{ErrorCode::kIo, "drip: byte " + std::to_string(at_) + ": dry"};
    }
    if (at_ == bytes_.size() || capacity == 0) {
      return size_t{0};
    }
    *out = bytes_[at_++];
    return size_t{1};
  }
  uint64_t stored_bytes() const override { return at_; }
  uint64_t stored_total() const override { return 0; }

 private:
  std::string bytes_;
  size_t fails_at_;
  size_t at_ = 0;
};

TEST(ByteSourceTest, ReadsAFileAndSaysHowFarItGot) {
  const TempFile file("hello, world");
  Result<std::unique_ptr<ByteSource>> source = OpenFile(file.path());
  ASSERT_TRUE(source.ok()) << source.error().Sentence();
  EXPECT_EQ((*source)->stored_total(), 12U);
  char text[32];
  Result<size_t> got = (*source)->Read(text, 5);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(std::string_view(text, *got), "hello");
  EXPECT_EQ((*source)->stored_bytes(), 5U);
  got = ReadFully(**source, text, sizeof(text));
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(std::string_view(text, *got), ", world");
  EXPECT_EQ(*(*source)->Read(text, sizeof(text)), 0U);
}

TEST(ByteSourceTest, AnEmptyFileEndsAtOnce) {
  const TempFile file("");
  Result<std::unique_ptr<ByteSource>> source = OpenFile(file.path());
  ASSERT_TRUE(source.ok());
  char byte = 0;
  EXPECT_EQ(*(*source)->Read(&byte, 1), 0U);
}

TEST(ByteSourceTest, AMissingFileIsNamedWithCauseAndRemedy) {
  const Result<std::unique_ptr<ByteSource>> source = OpenFile("no/such/file.json");
  ASSERT_FALSE(source.ok());
  EXPECT_EQ(source.error().code, ErrorCode::kIo);
  EXPECT_EQ(source.error().Sentence(),
            "no/such/file.json: No such file or directory; check the name and its permissions");
  EXPECT_EQ(OpenFile("https://example.com/a.json").error().remedy,
            "give a file, or pipe what is at this address into `borescope VERB -`");
}

TEST(ByteSourceTest, ADirectoryIsAnError) {
  const Result<std::unique_ptr<ByteSource>> source = OpenFile(testing::TempDir());
  ASSERT_FALSE(source.ok());
  EXPECT_EQ(source.error().code, ErrorCode::kIo);
  EXPECT_EQ(source.error().Sentence(),
            testing::TempDir() +
                ": Is a directory; give the files in it, or the directory "
                "as a run");
}

TEST(ByteSourceTest, MemoryIsReadInPieces) {
  const auto source = OpenMemory("abcdef");
  char text[4];
  EXPECT_EQ(*source->Read(text, 4), 4U);
  EXPECT_EQ(source->stored_bytes(), 4U);
  EXPECT_EQ(source->stored_total(), 6U);
  EXPECT_EQ(*source->Read(text, 4), 2U);
  EXPECT_EQ(std::string_view(text, 2), "ef");
  EXPECT_EQ(*source->Read(text, 4), 0U);
}

TEST(ByteSourceTest, ReadFullyPutsShortReadsTogether) {
  DripSource source("abcdef");
  char text[8];
  EXPECT_EQ(*ReadFully(source, text, 4), 4U);
  EXPECT_EQ(std::string_view(text, 4), "abcd");
  EXPECT_EQ(*ReadFully(source, text, 8), 2U);
  EXPECT_EQ(std::string_view(text, 2), "ef");
}

TEST(ByteSourceTest, ReadFullyPassesOnTheError) {
  DripSource source("abcdef", 3);
  char text[8];
  const Result<size_t> got = ReadFully(source, text, 8);
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().Sentence(), "drip: byte 3: dry");
}

TEST(ByteSourceTest, AllBytesOfAFile) {
  const std::string bytes(100000, 'x');
  EXPECT_EQ(*ReadWhole(TempFile(bytes + "y").path()), bytes + "y");
  EXPECT_EQ(*ReadWhole(TempFile("").path()), "");
  EXPECT_NE(ReadWhole("/proc/self/stat")->find(')'),
            std::string::npos);  // its size is said to be 0
}

// The kernel refuses to read the memory at address 0 (EIO), as it refuses a process that has ended.
TEST(ByteSourceTest, AFailedReadIsAnError) {
  const Result<std::string> read = ReadWhole("/proc/self/mem");
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().Sentence().find("byte 0"), std::string::npos) << read.error().Sentence();
}

}  // namespace
}  // namespace borescope::internal
