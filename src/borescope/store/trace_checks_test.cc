#include "borescope/store/trace_checks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "borescope/index/trace_index.h"
#include "borescope/store/file_identity.h"
#include "borescope/store/stored_trace.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

class TraceChecksTest : public testing::Test {
 protected:
  // Two calls in a step: one in an operator, one in none; and device work that nothing launched.
  TraceChecksTest() {
    trace_.Annotation("ProfilerStep#1", {0, 100});
    trace_.Op("aten::mm", {5, 20});
    trace_.Launched("gemm", {10, 5}, {20, 30}, {1});
    trace_.Launched("relu", {40, 5}, {60, 30}, {2});
    trace_.Kernel("lost", {95, 2});
    view_ = &trace_.View();
  }

  TraceIndex Index() const { return BuildIndex(view_->trace, 1); }

  std::string FaultOf(const TraceIndex& index) const {
    return FaultOfTrace(view_->trace, index, 1).value_or("");
  }
  std::string FaultWithLinks(const std::function<void(Correlation&)>& change) const {
    TraceIndex index = Index();
    change(index.correlation);
    return FaultOf(index);
  }
  std::string FaultWithSteps(const std::function<void(Steps&)>& change) const {
    TraceIndex index = Index();
    change(index.steps);
    return FaultOf(index);
  }
  // Of a trace with other columns.
  std::string FaultWithData(const std::function<void(TraceData&)>& change) {
    const TraceIndex index = Index();
    TraceData data = Copy(index);
    change(data);
    return FaultOfTrace(Trace(std::move(data)), index, 1).value_or("");
  }

  // Through the bytes of a file: traces cannot be copied.
  TraceData Copy(const TraceIndex& index) const {
    const SecretHash hash({1, 2, 3, 4});
    std::string bytes;
    const Result<void> written =
        WriteStoredTrace(view_->trace, index, {}, hash, 1, [&](std::string_view piece) {
          bytes += piece;
          return Result<void>();
        });
    EXPECT_TRUE(written.ok());
    // Columns are views of it until they are taken.
    const auto memory = std::make_shared<const std::string>(std::move(bytes));
    return std::move(ReadStoredTrace(*memory, memory, {}, {}, hash, 1).value().trace).Take();
  }

  TestTrace trace_;
  const RankView* view_ = nullptr;
};

TEST_F(TraceChecksTest, WhatIsBuiltHasNoFault) {
  const TraceIndex index = Index();
  EXPECT_EQ(FaultOf(index), "");
  const ColumnData<LinkRule>& rules = index.correlation.rule;
  ASSERT_EQ(rules.size(), 3U);
  EXPECT_EQ(rules[0], LinkRule::kLaunchNesting);
  EXPECT_EQ(rules[1], LinkRule::kLaunchOnly);
  EXPECT_EQ(rules[2], LinkRule::kNone);
}

// Analyses read the launch and the operator that the rule says there are.
TEST_F(TraceChecksTest, RulesFitTheLinks) {
  const std::string fault = "the link of device work";
  const HostId op = Index().correlation.op_of[0];
  EXPECT_EQ(FaultWithLinks([](Correlation& links) { links.op_of[0] = {}; }), fault);
  EXPECT_EQ(FaultWithLinks([](Correlation& links) { links.launch_of[0] = {}; }), fault);
  EXPECT_EQ(FaultWithLinks([&](Correlation& links) { links.op_of[1] = op; }), fault);
  EXPECT_EQ(FaultWithLinks([&](Correlation& links) { links.op_of[2] = op; }), fault);
  for (const LinkRule rule :
       {LinkRule::kLaunchNesting, LinkRule::kExternalId, LinkRule::kLaunchOnly, LinkRule::kCapture,
        static_cast<LinkRule>(6), static_cast<LinkRule>(255)}) {
    EXPECT_EQ(FaultWithLinks([&](Correlation& links) { links.rule[2] = rule; }), fault);
  }
  EXPECT_EQ(FaultWithLinks([&](Correlation& links) {
              links.op_of[2] = op;
              links.rule[2] = LinkRule::kExternalId;
            }),
            "");
}

TEST_F(TraceChecksTest, RowsOfACallAreThoseItLaunched) {
  const std::string fault = "the work of a launch";
  const auto with_rows = [&](DeviceId first, DeviceId second) {
    return FaultWithLinks([&](Correlation& links) { links.device_rows = {first, second}; });
  };
  EXPECT_EQ(with_rows({0}, {1}), "");
  EXPECT_EQ(with_rows({1}, {0}), fault);
  EXPECT_EQ(with_rows({0}, {0}), fault);
  EXPECT_EQ(with_rows({0}, {2}), fault);
  EXPECT_EQ(FaultWithLinks([](Correlation& links) {
              links.launch_of[1] = {};
              links.rule[1] = LinkRule::kNone;
            }),
            fault);
}

// Tables are looked up by kinds while other rows are checked.
TEST_F(TraceChecksTest, KindsAreThoseThatThereAre) {
  EXPECT_EQ(FaultWithData([](TraceData&) {}), "");
  for (const int kind : {7, 127, 255}) {
    EXPECT_EQ(
        FaultWithData([&](TraceData& data) { data.host.kind[0] = static_cast<HostKind>(kind); }),
        "the kind of an event");
    EXPECT_EQ(FaultWithData(
                  [&](TraceData& data) { data.device.kind[0] = static_cast<DeviceKind>(kind); }),
              "the kind of an event");
  }
}

// How long a device idles before its first work is the time between the two.
TEST_F(TraceChecksTest, ARecordingDoesNotBeginAfterItsEvents) {
  EXPECT_EQ(FaultWithData([](TraceData& data) { data.begin_ns -= 1; }), "");
  EXPECT_EQ(FaultWithData([](TraceData& data) {
              data.begin_ns = data.device.ts_ns[0] + 1;
              data.end_ns = data.begin_ns + 1;
            }),
            "the time of an event");
}

TEST_F(TraceChecksTest, TimesOfStepsDoNotOverflow) {
  constexpr int64_t kFirst = std::numeric_limits<int64_t>::min();
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
  ASSERT_EQ(Index().steps.steps.size(), 1U);
  for (const auto& [begin_ns, end_ns] :
       {std::pair{kFirst, int64_t{0}}, std::pair{kFirst, kLast}, std::pair{int64_t{0}, kLast},
        std::pair{kLast, kLast}, std::pair{-kMostNs, int64_t{1}},
        std::pair{int64_t{1}, int64_t{0}}}) {
    EXPECT_EQ(FaultWithSteps([&, begin = begin_ns, end = end_ns](Steps& steps) {
                steps.steps[0].begin_ns = begin;
                steps.steps[0].end_ns = end;
              }),
              "a step");
  }
  EXPECT_EQ(FaultWithSteps([](Steps& steps) { steps.steps[0].end_ns = kMostNs; }), "");
  EXPECT_EQ(FaultWithSteps([](Steps& steps) { steps.pieces[0].front().begin_ns = kFirst; }),
            "a piece of a step");
  EXPECT_EQ(FaultWithSteps([](Steps& steps) { steps.pieces[0].back().begin_ns = kLast; }),
            "a piece of a step");
}

}  // namespace
}  // namespace borescope::internal
