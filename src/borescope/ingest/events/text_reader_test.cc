#include "borescope/ingest/events/text_reader.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>

namespace borescope::internal {

namespace {

// The text from the cut on, or "nowhere".
std::string_view CutOf(std::string_view text) {
  const size_t cut = FindEventBoundary(text);
  return cut == std::string_view::npos ? "nowhere" : text.substr(cut);
}

TEST(FindEventBoundaryTest, CompactText) {
  EXPECT_EQ(CutOf(R"([{"ph":"X","ts":1},{"ph":"X","ts":2},{"ph":"X","t)"), R"({"ph":"X","t)");
  EXPECT_EQ(CutOf(R"({"ph":"X"},{"name":"a"})"), R"({"name":"a"})");
}

// Kineto's own layout, with a blank line inside events.
TEST(FindEventBoundaryTest, PrettyText) {
  EXPECT_EQ(CutOf("  {\n    \"ph\": \"X\",\n    \"args\": {\n      \"a\": 1\n    }\n  },\n"
                  "  {\n    \"ph\": \"f\", \"id\": 7"),
            "{\n    \"ph\": \"f\", \"id\": 7");
  EXPECT_EQ(CutOf("}\r\n\t,\r\n\t{\r\n\t\"cat\": 1"), "{\r\n\t\"cat\": 1");
}

TEST(FindEventBoundaryTest, EveryKeyAnEventMayStartWith) {
  for (const char* key : {"ph", "name", "cat", "pid", "tid", "ts"}) {
    const std::string event = std::string("{\"") + key + "\":1";
    EXPECT_EQ(CutOf("}," + event), event);
  }
}

// At least one event of the text has to precede the cut: the rest is never the whole text.
TEST(FindEventBoundaryTest, NowhereToCut) {
  for (const char* text : {"", ",", "{", R"({"ph":"X"})", R"(,{"ph":"X"})", R"( ,{"ph":"X"})",
                           R"([{"ph":"X"})", R"({"ph":"X"} {"ph":"X"})", R"([1],{"ph":"X"})",
                           R"(},)", R"(}, )", R"(},{)", R"(},{ )", R"(},{"p)", R"(},[{"ph":1}])"}) {
    EXPECT_EQ(CutOf(text), "nowhere") << text;
  }
}

TEST(FindEventBoundaryTest, ObjectsWithOtherKeysAreNoEvents) {
  EXPECT_EQ(CutOf(R"({"ph":"X"},{"ph":"X","args":{"list":[{"x":1},{"x":2},{"y":3}]}})"),
            R"({"ph":"X","args":{"list":[{"x":1},{"x":2},{"y":3}]}})");
}

// A guess may be wrong: the pipeline finds out and puts the text back.
TEST(FindEventBoundaryTest, AListOfNamedObjectsIsTakenForEvents) {
  EXPECT_EQ(CutOf(R"({"ph":"X","args":{"list":[{"name":1},{"name":2)"), R"({"name":2)");
}

// `text` must outlive the reader.
TextReader ReaderOf(std::string_view text) {
  return TextReader({OpenMemory(text), nullptr}, nullptr);
}

std::string ReadAllByWindow(TextReader& reader) {
  std::string text;
  do {
    text += reader.window();
    reader.Consume(reader.window().size());
  } while (reader.Fill());
  return text;
}

std::string ManyEvents(size_t bytes) {
  std::string text;
  for (int i = 0; text.size() < bytes; ++i) {
    text += (i == 0 ? "" : ",") + std::string(R"({"ph":"X","ts":)") + std::to_string(i) + "}";
  }
  return text;
}

TEST(TextReaderTest, SkipsWhiteSpaceUpToTheNextCharacter) {
  const std::string text = std::string(200'000, '\n') + "[ 1";
  TextReader reader = ReaderOf(text);
  EXPECT_EQ(reader.SkipSpace(), '[');
  EXPECT_EQ(reader.SkipSpace(), '[');
  EXPECT_EQ(reader.byte(), 200'000U);
  reader.Consume(1);
  EXPECT_EQ(reader.SkipSpace(), '1');
  reader.Consume(1);
  EXPECT_EQ(reader.SkipSpace(), 0);
}

TEST(TextReaderTest, SkipsAByteOrderMark) {
  TextReader marked = ReaderOf(" \xef\xbb\xbf [");
  marked.SkipByteOrderMark();
  EXPECT_EQ(marked.byte(), 4U);
  EXPECT_EQ(marked.SkipSpace(), '[');
  TextReader plain = ReaderOf("[");
  plain.SkipByteOrderMark();
  EXPECT_EQ(plain.window(), "[");
}

TEST(TextReaderTest, TheWindowGrowsUntilTheEnd) {
  const std::string text = ManyEvents(300'000);
  TextReader reader = ReaderOf(text);
  EXPECT_EQ(reader.window(), "");
  size_t size = 0;
  while (reader.Fill()) {
    EXPECT_GT(reader.window().size(), size);
    size = reader.window().size();
  }
  EXPECT_TRUE(reader.window() == text);
  EXPECT_FALSE(reader.Fill());
  EXPECT_EQ(reader.byte(), 0U);
}

TEST(TextReaderTest, ConsumedTextIsGoneAndCounted) {
  TextReader reader = ReaderOf("0123456789");
  ASSERT_TRUE(reader.Fill());
  reader.Consume(4);
  EXPECT_EQ(reader.window(), "456789");
  EXPECT_EQ(reader.byte(), 4U);
  EXPECT_FALSE(reader.Fill());
  EXPECT_EQ(reader.window(), "456789");
}

TEST(TextReaderTest, ChunksAreCutBetweenEventsAndNothingIsLost) {
  const std::string text = ManyEvents(3'500'000);
  TextReader reader = ReaderOf(text);
  std::string joined;
  for (bool is_last = false; !is_last;) {
    TextChunk chunk = reader.NextChunk(TextReader::kChunkBytes);
    EXPECT_EQ(chunk.byte, joined.size());
    EXPECT_TRUE(chunk.text().starts_with("{\"ph\""));
    EXPECT_TRUE(chunk.is_last || chunk.text().ends_with("},"));
    EXPECT_LE(chunk.size, TextReader::kChunkBytes);
    // Parsers read a little past the end.
    EXPECT_EQ(std::string_view(chunk.buffer.get() + chunk.size, 64), std::string(64, ' '));
    joined += chunk.text();
    is_last = chunk.is_last;
    reader.Recycle(std::move(chunk));
  }
  EXPECT_TRUE(joined == text);
  EXPECT_EQ(reader.byte(), text.size());
  EXPECT_EQ(reader.window(), "");
}

// The content of the window when the chunks begin is part of the first one.
TEST(TextReaderTest, ChunksBeginWithTheWindow) {
  const std::string text = "[" + ManyEvents(1'500'000);
  TextReader reader = ReaderOf(text);
  reader.Fill();
  reader.Consume(1);
  const TextChunk chunk = reader.NextChunk(TextReader::kChunkBytes);
  EXPECT_EQ(chunk.byte, 1U);
  EXPECT_TRUE(chunk.text() == std::string_view(text).substr(1, chunk.size));
}

TEST(TextReaderTest, AChunkGrowsUntilItHoldsAWholeEvent) {
  const std::string text =
      R"({"ph":"X","name":")" + std::string(3'000'000, 'n') + R"("},{"ph":"X")";
  TextReader reader = ReaderOf(text);
  const TextChunk chunk = reader.NextChunk(1000);
  EXPECT_TRUE(chunk.is_last || chunk.text().ends_with("},"));
  EXPECT_GT(chunk.size, 3'000'000U);
}

TEST(TextReaderTest, TextGivenBackIsReadAgain) {
  const std::string text = ManyEvents(3'500'000);
  TextReader reader = ReaderOf(text);
  const TextChunk first = reader.NextChunk(TextReader::kChunkBytes);
  const TextChunk second = reader.NextChunk(TextReader::kChunkBytes);
  const TextChunk third = reader.NextChunk(TextReader::kChunkBytes);
  reader.PushBack({second.text().substr(100), third.text()});
  EXPECT_EQ(reader.byte(), second.byte + 100);
  const TextChunk again = reader.NextChunk(TextReader::kChunkBytes);
  EXPECT_EQ(again.byte, second.byte + 100);
  const std::string all = std::string(first.text()) + std::string(second.text().substr(0, 100)) +
                          std::string(again.text()) + ReadAllByWindow(reader);
  EXPECT_TRUE(all == text);
}

TEST(TextReaderTest, TextGivenBackAtTheEndIsTheLastChunkAgain) {
  const std::string text = ManyEvents(1000);
  TextReader reader = ReaderOf(text);
  const TextChunk chunk = reader.NextChunk(TextReader::kChunkBytes);
  ASSERT_TRUE(chunk.is_last);
  reader.PushBack({chunk.text().substr(10)});
  const TextChunk again = reader.NextChunk(TextReader::kChunkBytes);
  EXPECT_TRUE(again.is_last);
  EXPECT_EQ(again.byte, 10U);
  EXPECT_TRUE(again.text() == std::string_view(text).substr(10));
}

TEST(TextReaderTest, GivingNothingBackChangesNothing) {
  TextReader reader = ReaderOf("0123456789");
  reader.Fill();
  reader.Consume(3);
  reader.PushBack({});
  EXPECT_EQ(reader.window(), "3456789");
  EXPECT_EQ(reader.byte(), 3U);
}

TEST(TextReaderTest, AnEmptyTextIsOneEmptyLastChunk) {
  TextReader reader = ReaderOf("");
  EXPECT_FALSE(reader.Fill());
  const TextChunk chunk = reader.NextChunk(TextReader::kChunkBytes);
  EXPECT_TRUE(chunk.is_last);
  EXPECT_EQ(chunk.size, 0U);
}

TEST(TextReaderTest, ProgressRisesToTheTotal) {
  const std::string text = ManyEvents(1'500'000);
  std::vector<uint64_t> done;
  TextReader reader({OpenMemory(text), nullptr}, [&](uint64_t so_far, uint64_t total) {
    EXPECT_EQ(total, text.size());
    done.push_back(so_far);
  });
  while (!reader.NextChunk(TextReader::kChunkBytes).is_last) {
  }
  ASSERT_GE(done.size(), 2U);
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  EXPECT_EQ(done.back(), text.size());
  EXPECT_EQ(reader.stored_share(), 1.0);
}

// Gives some text, then fails.
class FailingSource : public ByteSource {
 public:
  explicit FailingSource(std::string text) : text_(std::move(text)) {}
  Result<size_t> Read(char* out, size_t capacity) override {
    if (at_ == text_.size()) {
      return Error{ErrorCode::kIo, "byte " + std::to_string(at_) + ": disk on fire"};
    }
    const size_t size = text_.copy(out, std::min<size_t>(capacity, 1000), at_);
    at_ += size;
    return size;
  }
  uint64_t stored_bytes() const override { return at_; }
  uint64_t stored_total() const override { return 0; }

 private:
  std::string text_;
  size_t at_ = 0;
};

TEST(TextReaderTest, AReadErrorEndsTheTextAndIsKept) {
  TextReader reader({std::make_unique<FailingSource>(ManyEvents(5000)), nullptr}, nullptr);
  EXPECT_FALSE(reader.error().has_value());
  EXPECT_FALSE(reader.Fill());
  EXPECT_FALSE(reader.Fill());
  EXPECT_TRUE(reader.NextChunk(TextReader::kChunkBytes).is_last);
  ASSERT_TRUE(reader.error().has_value());
  EXPECT_TRUE(reader.error()->Sentence().ends_with(": disk on fire"));
}

// More than a GiB out of a few MB. The members are made once and only repeated.
TEST(TextReaderTest, ADecompressionBombIsAnError) {
  std::string text;
  while (text.size() < (size_t{8} << 20)) {
    text += R"({"ph":"X"},)";
  }
  std::string member(1 << 20, '\0');
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(member.data());
  stream.avail_out = static_cast<uInt>(member.size());
  ASSERT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  member.resize(stream.total_out);
  deflateEnd(&stream);
  std::string bytes;
  for (int i = 0; i < 160; ++i) {
    bytes += member;
  }
  Result<OpenedSource> opened = InflateIfCompressed(OpenMemory(bytes));
  ASSERT_TRUE(opened.ok());
  TextReader reader(std::move(*opened), nullptr);
  uint64_t read = 0;
  for (bool is_last = false; !is_last;) {
    TextChunk chunk = reader.NextChunk(TextReader::kChunkBytes);
    is_last = chunk.is_last;
    read += chunk.size;
    reader.Recycle(std::move(chunk));
  }
  EXPECT_LT(read, TextReader::kExpansionFloor + 3 * TextReader::kChunkBytes);
  ASSERT_TRUE(reader.error().has_value());
  EXPECT_EQ(reader.error()->code, ErrorCode::kCorrupt);
}

}  // namespace

}  // namespace borescope::internal
