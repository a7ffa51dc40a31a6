#include "borescope/packs/chakra/et/et_codec.h"

#include <gtest/gtest.h>

#include <bit>

namespace borescope::internal {
namespace {

using std::string_literals::operator""s;

// The bytes are those of the reference's generator: two compute nodes, the second after the first.
TEST(EtCodec, NodeIsWrittenToTheByte) {
  EtNode node;
  node.id = 15;
  node.name = "COMP_NODE";
  node.type = EtNodeType::kComp;
  node.data_deps = {14};
  node.duration_us = 5;
  node.attrs = {EtAttr::Bool("is_cpu_op", false)};
  std::string bytes;
  AppendNode(node, bytes);
  EXPECT_EQ(bytes,
            "\x08\x0f\x12\x09"
            "COMP_NODE\x18\x04\x2a\x01\x0e\x38\x05\x52\x0e\x0a\x09is_cpu_op\xd8\x01\x00"s);
}

TEST(EtCodec, DefaultsOfAOneofAreWrittenAndThoseOfFieldsAreNot) {
  EtNode node;
  node.attrs = {EtAttr::Int64("comm_type", 0), EtAttr::String("op_schema", "")};
  std::string bytes;
  AppendNode(node, bytes);
  EXPECT_EQ(bytes,
            "\x52\x0d\x0a\x09"
            "comm_type\x48\x00\x52\x0e\x0a\x09op_schema\xea\x01\x00"s);
}

TEST(EtCodec, EveryFieldReadsBackAsItWas) {
  EtNode node;
  node.id = 7;
  node.name = "a";
  node.type = EtNodeType::kCommColl;
  node.ctrl_deps = {1, 300};
  node.data_deps = {2, uint64_t{1} << 40};
  node.start_us = 11;
  node.duration_us = 12;
  node.inputs = {"[1]", "[[]]", "['Int']", true};
  node.outputs.present = true;
  node.attrs = {EtAttr::Int64("tid", -1), EtAttr::Uint64("size", 9), EtAttr::String("s", "x")};
  std::string bytes;
  AppendNode(node, bytes);
  EtNode read;
  ASSERT_TRUE(DecodeNode(bytes, read).ok());
  EXPECT_EQ(read.id, 7U);
  EXPECT_EQ(read.name, "a");
  EXPECT_EQ(read.type, EtNodeType::kCommColl);
  EXPECT_EQ(read.ctrl_deps, node.ctrl_deps);
  EXPECT_EQ(read.data_deps, node.data_deps);
  EXPECT_EQ(read.start_us, 11U);
  EXPECT_EQ(read.duration_us, 12U);
  EXPECT_EQ(read.inputs.types, "['Int']");
  EXPECT_TRUE(read.outputs.present);
  ASSERT_NE(read.Find("tid"), nullptr);
  EXPECT_EQ(static_cast<int64_t>(read.Find("tid")->bits), -1);
  EXPECT_EQ(read.unknown_fields, 0U);
  std::string again;
  AppendNode(read, again);
  EXPECT_EQ(again, bytes);
}

EtAttr Scalar(EtScalar scalar, uint64_t bits) { return {"a", {}, EtValueField(scalar), bits, {}}; }

TEST(EtCodec, EveryKindOfNumberReadsBackAsItWas) {
  const auto minus = static_cast<uint64_t>(int64_t{-12345});
  const std::vector<EtAttr> values = {Scalar(EtScalar::kDouble, std::bit_cast<uint64_t>(1.2345)),
                                      Scalar(EtScalar::kFloat, std::bit_cast<uint32_t>(1.2345F)),
                                      Scalar(EtScalar::kInt32, minus),
                                      Scalar(EtScalar::kInt64, minus),
                                      Scalar(EtScalar::kUint32, 12345),
                                      Scalar(EtScalar::kUint64, ~uint64_t{0}),
                                      Scalar(EtScalar::kSint32, minus),
                                      Scalar(EtScalar::kSint64, minus),
                                      Scalar(EtScalar::kFixed32, 12345),
                                      Scalar(EtScalar::kFixed64, ~uint64_t{0}),
                                      Scalar(EtScalar::kBool, 1)};
  for (const EtAttr& value : values) {
    const std::string list = EncodeList({value, value});
    EtMetadata metadata;
    metadata.attrs = {value, {"l", {}, EtValueField(value.scalar(), true), 0, list}};
    std::string bytes;
    AppendMetadata(metadata, bytes);
    EtMetadata read;
    ASSERT_TRUE(DecodeMetadata(bytes, read).ok());
    ASSERT_EQ(read.attrs.size(), 2U);
    EXPECT_EQ(read.attrs[0].bits, value.bits) << EtValueName(value.field);
    const Result<std::vector<EtAttr>> items = DecodeList(read.attrs[1]);
    ASSERT_TRUE(items.ok());
    ASSERT_EQ(items->size(), 2U);
    EXPECT_EQ(items->back().bits, value.bits) << EtValueName(read.attrs[1].field);
  }
}

TEST(EtCodec, UnknownFieldsAndWireTypesAreSkippedAndCounted) {
  EtNode node;
  // Field 99, then a name that is a number, then an id.
  ASSERT_TRUE(DecodeNode("\x98\x06\x01\x10\x05\x08\x09", node).ok());
  EXPECT_EQ(node.id, 9U);
  EXPECT_EQ(node.name, "");
  EXPECT_EQ(node.unknown_fields, 2U);
}

TEST(EtCodec, DamageIsAnErrorWithItsCause) {
  EtNode node;
  EXPECT_EQ(DecodeNode("\x12\x09"s, node).error().Sentence(), "a field ends early");
  EXPECT_EQ(DecodeNode("\x08\xff"s, node).error().Sentence(), "a field ends early");
  EXPECT_EQ(
      DecodeNode("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"s, node).error().Sentence(),
      "a number is longer than ten bytes");
  EXPECT_EQ(DecodeNode("\x0b"s, node).error().Sentence(), "these bytes are not a field");
}

}  // namespace
}  // namespace borescope::internal
