#include "borescope/postmortem/trace_join.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "borescope/ingest/load.h"

namespace borescope::internal {
namespace {

constexpr int64_t kBase = 1'700'000'000'000'000'000;

// A step of 1 ms from 1 ms on, a module and an operator in it on one thread; three allocations.
Trace Profile(const std::string& more = "") {
  const std::string text = R"({"schemaVersion": 1, "baseTimeNanoseconds": 1700000000000000000,
  "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 1}, "traceEvents": [
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#7", "pid": 1, "tid": 1, "ts": 1000, "dur": 1000},
  {"ph": "X", "cat": "user_annotation", "name": "loss", "pid": 1, "tid": 1, "ts": 1100, "dur": 500},
  {"ph": "X", "cat": "python_function", "name": "nn.Module: Linear_2", "pid": 1, "tid": 1, "ts": 1150, "dur": 300},
  {"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 1, "tid": 1, "ts": 1200, "dur": 200},
  {"ph": "X", "cat": "cpu_op", "name": "aten::addmm", "pid": 1, "tid": 1, "ts": 1250, "dur": 100},
  {"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": 1010, "args": {"Device Type": 1, "Device Id": 0, "Addr": 4096, "Bytes": 512, "Total Allocated": 512}},
  {"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": 1020, "args": {"Device Type": 1, "Device Id": 0, "Addr": 8192, "Bytes": 1024, "Total Allocated": 1536}},
  {"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": 1030, "args": {"Device Type": 1, "Device Id": 0, "Addr": 16384, "Bytes": 2048, "Total Allocated": 3584}})" +
                           more + "]}";
  Result<Trace> trace = LoadBytes(text, "rank0.json", {});
  EXPECT_TRUE(trace.ok()) << trace.error().Sentence();
  return std::move(*trace);
}

MomentRow At(const Trace& trace, int64_t us, std::optional<int64_t> difference = {}) {
  return MomentIn(trace, {0, "out of memory", kBase + us * 1000}, difference);
}

TEST(TraceJoinTest, TheInnermostOfEachKind) {
  const Trace trace = Profile();
  const MomentRow row = At(trace, 1300);
  EXPECT_EQ(row.match, "time");
  EXPECT_EQ(row.step, "ProfilerStep#7");
  EXPECT_EQ(row.annotation, "loss");
  EXPECT_EQ(row.module, "Linear_2");
  EXPECT_EQ(row.operator_name, "aten::addmm");
  EXPECT_EQ(At(trace, 1380).operator_name, "aten::linear");
  EXPECT_EQ(At(trace, 1900).operator_name, std::nullopt);
  EXPECT_EQ(At(trace, 1900).step, "ProfilerStep#7");
}

TEST(TraceJoinTest, WhatCannotBeTold) {
  const Trace trace = Profile();
  EXPECT_EQ(At(trace, 500).match, "cannot tell: the profile begins 0.001 s later");
  EXPECT_EQ(At(trace, 1'002'000).match, "cannot tell: the profile ends 1.000 s before");
  // Which of two threads asked nobody knows.
  const Trace both = Profile(
      R"(,{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 2, "ts": 1200, "dur": 200})");
  EXPECT_EQ(At(both, 1300).match, "cannot tell: several threads ran operators");
  EXPECT_EQ(At(both, 1300).operator_name, std::nullopt);
  EXPECT_EQ(At(both, 1300).step, "ProfilerStep#7");
}

TEST(TraceJoinTest, TheClockIsSetByAllocationsOfBoth) {
  const Trace trace = Profile();
  constexpr int64_t kLater = 250'000'000;
  std::vector<AllocationMark> marks = {{0, 0, 4096, 512, kBase + 1'010'000 + kLater},
                                       {0, 0, 8192, 1024, kBase + 1'020'000 + kLater},
                                       {0, 0, 16384, 2048, kBase + 1'030'000 + kLater}};
  EXPECT_EQ(ClockDifference(trace, 0, marks), kLater);
  EXPECT_EQ(ClockDifference(trace, 1, marks), std::nullopt);
  const MomentRow row = At(trace, 1300 + kLater / 1000, kLater);
  EXPECT_EQ(row.match, "allocations");
  EXPECT_EQ(row.operator_name, "aten::addmm");
  // Another size is another block, and two are too few.
  marks[0].bytes = 1024;
  EXPECT_EQ(ClockDifference(trace, 0, marks), std::nullopt);
  // Differences that do not agree say nothing.
  marks[0].bytes = 512;
  marks[1].unix_ns += 40'000'000;
  marks[2].unix_ns += 90'000'000;
  EXPECT_EQ(ClockDifference(trace, 0, marks), std::nullopt);
}

}  // namespace
}  // namespace borescope::internal
