#include "borescope/index/time_window.h"

#include <gtest/gtest.h>

#include "borescope/testing/trace_maker.h"

namespace borescope::internal {
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

Result<TimeWindow> Window(const Trace& trace, std::string_view begin, std::string_view end) {
  BS_ASSIGN(const TimeRange range, TimeRange::Parse(begin, end));
  return ResolveWindow(trace, range);
}

int64_t Resolved(std::string_view text) {
  const Result<TimeWindow> window = Window(Hundred(), text, "");
  EXPECT_TRUE(window.ok()) << text;
  return window.ok() ? window->begin_ns : kMissing;
}

std::string Fault(std::string_view begin, std::string_view end = "") {
  const Result<TimeWindow> window = Window(Hundred(), begin, end);
  return window.ok() ? "none" : window.error().Sentence();
}

TEST(ResolveWindow, UnderstandsAllForms) {
  EXPECT_EQ(Resolved("1000000005"), 1'000'000'005);
  EXPECT_EQ(Resolved("+5ms"), kBegin + 5'000'000);
  EXPECT_EQ(Resolved("+16.7ms"), kBegin + 16'700'000);
  EXPECT_EQ(Resolved("+2.5us"), kBegin + 2500);
  EXPECT_EQ(Resolved("+7"), kBegin + 7);
  EXPECT_EQ(Resolved("0.05s"), kBegin + 50'000'000);
  EXPECT_EQ(Resolved("0.1sec"), kEnd);
  EXPECT_EQ(Resolved("7ns"), kBegin + 7);
  EXPECT_EQ(Resolved("-0.01s"), kEnd - 10'000'000);
  EXPECT_EQ(Resolved("-8ms"), kEnd - 8'000'000);
  EXPECT_EQ(Resolved("0%"), kBegin);
  EXPECT_EQ(Resolved("0.5%"), kBegin + 500'000);
  EXPECT_EQ(Resolved("100%"), kEnd);
  EXPECT_EQ(Resolved("gemm"), kBegin + 10);
  EXPECT_EQ(Resolved("second"), kBegin + 20);
}

TEST(TimePoint, NamesWhatItDoesNotUnderstand) {
  EXPECT_EQ(Fault("+5min"), "`begin`: '+5min' is no length of time; write +5ms or -2.5s");
  EXPECT_EQ(Fault("+"), "`begin`: '+' is no length of time; write +5ms or -2.5s");
  EXPECT_EQ(Fault("", "-99999999999999999999s"),
            "`end`: '-99999999999999999999s' is no length of time; write +5ms or -2.5s");
  EXPECT_EQ(Fault("+9999999999999999s"),
            "`begin`: '+9999999999999999s' is no length of time; write +5ms or -2.5s");
  EXPECT_EQ(Fault("101%"), "`begin`: 101% is more than all; write 0% to 100%");
  EXPECT_EQ(Fault("100.1%"), "`begin`: 100.1% is more than all; write 0% to 100%");
  EXPECT_EQ(Fault("99999999999999999999"),
            "`begin`: 99999999999999999999 nanoseconds are too many");
}

TEST(ResolveWindow, SaysWhatIsNotThere) {
  const std::string unknown =
      " is neither a time (nanoseconds, +5ms, -5ms, 10%) nor part of a kernel's name";
  EXPECT_EQ(Fault("op"), "`begin`: 'op'" + unknown);
  EXPECT_EQ(Fault("0.5"), "`begin`: '0.5'" + unknown);
  EXPECT_EQ(Fault("1min"), "`begin`: '1min'" + unknown);
  EXPECT_EQ(Fault("+9", "+5"), "`begin` +9 is after `end` +5: 1000000009 and 1000000005 ns");
  EXPECT_EQ(Fault("", "5"),
            "nothing was recorded between `begin` and `end`; the recording goes from 1000000000 "
            "to 1100000000 ns");
  EXPECT_NE(Fault("+1s"), "none");
}

TEST(ResolveWindow, IsOpenWhereNothingIsSaid) {
  const Result<TimeWindow> window = Window(Hundred(), "", "");
  ASSERT_TRUE(window.ok());
  EXPECT_TRUE(window->Holds(std::numeric_limits<int64_t>::min()));
  EXPECT_TRUE(window->Holds(std::numeric_limits<int64_t>::max()));
}

TEST(ResolveWindow, HoldsBothEnds) {
  const Result<TimeWindow> window = Window(Hundred(), "+5", "+9");
  ASSERT_TRUE(window.ok());
  EXPECT_FALSE(window->Holds(kBegin + 4));
  EXPECT_TRUE(window->Holds(kBegin + 5));
  EXPECT_TRUE(window->Holds(kBegin + 9));
  EXPECT_FALSE(window->Holds(kBegin + 10));
}

TEST(ResolveWindow, OfAnEmptyTrace) {
  const Trace empty = TraceMaker().Finish();
  EXPECT_EQ(Window(empty, "", "50%")->end_ns, 0);
  EXPECT_FALSE(Window(empty, "", "gemm").ok());
}

}  // namespace
}  // namespace borescope::internal
