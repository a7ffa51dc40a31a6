#include "borescope/base/result.h"

#include <gtest/gtest.h>

namespace borescope::internal {
namespace {

TEST(ErrorTest, IsOneSentenceOfItsParts) {
  EXPECT_EQ(Error{.cause = "bad"}.Sentence(), "bad");
  const Error whole{.cause = "no object",
                    .remedy = "write one",
                    .file = "a.json",
                    .offset = 7,
                    .parameter = "plan"};
  EXPECT_EQ(whole.Sentence(), "`plan`: a.json: byte 7: no object; write one");
  EXPECT_EQ((Error{.cause = "no text", .file = "a.toml", .line = 3}).Sentence(),
            "a.toml:3: no text");
  EXPECT_EQ((Error{.cause = "no text", .line = 3}).Sentence(), "line 3: no text");
}

TEST(ErrorTest, NamesItsParameterOnce) {
  EXPECT_EQ((Error{.cause = "`top` is no number", .parameter = "top"}).Sentence(),
            "`top` is no number");
  EXPECT_EQ(
      (Error{.cause = "no number", .remedy = "leave out `top`", .parameter = "top"}).Sentence(),
      "`top`: no number; leave out `top`");
}

TEST(ErrorTest, KeepsWhatItAlreadySays) {
  const Error read{.cause = "no object", .file = "inner.json", .parameter = "plan"};
  EXPECT_EQ(InFile("outer.json", read).file, "inner.json");
  EXPECT_EQ(InFile("outer.json", Error{.cause = "x"}).file, "outer.json");
  EXPECT_EQ(OfParameter("top", read).parameter, "plan");
  EXPECT_EQ(OfParameter("top", Error{.cause = "x"}).parameter, "top");
  EXPECT_EQ(About("scenario 2", read).cause, "scenario 2: no object");
  EXPECT_EQ(TextWithoutFile(read, "inner.json"), "--plan: no object");
  EXPECT_EQ(TextWithoutFile(read, "other.json"), "--plan: inner.json: no object");
}

TEST(ErrorTest, ParametersAreOptionsOfACommandLine) {
  EXPECT_EQ(ParameterName("kernel-wait"), "kernel_wait");
  EXPECT_EQ(WithOptions("give `sort` and `kernel_wait` to reduce"),
            "give --sort and --kernel-wait to reduce");
  EXPECT_EQ(WithOptions("`a b` and `"), "`a b` and `");
  EXPECT_EQ(WithOptions(""), "");
}

TEST(ResultTest, PassesErrorsOn) {
  const auto half = [](int number) -> Result<int> {
    if (number % 2 != 0) return UsageError("odd", "give an even one", "number");
    return number / 2;
  };
  const auto quarter = [&](int number) -> Result<int> {
    BS_ASSIGN(const int first, half(number));
    BS_TRY(half(first));
    return half(first);
  };
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).error().Sentence(), "`number`: odd; give an even one");
}

}  // namespace
}  // namespace borescope::internal
