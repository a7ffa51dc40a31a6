#include "borescope/packs/chakra/convert/sim_timeline.h"

#include <gtest/gtest.h>

namespace borescope::internal {
namespace {

constexpr std::string_view kLog =
    "[info] issue,sys->id=0, tick=1000, node->id=1, node->name=COMP_NODE\n"
    "something else\n"
    "[info] callback,sys->id=0, tick=4000, node->id=1, node->name=COMP_NODE\n"
    "[info] issue,sys->id=0, tick=4000, node->id=2, node->name=COMM_SEND_NODE\n";

// The numbers are those of the reference's tests.
TEST(SimTimeline, TimesOfTheReferenceAreMilliseconds) {
  StringSink sink;
  const Result<TimelineCounts> counts = WriteSimTimeline(kLog, {2, 1500, true}, sink);
  ASSERT_TRUE(counts.ok()) << counts.error().Sentence();
  EXPECT_EQ(sink.text(),
            R"({"meta_user": "aras", "traceEvents": [{"pid": 0, "tid": 3, "ts": )"
            R"(0.0006666666666666666, "dur": 0.002, "ph": "X", "name": "COMP_NODE", "args": )"
            R"({"ms": 0.002}}], "meta_cpu_count": 2})");
  EXPECT_EQ(counts->unfinished, 1U);
}

TEST(SimTimeline, OursAreMicroseconds) {
  StringSink sink;
  ASSERT_TRUE(WriteSimTimeline(kLog, {2, 1500, false}, sink).ok());
  EXPECT_NE(sink.text().find(R"("ts": 0.6666666666666666, "dur": 2.0)"), std::string::npos);
}

TEST(SimTimeline, LinesThatCannotBeReadAreErrors) {
  StringSink sink;
  EXPECT_EQ(WriteSimTimeline("\nissue,a=x,b=2,c=3,d=e\n", {1, 1, true}, sink).error().Sentence(),
            "line 2: no npu, cycle and node after 'issue' or 'callback'");
  EXPECT_EQ(WriteSimTimeline("issue,a=1,b=2,c=3,d=e\ncallback,a=1,b=2,c=3,d=e", {1, 1, true}, sink)
                .error()
                .Sentence(),
            "line 2: 'e' is not a known class of node");
}

}  // namespace
}  // namespace borescope::internal
