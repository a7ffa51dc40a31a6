#include "borescope/analysis/core/params.h"

#include <gtest/gtest.h>

#include "borescope/analysis/core/param_specs.h"

namespace borescope::internal {
namespace {

TEST(ParamsTest, DefaultsAreThoseOfTheSpec) {
  const Params params;
  EXPECT_EQ(params.Number(kKernelWaitParam), 30'000);
  EXPECT_EQ(params.Text(kOperatorParam), "");
  EXPECT_FALSE(params.Flag(kSeriesParam));
}

TEST(ParamsTest, TimesCarryTheirUnit) {
  const std::pair<std::string_view, int64_t> cases[] = {{"30us", 30'000},     {"30", 30'000},
                                                        {"1.5ms", 1'500'000}, {"2s", 2'000'000'000},
                                                        {"7ns", 7},           {"0", 0}};
  for (const auto& [text, ns] : cases) {
    EXPECT_EQ(ParseParam(kKernelWaitParam, text).value().number, ns) << text;
  }
  for (const std::string_view text : {"", "us", "-1us", "1 us", "1m", "nan", "inf", "1e300s"}) {
    EXPECT_FALSE(ParseParam(kKernelWaitParam, text).ok()) << text;
  }
}

TEST(ParamsTest, CountsStartAtOne) {
  EXPECT_EQ(ParseParam(kMinLengthParam, "12").value().number, 12);
  for (const std::string_view text : {"", "0", "-3", "1.5", "x"}) {
    EXPECT_FALSE(ParseParam(kMinLengthParam, text).ok()) << text;
  }
}

TEST(ParamsTest, NumbersStartAtZero) {
  EXPECT_EQ(ParseParam(kContextParam, "0").value().number, 0);
  for (const std::string_view text : {"", "-1", "1.5", "x"}) {
    EXPECT_FALSE(ParseParam(kContextParam, text).ok()) << text;
  }
}

TEST(ParamsTest, ListsOfTimesRise) {
  Params params;
  EXPECT_EQ(params.Times(kEdgesParam).size(), 7U);
  params.values.push_back(ParseParam(kEdgesParam, "1,2.5us,1ms").value());
  EXPECT_EQ(params.Times(kEdgesParam), (std::vector<int64_t>{1'000, 2'500, 1'000'000}));
  for (const std::string_view text : {"", ",", "1us,", "0,1us", "1us,1us", "2us,1us", "1us 2us"}) {
    EXPECT_FALSE(ParseParam(kEdgesParam, text).ok()) << text;
  }
}

TEST(ParamsTest, SharesArePartsOfTheWhole) {
  const std::pair<std::string_view, double> cases[] = {
      {"1%", 0.01}, {"0.25", 0.25}, {"0", 0.0}, {"100%", 1.0}};
  EXPECT_EQ(Params().Share(kMinShareParam), 0);
  for (const auto& [text, share] : cases) {
    Params params;
    params.values.push_back(ParseParam(kMinShareParam, text).value());
    EXPECT_DOUBLE_EQ(params.Share(kMinShareParam), share) << text;
  }
}

TEST(ParamsTest, ChoicesAreTheWordsOfTheirValue) {
  EXPECT_EQ(Params().Text(kCausalParam), "exact");
  for (const std::string_view text : {"exact", "half", "full"}) {
    EXPECT_TRUE(ParseParam(kCausalParam, text).ok()) << text;
  }
  for (const std::string_view text : {"", "exac", "full|", "half|full", "most"}) {
    EXPECT_FALSE(ParseParam(kCausalParam, text).ok()) << text;
  }
  EXPECT_EQ(ParseParam(kCausalParam, "most").error().Sentence(),
            "`causal`: 'most' is not one of exact|half|full");
}

TEST(ParamsTest, GivenValuesReplaceDefaults) {
  Params params;
  params.values.push_back(ParseParam(kOperatorParam, "aten::mm").value());
  params.values.push_back(ParseParam(kSeriesParam, "").value());
  EXPECT_EQ(params.Text(kOperatorParam), "aten::mm");
  EXPECT_TRUE(params.Flag(kSeriesParam));
}

TEST(ParamsTest, TimesAreWrittenAsShortAsTheyCanBe) {
  EXPECT_EQ(FormatParamTime(30'000), "30us");
  EXPECT_EQ(FormatParamTime(1'500), "1500ns");
  EXPECT_EQ(FormatParamTime(1'000'000), "1ms");
  EXPECT_EQ(FormatParamTime(0), "0ns");
}

TEST(NumberRangesTest, Parse) {
  const NumberRanges ranges = NumberRanges::Parse("0,3,-5..-2,7..9").value();
  for (const int64_t number : {0, 3, -5, -3, -2, 7, 9}) {
    EXPECT_TRUE(ranges.Contains(number)) << number;
  }
  for (const int64_t number : {1, -1, -6, 10}) {
    EXPECT_FALSE(ranges.Contains(number)) << number;
  }
}

TEST(NumberRangesTest, Rejects) {
  for (const std::string_view text : {"", "a", "1,", ",1", "3..1", "1..", "..2", "1 2", "0x1"}) {
    EXPECT_FALSE(NumberRanges::Parse(text).ok()) << text;
  }
}

}  // namespace
}  // namespace borescope::internal
