#include "borescope/convert/time_window.h"

#include <gtest/gtest.h>

#include "borescope/trace/testing/trace_maker.h"

namespace borescope {
namespace {

using testkit::TraceMaker;

constexpr int64_t kBegin = 1'000'000'000;
constexpr int64_t kEnd = 1'100'000'000;

Trace Hundred() {
  TraceMaker maker;
  maker.Host(HostKind::kOp, "op", 1, {kBegin, kEnd - kBegin});
  maker.Kernel("second gemm", 7, {kBegin + 20, 5});
  maker.Kernel("first gemm", 8, {kBegin + 10, 5});
  return maker.Finish();
}

int64_t Resolved(std::string_view text) {
  const Result<int64_t> time = ResolveTime(Hundred(), "begin", text);
  EXPECT_TRUE(time.ok()) << text;
  return time.ok() ? *time : kMissing;
}

std::string Fault(std::string_view text) {
  const Result<int64_t> time = ResolveTime(Hundred(), "begin", text);
  return time.ok() ? "none" : time.error().message;
}

TEST(ResolveTime, UnderstandsAllForms) {
  EXPECT_EQ(Resolved("1000000005"), 1'000'000'005);
  EXPECT_EQ(Resolved("+5ms"), kBegin + 5'000'000);
  EXPECT_EQ(Resolved("+2.5us"), kBegin + 2500);
  EXPECT_EQ(Resolved("+7"), kBegin + 7);
  EXPECT_EQ(Resolved("-0.01s"), kEnd - 10'000'000);
  EXPECT_EQ(Resolved("0%"), kBegin);
  EXPECT_EQ(Resolved("0.5%"), kBegin + 500'000);
  EXPECT_EQ(Resolved("100%"), kEnd);
  EXPECT_EQ(Resolved("gemm"), kBegin + 10);
  EXPECT_EQ(Resolved("second"), kBegin + 20);
}

TEST(ResolveTime, NamesWhatItDoesNotUnderstand) {
  EXPECT_EQ(Fault("+5min"), "--begin: '+5min' is no length of time; write +5ms or -2.5s");
  EXPECT_EQ(Fault("+"), "--begin: '+' is no length of time; write +5ms or -2.5s");
  EXPECT_EQ(Fault("-99999999999999999999s"),
            "--begin: '-99999999999999999999s' is no length of time; write +5ms or -2.5s");
  EXPECT_EQ(Fault("+9999999999999999s"),
            "--begin: '+9999999999999999s' is no length of time; write +5ms or -2.5s");
  EXPECT_EQ(Fault("op"),
            "--begin: 'op' is neither a time (nanoseconds, +5ms, -5ms, 10%) nor part of a kernel's "
            "name");
  EXPECT_NE(Fault("101%"), "none");
  EXPECT_NE(Fault("99999999999999999999"), "none");
}

TEST(ResolveWindow, IsOpenWhereNothingIsSaid) {
  const Result<TimeWindow> window = ResolveWindow(Hundred(), "", "");
  ASSERT_TRUE(window.ok());
  EXPECT_TRUE(window->Holds(std::numeric_limits<int64_t>::min()));
  EXPECT_TRUE(window->Holds(std::numeric_limits<int64_t>::max()));
}

TEST(ResolveWindow, HoldsBothEnds) {
  const Result<TimeWindow> window = ResolveWindow(Hundred(), "+5", "+9");
  ASSERT_TRUE(window.ok());
  EXPECT_FALSE(window->Holds(kBegin + 4));
  EXPECT_TRUE(window->Holds(kBegin + 5));
  EXPECT_TRUE(window->Holds(kBegin + 9));
  EXPECT_FALSE(window->Holds(kBegin + 10));
  EXPECT_FALSE(ResolveWindow(Hundred(), "+9", "+5").ok());
}

TEST(ResolveTime, OfAnEmptyTrace) {
  const Trace empty = TraceMaker().Finish();
  EXPECT_EQ(*ResolveTime(empty, "end", "50%"), 0);
  EXPECT_FALSE(ResolveTime(empty, "end", "gemm").ok());
}

}  // namespace
}  // namespace borescope
