#include "borescope/output/names/name_tokens.h"

#include <gtest/gtest.h>

namespace borescope::internal {
namespace {

// "noise:void " and so on.
std::vector<std::string> Told(std::string_view name, bool with_noise = true) {
  constexpr std::string_view kKinds[] = {"noise:", "", "inner:", "operator:", "tile:"};
  const NameText parsed = ParseName(name, with_noise);
  std::vector<std::string> told;
  for (const NameToken& token : parsed.tokens) {
    told.push_back(std::string(kKinds[static_cast<size_t>(token.kind)]) +
                   parsed.text.substr(token.begin, token.end - token.begin));
  }
  return told;
}

using Tokens = std::vector<std::string>;

TEST(ParseName, KnowsNoiseHeadAndArguments) {
  EXPECT_EQ(
      Told("void at::native::fill_kernel<4, std::array<char*, 2ul> >(int)"),
      (Tokens{"noise:void ", "noise:at::", "noise:native::", "fill_", "kernel<", "inner:4, ",
              "noise:std::", "inner:array<", "inner:char*, ", "inner:2ul> >", "noise:(int)"}));
  EXPECT_EQ(Told("void f(int)", false), Tokens{"f"});
  EXPECT_EQ(Told("a::(anonymous namespace)::f<int>"),
            (Tokens{"noise:a::", "noise:(anonymous namespace)::", "f<", "inner:int>"}));
}

// As the scenarios of `whatif` are called.
TEST(ParseName, KnowsTheKernelOfAScenario) {
  EXPECT_EQ(Told("kernel:void at::f<int>(int) x 0.5"),
            (Tokens{"kernel:", "noise:void ", "noise:at::", "f<", "inner:int>", "noise:(int)",
                    " x 0.5"}));
  EXPECT_EQ(Told("kernel:void at::f<int>(int) x 0.5", false),
            (Tokens{"kernel:", "f<", "inner:int>", " x 0.5"}));
  EXPECT_EQ(Told("kernel:f x y"), (Tokens{"kernel:", "f ", "x ", "y"}));
  EXPECT_EQ(Told("kernel: x 2"), (Tokens{"kernel: ", "x ", "2"}));
}

TEST(ParseName, KnowsTilesAndOperators) {
  EXPECT_EQ(Told("sgemm_128x64_tn"), (Tokens{"sgemm_", "tile:128x64_", "tn"}));
  EXPECT_EQ(Told("f<AUnaryFunctor<float>>"),
            (Tokens{"f<", "operator:AUnaryFunctor<", "inner:float>>"}));
}

TEST(ParseName, LongWordsAreCut) {
  EXPECT_EQ(Told(std::string(40, 'x')),
            (Tokens{std::string(16, 'x'), std::string(16, 'x'), std::string(8, 'x')}));
  EXPECT_EQ(Told("TrivialOffsetCalculator"), (Tokens{"TrivialOffset", "Calculator"}));
  EXPECT_EQ(Told("Memcpy HtoD (Pinned -> Device)"),
            (Tokens{"Memcpy ", "HtoD (", "inner:Pinned -> ", "inner:Device)"}));
}

TEST(ParseName, AllTokensTogetherAreTheName) {
  for (const std::string name : {"", "::", "<<<<<<<<<<<<<<<<<<<<<<<<", "a::b::", "void (int)",
                                 "é_漢", "}::f", "{lambda()#3}::operator()() const", "\xFF\xFE("}) {
    std::string all;
    const NameText parsed = ParseName(name, true);
    for (const NameToken& token : parsed.tokens) {
      all += parsed.text.substr(token.begin, token.end - token.begin);
      EXPECT_LT(token.begin, token.end);
    }
    EXPECT_EQ(all, name);
    EXPECT_EQ(ParseName(name, false).tokens.empty(), name.empty());
  }
}

TEST(NameText, FindsTheTokenOfAByte) {
  const NameText parsed = ParseName("ab_cd_", true);
  EXPECT_EQ(parsed.TokenAt(0), 0U);
  EXPECT_EQ(parsed.TokenAt(2), 0U);
  EXPECT_EQ(parsed.TokenAt(3), 1U);
  EXPECT_EQ(parsed.TokenAt(99), 1U);
}

}  // namespace
}  // namespace borescope::internal
