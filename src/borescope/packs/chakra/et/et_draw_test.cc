#include "borescope/packs/chakra/et/et_draw.h"

#include <gtest/gtest.h>

#include "borescope/packs/chakra/et/et_stream.h"

namespace borescope::internal {
namespace {

std::string Pair() {
  StringSink sink;
  EtWriter writer(sink);
  writer.Add(EtMetadata());
  EtNode node;
  node.id = 2;
  node.name = "a<b>";
  node.ctrl_deps = {1};
  node.data_deps = {1};
  writer.Add(node);
  EXPECT_TRUE(writer.Finish().ok());
  return sink.text();
}

size_t Count(const std::string& text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(EtDraw, LabelsAreEscapedAsInTheReference) {
  EXPECT_EQ(EscapeDotLabel("a{b}c"), "a\\{b\\}c");
  EXPECT_EQ(EscapeDotLabel("a|b&c-d"), "a\\|b\\&c\\-d");
}

TEST(EtDraw, DotShowsBothKindsOfDependencies) {
  StringSink sink;
  ASSERT_TRUE(WriteEtDot(Pair(), sink).ok());
  EXPECT_EQ(sink.text(),
            "digraph {\n\t2 [label=\"a\\<b\\>\" id=2 shape=record]\n\t1 -> 2 [arrowhead=normal]\n"
            "\t1 -> 2 [arrowhead=tee]\n}\n");
}

TEST(EtDraw, InGraphmlOfTheReferenceControlHidesData) {
  StringSink ours;
  StringSink theirs;
  ASSERT_TRUE(WriteEtGraphml(Pair(), false, ours).ok());
  ASSERT_TRUE(WriteEtGraphml(Pair(), true, theirs).ok());
  EXPECT_EQ(Count(ours.text(), "<edge "), 2U);
  EXPECT_EQ(Count(theirs.text(), "<edge "), 1U);
  EXPECT_EQ(Count(theirs.text(), ">control<"), 1U);
  EXPECT_EQ(Count(theirs.text(), "a&lt;b&gt;"), 1U);
  EXPECT_EQ(Count(theirs.text(), "<node id=\"1\" />"), 1U);
}

}  // namespace
}  // namespace borescope::internal
