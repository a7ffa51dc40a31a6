#include <gtest/gtest.h>

#include "borescope/ingest/chrome/chrome_trace.h"
#include "borescope/ingest/nsys/nsys.h"
#include "borescope/ingest/nvprof/nvprof.h"
#include "borescope/ingest/recording/recording.h"
#include "borescope/ingest/rocpd/rocpd.h"
#include "borescope/ingest/rpd/rpd.h"

namespace borescope::internal {
namespace {

class RemediesTest : public testing::TestWithParam<Remedy> {};

TEST_P(RemediesTest, WhateverLacksHasAPhraseWithoutAFullStop) {
  for (int lack = 1; lack < static_cast<int>(MissingData::kCount); ++lack) {
    const std::string_view phrase = GetParam()(static_cast<MissingData>(lack));
    EXPECT_FALSE(phrase.empty()) << lack;
    EXPECT_FALSE(phrase.ends_with('.')) << phrase;
  }
  EXPECT_EQ(GetParam()(MissingData::kNone), "");
}

INSTANTIATE_TEST_SUITE_P(Profilers, RemediesTest,
                         testing::Values(NsysRemedy, NvprofRemedy, RpdRemedy, RocpdRemedy,
                                         RecordingRemedy, XlaRemedy, AscendRemedy,
                                         OnnxRuntimeRemedy, AutogradRemedy));

TEST(RemediesOfProfilersTest, AreInTheWordsOfEach) {
  EXPECT_EQ(RocpdRemedy(MissingData::kMemory), "record with rocprofv3 --memory-allocation-trace");
  EXPECT_EQ(NsysRemedy(MissingData::kMemory), "record with nsys profile --cuda-memory-usage=true");
}

}  // namespace
}  // namespace borescope::internal
