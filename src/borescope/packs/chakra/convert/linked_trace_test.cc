#include "borescope/packs/chakra/convert/linked_trace.h"

#include <gtest/gtest.h>

#include "borescope/packs/chakra/convert/linked_testing.h"

namespace borescope::internal {
namespace {

TEST(LinkedTrace, NodesAreReadAsTheyAre) {
  const LinkedTrace linked = MakeLinked(
      {LinkedNodeText(2, 1, "aten::mm \\u00e9", LinkedTimes("100.5", "2.25")),
       LinkedNodeText(3, 2, "kernel", LinkedKernel("103", "4", 7) + R"(, "stream_dep": [1, 2])"),
       LinkedNodeText(4, 1, "wait", R"(, "sync_dep": [3], "strange": {"a": [1]})")});
  ASSERT_EQ(linked.nodes.size(), 5U);
  EXPECT_EQ(linked.pid, 7U);
  EXPECT_EQ(linked.finish_ts, 2U);
  EXPECT_EQ(linked.nodes[2].name, "aten::mm \xc3\xa9");
  EXPECT_EQ(linked.nodes[2].exclusive_us, "2.25");
  EXPECT_EQ(linked.nodes[2].attrs[0], 2);
  EXPECT_EQ(linked.nodes[2].attrs[2], -1);
  EXPECT_TRUE(linked.nodes[3].is_device);
  EXPECT_EQ(linked.nodes[3].stream, 7);
  EXPECT_EQ(linked.Ids(linked.nodes[3].stream_deps).size(), 2U);
  EXPECT_EQ(linked.Ids(linked.nodes[4].sync_deps).front(), 3U);
  EXPECT_TRUE(linked.has_stream_deps);
  EXPECT_EQ(linked.counts.unknown_keys, 1U);
}

TEST(LinkedTrace, TheLaterOfTwoNodesWithOneIdCounts) {
  const LinkedTrace linked = MakeLinked({LinkedNodeText(2, 1, "a"), LinkedNodeText(2, 1, "b")});
  ASSERT_EQ(linked.nodes.size(), 3U);
  EXPECT_EQ(linked.nodes[2].name, "b");
  EXPECT_EQ(linked.counts.duplicate_ids, 1U);
}

std::string ErrorOf(std::string text) {
  const Result<LinkedTrace> linked = ParseLinkedTrace(std::move(text), "f");
  return linked.ok() ? "" : linked.error().Sentence();
}

TEST(LinkedTrace, DamageIsAnErrorWithItsPlace) {
  EXPECT_EQ(ErrorOf("[1]"), "f: the document is not an object; write it again with borescope link");
  EXPECT_EQ(ErrorOf(R"({"nodes": 3})"),
            "f: \"nodes\" is not an array; write it again with borescope link");
  EXPECT_EQ(ErrorOf(R"({"nodes": [{"name": "a"}]})"),
            "f: node 1 of the list has no \"id\"; write it again with borescope link");
  EXPECT_EQ(ErrorOf(R"({"schema": "1"})"),
            "f: no \"nodes\", so no execution trace; name the output of borescope link or of the "
            "ExecutionTraceObserver");
}

// Any prefix ends in an error, and none reads beyond its end.
TEST(LinkedTrace, CutDocumentsAreErrors) {
  const std::string text = LinkedDocument({LinkedNodeText(2, 1, "a", LinkedKernel("1", "2", 3))});
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_NE(ErrorOf(text.substr(0, size)), "") << size;
  }
}

}  // namespace
}  // namespace borescope::internal
