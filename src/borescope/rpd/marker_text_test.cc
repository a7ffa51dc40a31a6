#include "borescope/rpd/marker_text.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

namespace borescope::internal {

namespace {

TEST(RpdCategory, ReadsBackWhatItWrote) {
  for (const HostKind kind : {HostKind::kPython, HostKind::kAnnotation, HostKind::kOp,
                              HostKind::kRuntime, HostKind::kOther}) {
    EXPECT_EQ(ParseRpdCategory(TextOf({kind})), RpdCategory{kind});
  }
  for (const int64_t thread :
       {int64_t{0}, int64_t{1}, int64_t{-3}, std::numeric_limits<int64_t>::max()}) {
    const RpdCategory category{HostKind::kOp, thread};
    EXPECT_EQ(ParseRpdCategory(TextOf(category)), category) << thread;
  }
}

TEST(RpdCategory, SaysWhatKinetoSays) {
  EXPECT_EQ(TextOf({HostKind::kOp}), "cpu_op");
  EXPECT_EQ(TextOf({HostKind::kOp, 1}), "cpu_op, fwd_thread = 1");
  EXPECT_EQ(TextOf({HostKind::kAnnotation, 1}), "user_annotation");
}

TEST(RpdCategory, TakesNoOther) {
  EXPECT_EQ(ParseRpdCategory(""), std::nullopt);
  EXPECT_EQ(ParseRpdCategory("hip"), std::nullopt);
  EXPECT_EQ(ParseRpdCategory("cpu_op "), std::nullopt);
  EXPECT_EQ(ParseRpdCategory("cpu_op, fwd_thread = x"), (RpdCategory{HostKind::kOp, kMissing}));
}

MarkerText Marker(int64_t sequence, int64_t call, std::string_view sizes) {
  MarkerText marker;
  marker.sequence = sequence;
  marker.record_function_id = call;
  marker.sizes = sizes;
  return marker;
}

TEST(MarkerText, ReadsWhatPyTorchWrites) {
  const MarkerText all = ParseMarker(
      "aten::mm, seq = 12, op_id = 34, sizes = [[2, 3], []], input_op_ids = [(30,0), (0,-1)]");
  EXPECT_EQ(all.name, "aten::mm");
  EXPECT_TRUE(all.is_operator);
  EXPECT_EQ(all.sequence, 12);
  EXPECT_EQ(all.record_function_id, 34);
  EXPECT_EQ(all.sizes, "[[2, 3], []]");
  const MarkerText old = ParseMarker("MmBackward, seq = 12");
  EXPECT_EQ(old.name, "MmBackward");
  EXPECT_EQ(old.record_function_id, kMissing);
  const MarkerText plain = ParseMarker("warm-up");
  EXPECT_FALSE(plain.is_operator);
  EXPECT_EQ(plain.sequence, kMissing);
  EXPECT_TRUE(ParseMarker("aten::add").is_operator);
}

TEST(MarkerText, WritesWhatTheToolsOfTheFormatRead) {
  EXPECT_EQ(MarkerDetails(Marker(12, 34, "[[2, 3], []]")),
            ", seq = 12, op_id = 34, sizes = [[2, 3], []], input_op_ids = []");
  EXPECT_EQ(MarkerDetails(Marker(kMissing, 34, "[[]]")),
            ", op_id = 34, sizes = [[]], input_op_ids = []");
  EXPECT_EQ(MarkerDetails(Marker(12, 34, "")), ", seq = 12, op_id = 34");
  EXPECT_EQ(MarkerDetails(Marker(kMissing, 34, "")), ", op_id = 34");
  // The number of the call is not known: PyTorch counts from 1.
  EXPECT_EQ(MarkerDetails(Marker(0, kMissing, "")), ", seq = 0, op_id = 0");
  EXPECT_EQ(ParseMarker("a, seq = 0, op_id = 0").record_function_id, kMissing);
}

TEST(MarkerText, WritesNothingWithoutDetails) {
  EXPECT_EQ(MarkerDetails(Marker(kMissing, kMissing, "")), "");
  EXPECT_EQ(MarkerDetails(Marker(-1, 0, "")), "");
  EXPECT_EQ(MarkerDetails(Marker(-1, -7, "")), "");
}

TEST(MarkerText, LeavesOutSizesThatWouldBeReadOtherwise) {
  for (const std::string_view sizes :
       {R"(["a, seq = 3"])", "[[2], seq = 3]", "x", "[", "]", "[1]\n[2]x", "2"}) {
    EXPECT_EQ(MarkerDetails(Marker(5, kMissing, sizes)), ", seq = 5, op_id = 0") << sizes;
  }
}

TEST(MarkerText, LeavesOutSizesOfMoreThan16KiB) {
  const auto list = [](size_t bytes) { return "[" + std::string(bytes - 2, '1') + "]"; };
  const std::string fits = list(16 * 1024);
  EXPECT_EQ(MarkerDetails(Marker(5, 6, fits)),
            ", seq = 5, op_id = 6, sizes = " + fits + ", input_op_ids = []");
  EXPECT_EQ(MarkerDetails(Marker(5, 6, list(16 * 1024 + 1))), ", seq = 5, op_id = 6");
}

TEST(MarkerText, KnowsNamesThatWouldBeReadAsDetails) {
  EXPECT_TRUE(NeedsOwnPlace("step, seq = 7"));
  EXPECT_TRUE(NeedsOwnPlace(", op_id = "));
  EXPECT_TRUE(NeedsOwnPlace("a, sizes = b"));
  EXPECT_TRUE(NeedsOwnPlace("a, input_op_ids = b"));
  EXPECT_FALSE(NeedsOwnPlace("seq = 7"));
  EXPECT_FALSE(NeedsOwnPlace("a,seq = 7"));
  EXPECT_FALSE(NeedsOwnPlace(""));
  EXPECT_FALSE(NeedsOwnPlace(std::string(1024, 'x')));
  EXPECT_TRUE(NeedsOwnPlace(std::string(1025, 'x')));
}

// Whatever is written reads back, after every name that can begin a text.
TEST(MarkerText, ReadsBackWhatItWrote) {
  const std::vector<std::string> pieces = {
      "aten::mm", ", ",     "seq = ",   ", seq =",         "op_id = 3", "[[1]]",
      "12",       ",",      " ",        "sizes",           ", sizes",   " = ",
      "\n",       "(0,-1)", ", seq = ", "input_op_ids = ", ", op_id = "};
  const std::vector<std::string> sizes = {"", "[]", "[[]]", "[[2, 3], [], [4]]",
                                          "[[[1, 2], [3]], []]"};
  std::mt19937 random(7);
  int usable = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string name;
    for (auto n = random() % 5; n > 0; --n) {
      name += pieces[random() % pieces.size()];
    }
    const MarkerText marker =
        Marker(random() % 3 == 0 ? kMissing : static_cast<int64_t>(random() % 1000),
               random() % 3 == 0 ? kMissing : static_cast<int64_t>(1 + random() % 1000),
               sizes[random() % sizes.size()]);
    const bool is_usable = !NeedsOwnPlace(name);
    usable += is_usable ? 1 : 0;
    const std::string text = (is_usable ? name : std::string()) + MarkerDetails(marker);
    const MarkerText read = ParseMarker(text);
    EXPECT_EQ(read.name, is_usable ? name : std::string()) << text;
    EXPECT_EQ(read.sequence, marker.sequence) << text;
    EXPECT_EQ(read.record_function_id, marker.record_function_id) << text;
    EXPECT_EQ(read.sizes, marker.sizes) << text;
  }
  EXPECT_GT(usable, 5'000);
  EXPECT_LT(usable, 19'000);
}

}  // namespace

}  // namespace borescope::internal
