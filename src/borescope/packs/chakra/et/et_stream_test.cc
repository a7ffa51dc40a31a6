#include "borescope/packs/chakra/et/et_stream.h"

#include <gtest/gtest.h>

namespace borescope::internal {
namespace {

using std::string_literals::operator""s;

std::string TwoNodes() {
  StringSink sink;
  EtWriter writer(sink);
  EtMetadata metadata;
  metadata.version = "1.0.0";
  writer.Add(metadata);
  EtNode node;
  node.id = 3;
  writer.Add(node);
  node.id = 4;
  node.data_deps = {3};
  writer.Add(node);
  EXPECT_TRUE(writer.Finish().ok());
  return sink.text();
}

TEST(EtStream, RecordsFollowTheirLengths) {
  EXPECT_EQ(TwoNodes(),
            "\x07\x0a\x05"
            "1.0.0\x02\x08\x03\x05\x08\x04\x2a\x01\x03"s);
}

TEST(EtStream, ReadsBackWhatWasWritten) {
  const std::string bytes = TwoNodes();
  EtReader reader(bytes);
  EtMetadata metadata;
  ASSERT_TRUE(*reader.Next(metadata));
  EXPECT_EQ(metadata.version, "1.0.0");
  EtNode node;
  ASSERT_TRUE(*reader.Next(node));
  EXPECT_EQ(node.id, 3U);
  ASSERT_TRUE(*reader.Next(node));
  EXPECT_EQ(node.id, 4U);
  EXPECT_FALSE(*reader.Next(node));
  EXPECT_EQ(reader.records(), 3U);
}

TEST(EtStream, EmptyRecordsBetweenNodesAreCounted) {
  const std::string bytes = "\x00\x00\x02\x08\x03"s;
  EtReader reader(bytes);
  EtMetadata metadata;
  EXPECT_TRUE(*reader.Next(metadata));
  EtNode node;
  EXPECT_TRUE(*reader.Next(node));
  EXPECT_EQ(node.id, 3U);
  EXPECT_EQ(reader.empty_records(), 1U);
}

std::string ErrorOf(const std::string& bytes) {
  EtReader reader(bytes);
  EtNode node;
  for (;;) {
    const Result<bool> next = reader.Next(node);
    if (!next.ok()) {
      return next.error().Sentence();
    }
    if (!*next) {
      return "";
    }
  }
}

TEST(EtStream, DamageIsAnErrorWithItsPlace) {
  EXPECT_EQ(ErrorOf("\x02\x08\x03\x05\x08"s),
            "record 2 at byte 3: it says 5 bytes, and 1 are left; the file is damaged or no .et");
  EXPECT_EQ(ErrorOf("\x80"s),
            "record 1 at byte 0: its length cannot be read; the file is damaged or no .et");
  EXPECT_EQ(ErrorOf("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s),
            "record 1 at byte 0: it says 18446744073709551615 bytes, and 0 are left; the file is "
            "damaged or no .et");
  EXPECT_EQ(ErrorOf("\x02\x12\x05"s),
            "record 1 at byte 0: a field ends early; the file is damaged or no .et");
}

}  // namespace
}  // namespace borescope::internal
