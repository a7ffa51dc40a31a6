#include "borescope/base/io/inflate.h"

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <random>
#include <vector>

namespace borescope::internal {
namespace {

// The inflaters read their input in blocks of this size; sizes around it are the interesting ones.
constexpr size_t kStoredBlock = 256 * 1024;

// One gzip member. `name` pads the header, which is how a member gets an exact stored size.
std::string Gzip(std::string_view text, int level = 6, const std::string& name = "") {
  z_stream stream{};
  deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY);
  std::string name_copy = name;
  gz_header header{};
  header.name = name.empty() ? nullptr : reinterpret_cast<Bytef*>(name_copy.data());
  deflateSetHeader(&stream, &header);
  std::string out(deflateBound(&stream, text.size()) + name.size() + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string Zstd(std::string_view text, int level = 3) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), level));
  return out;
}

std::string Noise(size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::string text(size, '\0');
  for (char& c : text) {
    c = static_cast<char>(random());
  }
  return text;
}

// Compresses well, so that one stored block inflates to many reads.
std::string Prose(size_t size) {
  std::string text;
  for (size_t i = 0; text.size() < size; ++i) {
    text += "event " + std::to_string(i) + ", ";
  }
  text.resize(size);
  return text;
}

struct Inflated {
  std::string text;
  std::string damage;
  bool recognised = false;  // as compressed
};

Inflated Inflate(std::string_view bytes, size_t capacity = 64 * 1024) {
  Result<OpenedSource> opened = InflateIfCompressed(OpenMemory(bytes));
  EXPECT_TRUE(opened.ok());
  Inflated result;
  std::vector<char> buffer(capacity);
  for (;;) {
    const Result<size_t> got = opened->bytes->Read(buffer.data(), capacity);
    EXPECT_TRUE(got.ok());
    if (!got.ok() || *got == 0) {
      break;
    }
    result.text.append(buffer.data(), *got);
  }
  result.recognised = opened->inflating != nullptr;
  result.damage = result.recognised ? std::string(opened->inflating->damage()) : "";
  EXPECT_EQ(opened->bytes->stored_total(), bytes.size());
  return result;
}

void ExpectWhole(const Inflated& got, std::string_view text) {
  EXPECT_TRUE(got.recognised);
  EXPECT_EQ(got.damage, "");
  EXPECT_EQ(got.text.size(), text.size());
  EXPECT_TRUE(got.text == text);  // not megabytes of difference
}

const size_t kSizes[] = {0,      1,      2,      1000,   65535,   65536,     65537,
                         131072, 262143, 262144, 262145, 400'000, 1'048'576, 1'300'001};

TEST(InflateTest, OtherBytesPassUnchanged) {
  const std::string texts[] = {"",     "{",     "[]",     "abc",          "{\"a\":1}",
                               "\x1f", "\x1f{", "(\xb5/", Prose(300'000), Noise(9, 1)};
  for (const std::string& text : texts) {
    const Inflated got = Inflate(text, 1 + text.size() / 3);
    EXPECT_FALSE(got.recognised);
    EXPECT_TRUE(got.text == text) << text.size() << " bytes";
  }
}

TEST(InflateTest, WhatCannotBeInflatedIsNamed) {
  const std::string xz("\xfd\x37\x7a\x58\x5a\0", 6);
  const Result<OpenedSource> opened = InflateIfCompressed(OpenMemory(xz));
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().Sentence(),
            "byte 0: this is compressed by xz; unpack it (xz -d), or pack it as .gz or .zst");
}

TEST(InflateTest, OfAFileEveryErrorNamesIt) {
  EXPECT_TRUE(OpenInflated("/dev/null").ok());
  const Result<OpenedSource> absent = OpenInflated("/absent/file");
  ASSERT_FALSE(absent.ok());
  EXPECT_TRUE(absent.error().Sentence().starts_with("/absent/file: "));
}

TEST(InflateTest, GzipOfEverySize) {
  for (const size_t size : kSizes) {
    SCOPED_TRACE(size);
    ExpectWhole(Inflate(Gzip(Prose(size))), Prose(size));
    const std::string noise = Noise(size, 7);
    ExpectWhole(Inflate(Gzip(noise, 1)), noise);
    ExpectWhole(Inflate(Gzip(noise, 0), 1'000'003), noise);
  }
}

TEST(InflateTest, ZstdOfEverySize) {
  for (const size_t size : kSizes) {
    SCOPED_TRACE(size);
    ExpectWhole(Inflate(Zstd(Prose(size))), Prose(size));
    const std::string noise = Noise(size, 7);
    ExpectWhole(Inflate(Zstd(noise), 100'003), noise);
  }
}

// Output that the decoder buffers when the reader's buffer is full must not be lost at the end.
TEST(InflateTest, SmallReadsGetEverything) {
  const std::string text = Prose(5000);
  for (const size_t capacity : {1, 2, 3, 7, 100, 4096, 4999, 5000, 5001}) {
    SCOPED_TRACE(capacity);
    ExpectWhole(Inflate(Gzip(text), capacity), text);
    ExpectWhole(Inflate(Zstd(text), capacity), text);
    ExpectWhole(Inflate(Gzip("") + Gzip(text) + Gzip("x"), capacity), text + "x");
  }
}

TEST(InflateTest, GzipMembersAreJoined) {
  std::string bytes;
  std::string text;
  for (const size_t size : {0UL, 1UL, 70'000UL, 0UL, 0UL, 300'000UL, 5UL}) {
    bytes += Gzip(Prose(size), 1 + static_cast<int>(size % 9));
    text += Prose(size);
    ExpectWhole(Inflate(bytes), text);
  }
}

// A member may end just before, at and after the end of a block of stored input (whose first one
// begins after the four bytes looked at to recognise the format).
TEST(InflateTest, GzipMembersAreCounted) {
  const auto members = [](const std::string& bytes) {
    const Result<OpenedSource> opened = InflateIfCompressed(OpenMemory(bytes));
    std::string text(1000, '\0');
    EXPECT_TRUE(ReadFully(*opened->bytes, text.data(), text.size()).ok());
    return opened->inflating->gzip_members();
  };
  EXPECT_EQ(members(Gzip("a")), 1U);
  EXPECT_EQ(members(Gzip("a") + Gzip("") + Gzip("b")), 3U);
  EXPECT_EQ(members(Gzip("a") + "\0\0"), 1U);
  EXPECT_EQ(members(Gzip("a").substr(0, 10)), 0U);
  EXPECT_EQ(members(Zstd("a")), 0U);
}

TEST(InflateTest, MembersMeetAtTheEdgeOfAStoredBlock) {
  const std::string text = Noise(kStoredBlock - 400, 3);
  const size_t plain = Gzip(text, 0).size();
  const std::string second = Prose(1000);
  for (size_t end = kStoredBlock - 12; end <= kStoredBlock + 12; ++end) {
    SCOPED_TRACE(end);
    const std::string member = Gzip(text, 0, std::string(end - plain - 1, 'n'));
    ASSERT_EQ(member.size(), end);
    ExpectWhole(Inflate(member), text);
    ExpectWhole(Inflate(member + Gzip(second)), text + second);
    ExpectWhole(Inflate(member + std::string(3, '\0')), text);
  }
}

TEST(InflateTest, GzipCutAnywhereGivesWhatCameBefore) {
  const std::string text = Prose(3000);
  const std::string bytes = Gzip(text);
  for (size_t cut = 2; cut < bytes.size(); ++cut) {
    const Inflated got = Inflate(std::string_view(bytes).substr(0, cut));
    EXPECT_TRUE(text.starts_with(got.text)) << "cut at " << cut;
    EXPECT_EQ(got.damage, "gzip stream ends early at stored byte " + std::to_string(cut));
  }
}

TEST(InflateTest, GzipMembersCutAnywhereGiveWhatCameBefore) {
  const std::string first = Gzip("first, ");
  const std::string bytes = first + Gzip(Prose(500)) + Gzip("last");
  const std::string text = "first, " + Prose(500) + "last";
  for (size_t cut = first.size(); cut < bytes.size(); ++cut) {
    const bool between = cut == first.size() || cut == bytes.size() - Gzip("last").size();
    const Inflated got = Inflate(std::string_view(bytes).substr(0, cut));
    EXPECT_TRUE(text.starts_with(got.text) && got.text.size() >= 7) << "cut at " << cut;
    EXPECT_EQ(got.damage.empty(), between) << "cut at " << cut << ": " << got.damage;
  }
}

TEST(InflateTest, ZstdCutAnywhereGivesWhatCameBefore) {
  const std::string text = Prose(200'000);
  const std::string bytes = Zstd(text);
  for (size_t cut = 4; cut < bytes.size(); cut += cut < 200 ? 1 : 211) {
    const Inflated got = Inflate(std::string_view(bytes).substr(0, cut));
    EXPECT_TRUE(text.starts_with(got.text)) << "cut at " << cut;
    EXPECT_EQ(got.damage, "zstd stream ends early at stored byte " + std::to_string(cut));
  }
}

// Checksum and length are the last eight bytes; the text before them is complete.
TEST(InflateTest, AWrongChecksumIsDamageWithoutLoss) {
  const std::string text = Prose(3000);
  const std::string bytes = Gzip(text);
  for (size_t back = 5; back <= 8; ++back) {
    std::string wrong = bytes;
    wrong[wrong.size() - back] ^= 0x10;
    const Inflated got = Inflate(wrong);
    EXPECT_TRUE(got.text == text);
    EXPECT_TRUE(got.damage.starts_with("gzip stream is damaged at stored byte ")) << got.damage;
  }
}

TEST(InflateTest, FlippedBitsNeverHangOrCrash) {
  const std::string text = Prose(2000);
  for (const std::string& bytes : {Gzip(text), Gzip(text, 0), Zstd(text), Gzip("a") + Gzip(text)}) {
    for (size_t at = 0; at < bytes.size(); ++at) {
      std::string wrong = bytes;
      wrong[at] = static_cast<char>(wrong[at] ^ (1 << (at % 8)));
      const Inflated got = Inflate(wrong, 4096);
      EXPECT_LT(got.text.size(), 10'000'000U) << "byte " << at;
    }
  }
}

TEST(InflateTest, ZeroPaddingAfterGzipIsQuiet) {
  for (const size_t zeros : {1UL, 7UL, 512UL, 600'000UL}) {
    ExpectWhole(Inflate(Gzip("text") + std::string(zeros, '\0')), "text");
  }
}

TEST(InflateTest, OtherBytesAfterGzipAreSaid) {
  const std::string bytes = Gzip("text");
  const Inflated got = Inflate(bytes + "garbage");
  EXPECT_EQ(got.text, "text");
  EXPECT_EQ(got.damage,
            "bytes after the gzip stream at stored byte " + std::to_string(bytes.size()));
  const Inflated fake = Inflate(bytes + "\x1f\x8bgarbage");
  EXPECT_EQ(fake.text, "text");
  EXPECT_NE(fake.damage, "");
}

TEST(InflateTest, ZstdFramesAreJoinedAndGarbageBehindThemIsSaid) {
  ExpectWhole(Inflate(Zstd("one ") + Zstd(Prose(150'000))), "one " + Prose(150'000));
  const Inflated got = Inflate(Zstd("text") + "garbage");
  EXPECT_EQ(got.text, "text");
  EXPECT_TRUE(got.damage.starts_with("zstd stream is damaged")) << got.damage;
}

// A header may request gigabytes of memory; 128 MiB are allowed. The file is not damaged.
TEST(InflateTest, AZstdWindowBeyondTheLimitIsRefused) {
  const std::string magic = "\x28\xb5\x2f\xfd";
  const std::string no_flags(1, '\0');
  const std::string window_2_gib(1, static_cast<char>((31 - 10) << 3));
  const std::string last_raw_block_of_one_byte("\x09\x00\x00x", 4);
  const std::string frame = magic + no_flags + window_2_gib + last_raw_block_of_one_byte;
  Result<OpenedSource> opened = InflateIfCompressed(OpenMemory(frame));
  ASSERT_TRUE(opened.ok());
  char byte = 0;
  const Result<size_t> got = opened->bytes->Read(&byte, 1);
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().code, ErrorCode::kUnsupportedFormat);
  EXPECT_NE(got.error().Sentence().find("--long=31"), std::string::npos) << got.error().Sentence();
}

TEST(InflateTest, HowFarTheStoredFileWasReadIsKnown) {
  const std::string bytes = Gzip(Noise(kStoredBlock * 3, 5), 0);
  Result<OpenedSource> opened = InflateIfCompressed(OpenMemory(bytes));
  ASSERT_TRUE(opened.ok());
  std::vector<char> buffer(kStoredBlock);
  ASSERT_TRUE(ReadFully(*opened->bytes, buffer.data(), buffer.size()).ok());
  EXPECT_GE(opened->bytes->stored_bytes(), kStoredBlock);
  EXPECT_LT(opened->bytes->stored_bytes(), bytes.size());
  EXPECT_EQ(opened->bytes->stored_total(), bytes.size());
}

// Fails after some good bytes.
class FailingSource : public ByteSource {
 public:
  FailingSource(std::string bytes, size_t fails_at)
      : bytes_(std::move(bytes)), fails_at_(fails_at) {}
  Result<size_t> Read(char* out, size_t capacity) override {
    if (at_ == fails_at_) {
      return Error{ErrorCode::kIo, "disk on fire"};
    }
    const size_t size = std::min(capacity, fails_at_ - at_);
    bytes_.copy(out, size, at_);
    at_ += size;
    return size;
  }
  uint64_t stored_bytes() const override { return at_; }
  uint64_t stored_total() const override { return bytes_.size(); }

 private:
  std::string bytes_;
  size_t fails_at_;
  size_t at_ = 0;
};

TEST(InflateTest, AReadErrorIsNotMistakenForTheEnd) {
  for (const std::string& bytes : {Gzip(Prose(5000)), Zstd(Prose(5000)), Prose(5000)}) {
    for (const size_t fails_at : {2UL, 30UL}) {
      Result<OpenedSource> opened =
          InflateIfCompressed(std::make_unique<FailingSource>(bytes, fails_at));
      std::vector<char> buffer(10'000);
      const Result<size_t> got = opened.ok()
                                     ? ReadFully(*opened->bytes, buffer.data(), buffer.size())
                                     : Result<size_t>(opened.error());
      ASSERT_FALSE(got.ok());
      EXPECT_EQ(got.error().Sentence(), "disk on fire");
    }
  }
}

}  // namespace
}  // namespace borescope::internal
