#include "borescope/trace/recorded_cut.h"

#include <gtest/gtest.h>

namespace borescope::internal {
namespace {

const RecordedCut kWindow{5, 9, {}, 0, 100};

TEST(RecordedCut, ReadsWhatItWrites) {
  for (const RecordedCut& cut : {kWindow, RecordedCut{-7, kMissing, "3..4,7", -10, 100},
                                 RecordedCut{kMissing, 9, {}, 0, 9}}) {
    EXPECT_EQ(CutOfText(TextOfCut(cut)), cut) << TextOfCut(cut);
  }
  EXPECT_EQ(TextOfCut(kWindow),
            "begin_ns=5 | end_ns=9 | recording_begin_ns=0 | recording_end_ns=100");
}

// Files can say anything.
TEST(RecordedCut, WhatCannotBeIsNone) {
  for (const std::string_view text :
       {"", "begin_ns=5", "begin_ns=9 | end_ns=5 | recording_begin_ns=0 | recording_end_ns=10",
        "begin_ns=1 | recording_begin_ns=10 | recording_end_ns=0",
        "recording_begin_ns=-9223372036854775807 | recording_end_ns=9223372036854775807",
        "recording_begin_ns=0x | recording_end_ns=10", "=| | = | ||"}) {
    EXPECT_EQ(CutOfText(text), std::nullopt) << text;
  }
}

TEST(RecordedCut, SeveralHaveTheHull) {
  std::optional<RecordedCut> joined;
  JoinCut({5, 9, "1", 0, 10}, joined);
  JoinCut({3, 7, "1", -5, 8}, joined);
  EXPECT_EQ(joined, (RecordedCut{3, 9, "1", -5, 10}));
  JoinCut({kMissing, kMissing, "2", 0, 10}, joined);
  EXPECT_EQ(joined, (RecordedCut{kMissing, kMissing, "", -5, 10}));
}

}  // namespace
}  // namespace borescope::internal
