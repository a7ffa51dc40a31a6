#include "borescope/packs/chakra/et/et_text.h"

#include <gtest/gtest.h>

#include "borescope/packs/chakra/et/et_samples.h"
#include "borescope/packs/chakra/et/et_stream.h"

namespace borescope::internal {

namespace {

std::string SampleEt() {
  StringSink sink;
  EtWriter writer(sink);
  EtMetadata metadata;
  metadata.version = "1.0.0";
  writer.Add(metadata);
  EtNode node;
  node.id = 3;
  node.name = "a \"b\" \xc3\xa9";
  node.type = EtNodeType::kComp;
  node.data_deps = {1, 2};
  node.inputs.present = true;
  node.attrs = {EtAttr::Int64("tid", -1), EtAttr::Bool("is_cpu_op", true)};
  writer.Add(node);
  EXPECT_TRUE(writer.Finish().ok());
  return sink.text();
}

TEST(EtJson, OneDocumentWithALineForEveryNode) {
  StringSink sink;
  ASSERT_TRUE(WriteEtJson(SampleEt(), sink).ok());
  EXPECT_EQ(
      sink.text(),
      "{\"metadata\":{\"version\":\"1.0.0\",\"attr\":[]},\"nodes\":[\n"
      "{\"id\":3,\"name\":\"a \\\"b\\\" \xc3\xa9\",\"type\":\"COMP_NODE\",\"data_deps\":[1,2],"
      "\"inputs\":{\"values\":\"\",\"shapes\":\"\",\"types\":\"\"},\"attr\":[{\"name\":\"tid\","
      "\"int64_val\":-1},{\"name\":\"is_cpu_op\",\"bool_val\":true}]}\n]}\n");
}

// Python's json_format, message by message.
TEST(EtJson, TheReferenceWritesMessagesWithoutAnythingBetween) {
  StringSink sink;
  ASSERT_TRUE(WriteEtJsonAsReference(SampleEt(), sink).ok());
  EXPECT_EQ(sink.text(), R"({
  "version": "1.0.0"
}{
  "id": "3",
  "name": "a \"b\" \u00e9",
  "type": "COMP_NODE",
  "dataDeps": [
    "1",
    "2"
  ],
  "inputs": {},
  "attr": [
    {
      "name": "tid",
      "int64Val": "-1"
    },
    {
      "name": "is_cpu_op",
      "boolVal": true
    }
  ]
})");
}

TEST(EtJson, EveryKindOfValueIsShown) {
  StringSink et;
  uint64_t next_id = 0;
  ASSERT_TRUE(WriteSample(0, {}, next_id, et).ok());
  StringSink sink;
  ASSERT_TRUE(WriteEtJson(et.text(), sink).ok());
  for (
      const std::string_view part :
      {R"({"name":"double","doc_string":"double","double_val":1.2345})",
       R"({"name":"sint64_list","sint64_list":[9876543210,-1234567890]})",
       R"({"name":"sfixed32","sfixed32_val":-12345})",
       R"({"name":"bool_list","bool_list":[true,false,true,false,true,false,true,false,true,false]})",
       R"({"name":"bytes","bytes_val":"MTIzNDU="})"}) {
    EXPECT_NE(sink.text().find(part), std::string::npos) << part;
  }
}

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
