#include "borescope/recorder/run_log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace borescope::internal {
namespace {

using recording::RecordType;

class RunLogTest : public testing::Test {
 protected:
  RunLogTest() : folder_(testing::TempDir() + "/run-log" + std::to_string(getpid())) {
    std::filesystem::create_directory(folder_);
  }
  ~RunLogTest() override { std::filesystem::remove_all(folder_); }

  // The numbers `a` of all complete records but anchors, in the order of the file.
  std::vector<uint32_t> Numbers() const {
    std::ifstream file(folder_ + "/x.bsl", std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    std::vector<uint32_t> numbers;
    uint64_t at = recording::kLeastHeaderBytes;
    while (at + sizeof(recording::ChunkHeader) <= bytes.size()) {
      recording::ChunkHeader chunk{};
      std::memcpy(&chunk, bytes.data() + at, sizeof(chunk));
      EXPECT_EQ(chunk.magic, recording::kChunkMagic);
      for (uint64_t place = at + sizeof(chunk); place < at + chunk.bytes;) {
        uint64_t word = 0;
        std::memcpy(&word, bytes.data() + place, sizeof(word));
        const recording::RecordHead head = recording::UnpackHead(word);
        if (head.type == 0) break;
        if (head.type != static_cast<uint8_t>(RecordType::kAnchor)) numbers.push_back(head.a);
        place += head.words * sizeof(word);
      }
      at += chunk.bytes;
    }
    return numbers;
  }

  std::string folder_;
};

TEST_F(RunLogTest, RecordsFollowEachOtherAcrossChunks) {
  Result<RunLog> log = RunLog::Open(folder_, "x.bsl");
  ASSERT_TRUE(log.ok()) << log.error().Sentence();
  log->set_chunk_bytes(4096);
  std::vector<uint32_t> expected;
  for (uint32_t i = 0; i < 300; ++i) {
    LogWords words;
    words.Add(RecordType::kSample, i, {1, 2});
    words.Add(RecordType::kMark, 1000 + i, {3}, "some text");
    ASSERT_TRUE(log->Append(words.words()).ok());
    expected.push_back(i);
    expected.push_back(1000 + i);
  }
  EXPECT_EQ(Numbers(), expected);
}

TEST_F(RunLogTest, TwoWritersHaveChunksOfTheirOwn) {
  Result<RunLog> first = RunLog::Open(folder_, "x.bsl");
  Result<RunLog> second = RunLog::Open(folder_, "x.bsl");
  ASSERT_TRUE(first.ok() && second.ok());
  LogWords words;
  words.Add(RecordType::kState, 7, {1});
  for (RunLog* log : {&*first, &*second, &*first}) {
    log->set_chunk_bytes(4096);
    ASSERT_TRUE(log->Append(words.words()).ok());
  }
  EXPECT_EQ(Numbers(), (std::vector<uint32_t>{7, 7, 7}));
}

// Whoever read the log would not find what was added to it.
TEST_F(RunLogTest, AFileThatIsNoLogGetsNoRecords) {
  std::ofstream(folder_ + "/x.bsl") << "text";
  const Result<RunLog> log = RunLog::Open(folder_, "x.bsl");
  ASSERT_FALSE(log.ok());
  EXPECT_NE(log.error().Sentence().find("x.bsl: is no log"), std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(folder_ + "/x.bsl"), 4U);
}

TEST(LogWords, LongTextsAreCutBetweenCodePoints) {
  LogWords words;
  std::string text(4095, 'x');
  text += "\xc3\xa9 and more";
  words.Add(RecordType::kMark, 0, {5}, text);
  const recording::RecordHead head = recording::UnpackHead(words.words()[0]);
  EXPECT_EQ(head.words, 2 + 512);
  EXPECT_EQ(head.flags, recording::kIsCut | 1);
  EXPECT_EQ(words.words().size(), head.words);
}

}  // namespace
}  // namespace borescope::internal
