#include "borescope/output/sink/gzip_sink.h"

#include <gtest/gtest.h>

#include <string>

#include "borescope/base/io/inflate.h"

namespace borescope::internal {
namespace {

std::string Inflated(const std::string& bytes) {
  Result<OpenedSource> source = InflateIfCompressed(OpenMemory(bytes));
  EXPECT_TRUE(source.ok());
  std::string text(1 << 20, '\0');
  std::string all;
  while (true) {
    const Result<size_t> size = ReadFully(*source->bytes, text.data(), text.size());
    EXPECT_TRUE(size.ok());
    all.append(text, 0, *size);
    if (*size < text.size()) {
      break;
    }
  }
  EXPECT_NE(source->inflating, nullptr);
  EXPECT_EQ(source->inflating->damage(), "");
  return all;
}

std::string Compressed(std::string_view text, size_t piece) {
  StringSink target;
  GzipSink sink(target);
  for (size_t i = 0; i < text.size(); i += piece) {
    EXPECT_TRUE(sink.Write(text.substr(i, piece)).ok());
  }
  EXPECT_TRUE(sink.Finish().ok());
  return target.text();
}

TEST(GzipSink, WhatComesOutIsWhatWentIn) {
  std::string text;
  uint32_t state = 1;
  for (int i = 0; i < 300'000; ++i) {
    state = state * 1664525 + 1013904223;
    text += std::to_string(state >> 8) + (i % 7 == 0 ? "\n" : ",");
  }
  for (const size_t piece : {size_t{1000}, size_t{1} << 20, text.size()}) {
    const std::string bytes = Compressed(text, piece);
    EXPECT_LT(bytes.size(), text.size());
    EXPECT_EQ(Inflated(bytes), text);
  }
}

TEST(GzipSink, NothingIsAnEmptyMember) {
  const std::string bytes = Compressed("", 1);
  EXPECT_GE(bytes.size(), 18U);
  EXPECT_EQ(Inflated(bytes), "");
}

TEST(GzipSink, EqualBytesGiveEqualFiles) {
  EXPECT_EQ(Compressed("abc abc abc", 11), Compressed("abc abc abc", 11));
}

class FullSink : public Sink {
 public:
  Result<void> Write(std::string_view) override { return Error{ErrorCode::kIo, "full"}; }
};

TEST(GzipSink, TheTargetsFailureIsTold) {
  FullSink full;
  GzipSink sink(full);
  static_cast<void>(sink.Write("abc"));
  EXPECT_EQ(sink.Finish().error().Sentence(), "full");
}

TEST(GzipSink, OnlyWhatIsNamedSoIsCompressed) {
  const auto write = [](Sink& sink) { return sink.Write("text"); };
  StringSink plain;
  EXPECT_TRUE(WriteMaybeGzip("a.json", plain, write).ok());
  EXPECT_EQ(plain.text(), "text");
  StringSink packed;
  EXPECT_TRUE(WriteMaybeGzip("a.json.gz", packed, write).ok());
  EXPECT_TRUE(packed.text().starts_with("\x1f\x8b"));
}

}  // namespace
}  // namespace borescope::internal
