#include "borescope/ingest/memory_timeline.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace borescope::internal {
namespace {

const std::string kWhole =
    "[[-1, 1, 512, 0], [1696966047096061874, 2, 4096, 4],\n"
    " [1696966047096061874, 3, -512, 0], [1696966047096061874, 3, 512, 1],\n"
    " [1696966047096062000, 4, -4096, 4]]\n";

Trace LoadGood(std::string_view bytes) {
  Result<Trace> trace = LoadBytes(bytes, "a.json", {});
  EXPECT_TRUE(trace.ok()) << trace.error().Sentence();
  return trace.ok() ? std::move(*trace) : Trace(TraceData());
}

std::string ErrorOf(std::string_view bytes) {
  const Result<Trace> trace = LoadBytes(bytes, "a.json", {});
  EXPECT_FALSE(trace.ok()) << bytes;
  return trace.ok() ? "" : trace.error().Sentence();
}

using Category = MemoryCategory;

TEST(MemoryTimelineTest, EntriesAreAllocatorEvents) {
  for (const std::string& text : {kWhole, "\xef\xbb\xbf \n" + kWhole}) {
    const Trace trace = LoadGood(text);
    const MemoryEvents& memory = trace.memory();
    ASSERT_EQ(memory.size(), 5U);
    EXPECT_EQ(memory.ts_ns[0], kMissing);
    EXPECT_EQ(memory.ts_ns[1], 1'696'966'047'096'061'874);
    EXPECT_EQ(memory.bytes, (std::vector<int64_t>{512, 4096, -512, 512, -4096}));
    EXPECT_EQ(
        memory.category,
        (std::vector<Category>{Category::kParameter, Category::kActivation, Category::kParameter,
                               Category::kOptimizerState, Category::kActivation}));
    EXPECT_EQ(memory.device_type[0], -1);
    EXPECT_EQ(memory.device[0], -1);
    EXPECT_EQ(memory.total_allocated[0], kMissing);
    EXPECT_EQ(trace.meta().format, TraceFormat::kMemoryTimeline);
    EXPECT_EQ(trace.meta().text_bytes, text.size());
    EXPECT_EQ(trace.begin_ns(), memory.ts_ns[1]);
    EXPECT_EQ(trace.span_ns(), 126);
    EXPECT_TRUE(trace.diagnostics().empty());
  }
}

TEST(MemoryTimelineTest, EverythingIsCountedByAction) {
  const Trace trace = LoadGood(kWhole);
  std::string counts;
  for (const EventCount& count : trace.event_counts()) {
    counts += count.phase + std::string(trace.Text(count.category)) + " " +
              std::to_string(count.count) + ";";
  }
  EXPECT_EQ(counts, "icreate 1;idestroy 1;iincrement version 2;ipreexisting 1;");
}

TEST(MemoryTimelineTest, WhatIsUnknownIsCounted) {
  const Trace trace = LoadGood("[[1,9,5,8],[2,2,99999999999999999999,-1],[3,2,1.0,2]]");
  EXPECT_EQ(trace.memory().category,
            (std::vector<Category>{Category::kUnknown, Category::kUnknown, Category::kInput}));
  EXPECT_EQ(trace.memory().bytes[1], std::numeric_limits<int64_t>::max());
  EXPECT_EQ(trace.diagnostics().count(Diag::kBadFieldType), 3U);
  EXPECT_EQ(trace.diagnostics().count(Diag::kIntegerOverflow), 1U);
}

TEST(MemoryTimelineTest, ACutTextGivesWhatCameBefore) {
  for (const char* text : {"[[1,2,5,0],[2,2,6", "[[1,2,5,0],", "[[1,2,5,0]", "[[1,2,5,0],["}) {
    const Trace trace = LoadGood(text);
    EXPECT_EQ(trace.memory().size(), 1U) << text;
    EXPECT_EQ(trace.diagnostics().count(Diag::kTruncatedFile), 1U) << text;
  }
  EXPECT_EQ(ErrorOf("[[1,2"),
            "a.json: byte 5: the text ends before the first entry of this memory timeline; copy "
            "the file again");
}

TEST(MemoryTimelineTest, CommasAndTails) {
  EXPECT_EQ(LoadGood("[[1,2,5,0] [2,2,5,0],]").diagnostics().count(Diag::kBadSyntax), 1U);
  EXPECT_EQ(LoadGood("[[1,2,5,0],,[2,2,5,0]]").diagnostics().count(Diag::kBadSyntax), 1U);
  EXPECT_EQ(LoadGood("[[1,2,5,0]] x").diagnostics().count(Diag::kTrailingData), 1U);
}

TEST(MemoryTimelineTest, AnEntryThatCannotBeReadIsAnErrorWithItsPlace) {
  for (const char* entry : {"[2,2,5]", "[2,2,5,0,1]", "[2,2,\"5\",0]", "[2,2,NaN,0]", "[]", "{}",
                            "5", "[2,2,[5],0]", "[2,2,5.5,0]"}) {
    EXPECT_EQ(ErrorOf(std::string("[[1,2,5,0],") + entry + "]"),
              "a.json: byte 11: no entry [time, action, bytes, category] of a memory timeline, and "
              "all totals after it would be wrong; export it again")
        << entry;
  }
  EXPECT_NE(ErrorOf("[[1,2,5,0],[2," + std::string(100'000, ' ') + "2,5,0]]"), "");
}

TEST(MemoryTimelineTest, LongerThanTheWindow) {
  std::string text = "[";
  for (int i = 0; i < 50'000; ++i) {
    text += (i == 0 ? "[" : ", [") + std::to_string(i) + ", 2, 1, 4]";
  }
  const Trace trace = LoadGood(text + "]");
  EXPECT_EQ(trace.memory().size(), 50'000U);
  EXPECT_TRUE(trace.diagnostics().empty());
}

}  // namespace
}  // namespace borescope::internal
