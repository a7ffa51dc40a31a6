#include "borescope/packs/pyprof/markers.h"

#include <gtest/gtest.h>

namespace borescope::internal {
namespace {

using Kind = PythonValue::Kind;

TEST(PythonLiteralTest, EveryKindOfValue) {
  const auto value = ParsePythonLiteral(
      R"({'a': (1, -2,), "b": [None, True, False], 'c': 'it\'s', 'd': 1e-05, 'e': (), 'f': {}})");
  ASSERT_TRUE(value.has_value());
  EXPECT_EQ(value->Find("a")->items.size(), 2U);
  EXPECT_EQ(value->Find("a")->items[1].number, -2);
  EXPECT_EQ(value->Find("b")->items[0].kind, Kind::kNone);
  EXPECT_EQ(value->Find("b")->items[1].number, 1);
  EXPECT_EQ(value->Find("c")->text, "it's");
  EXPECT_EQ(value->Find("d")->kind, Kind::kFloat);
  EXPECT_TRUE(value->Find("e")->items.empty());
  EXPECT_EQ(value->Find("z"), nullptr);
}

TEST(PythonLiteralTest, NumbersBeyond64BitsAreNoIntegers) {
  EXPECT_EQ(ParsePythonLiteral("123456789012345678901234567890")->kind, Kind::kFloat);
}

TEST(PythonLiteralTest, DamagedTexts) {
  for (const char* text : {"", "{", "[1,", "{'a'}", "{'a': }", "'a", "[1 2]", "(1,,2)", "f(1)",
                           "[1] [2]", "'\\", "__import__('os')"}) {
    EXPECT_FALSE(ParsePythonLiteral(text).has_value()) << text;
  }
  EXPECT_FALSE(ParsePythonLiteral(std::string(100000, '[')).has_value());
}

TEST(MarkerTest, Arguments) {
  const PyProfMarker marker = ParsePyProfMarker(
      "{'mod': 'torch.nn.functional', 'op': 'relu', 'args': [{'name': '', 'type': 'tensor', "
      "'shape': (64, 64, 112, 112), 'dtype': 'float16'}, {'name': 'inplace', 'type': 'bool', "
      "'value': False}]}");
  ASSERT_EQ(marker.kind, MarkerKind::kArguments);
  EXPECT_EQ(marker.call.mod, "torch.nn.functional");
  EXPECT_EQ(marker.call.op, "relu");
  ASSERT_EQ(marker.call.args.size(), 2U);
  EXPECT_EQ(marker.call.args[0].shape, (std::vector<int64_t>{64, 64, 112, 112}));
  EXPECT_EQ(marker.call.args[1].name, "inplace");
}

// DLProf writes more keys between op and args.
TEST(MarkerTest, UnknownKeys) {
  EXPECT_EQ(ParsePyProfMarker("{'mod': 'torch', 'op': 'add', 'callid': 3, 'input_callids': [-1], "
                              "'args': []}")
                .kind,
            MarkerKind::kArguments);
}

TEST(MarkerTest, Frames) {
  const PyProfMarker marker = ParsePyProfMarker(
      "{'traceMarker': ['train.py:10', '/x/torch/nn/modules/module.py:541', 'model.py:7'], "
      "'funcStack': 'a/b'}");
  ASSERT_EQ(marker.kind, MarkerKind::kTrace);
  EXPECT_EQ(marker.frames, (std::vector<std::string>{"train.py:10", "model.py:7"}));
}

TEST(MarkerTest, LayersModulesAndOthers) {
  EXPECT_EQ(ParsePyProfMarker("layer:a:b").layer, "a");
  EXPECT_EQ(ParsePyProfMarker("pre layer:c").layer, "c");
  EXPECT_EQ(ParsePyProfMarker("{'mod': 'Conv2d', 'strRepr': 'kernel_size=(3, 3)'}").kind,
            MarkerKind::kModule);
  EXPECT_EQ(ParsePyProfMarker("my step").kind, MarkerKind::kOther);
}

TEST(MarkerTest, DamagedMarkers) {
  for (const char* text :
       {"{'mod': 'torch', 'op': 'mm', 'args': [{'name': '', 'type': 'tensor', 'shape': (6",
        "{'mod': 'torch', 'op': 'mm', 'args': [{'type': 'tensor', 'shape': (-1,), 'dtype': 'x'}]}",
        "{'mod': 'torch', 'op': 'mm', 'args': [3]}", "{'mod': 'torch', 'op': 7, 'args': []}",
        "{'traceMarker': ["}) {
    EXPECT_EQ(ParsePyProfMarker(text).kind, MarkerKind::kBad) << text;
  }
}

}  // namespace
}  // namespace borescope::internal
