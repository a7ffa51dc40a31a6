#include "borescope/analyse_bytes.h"

#include <gtest/gtest.h>

namespace borescope {
namespace {

constexpr std::string_view kTrace =
    R"({"distributedInfo":{"rank":0},"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,)"
    R"("tid":7,"ts":10,"dur":5,"args":{"device":0,"stream":7,"correlation":1}}]})";

TEST(AnalyseBytes, RunsEverythingOrTellsWhyNot) {
  const Result<Document> document = AnalyseBytes(kTrace, "x.json", 1);
  ASSERT_TRUE(document.ok());
  EXPECT_GE(document->tables.size(), 3U);
  EXPECT_FALSE(document->views.empty());
  EXPECT_FALSE(AnalyseBytes("", "x.json", 1).ok());
}

}  // namespace
}  // namespace borescope
