#include "borescope/index/syncs/sync_edges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "borescope/index/launches/correlation.h"
#include "borescope/testing/trace_maker.h"

namespace borescope::internal {

namespace {

TEST(SyncCallsTest, WhatACallWaitsFor) {
  EXPECT_EQ(ClassifyBlockingCall("cudaEventSynchronize"), BlockingCall::kEvent);
  EXPECT_EQ(ClassifyBlockingCall("hipStreamSynchronize"), BlockingCall::kStream);
  EXPECT_EQ(ClassifyBlockingCall("zeCommandQueueSynchronize"), BlockingCall::kStream);
  EXPECT_EQ(ClassifyBlockingCall("cuCtxSynchronize"), BlockingCall::kDevice);
  EXPECT_EQ(ClassifyBlockingCall("cudaMemcpy"), BlockingCall::kCopy);
  EXPECT_EQ(ClassifyBlockingCall("cudaMemcpyAsync"), BlockingCall::kAsyncCopy);
  EXPECT_EQ(ClassifyBlockingCall("cudaLaunchKernel"), BlockingCall::kNone);
}

// Runtimes without rules of their own: every name with "synchronize" waits.
TEST(SyncCallsTest, OtherRuntimesWaitByWhatTheirNamesSay) {
  EXPECT_EQ(ClassifyBlockingCall("aclrtSynchronizeEvent"), BlockingCall::kEvent);
  EXPECT_EQ(ClassifyBlockingCall("aclrtSynchronizeStream"), BlockingCall::kStream);
  EXPECT_EQ(ClassifyBlockingCall("aclrtSynchronizeDevice"), BlockingCall::kDevice);
  EXPECT_EQ(ClassifyBlockingCall("zeFenceHostSynchronize"), BlockingCall::kDevice);
}

TEST(SyncCallsTest, AnAsynchronousCopyBlocksOnlySometimes) {
  EXPECT_TRUE(AlwaysBlocks(BlockingCall::kCopy));
  EXPECT_TRUE(AlwaysBlocks(BlockingCall::kDevice));
  EXPECT_FALSE(AlwaysBlocks(BlockingCall::kAsyncCopy));
  EXPECT_FALSE(AlwaysBlocks(BlockingCall::kNone));
}

using testkit::Span;
using testkit::TraceMaker;

// A launch call of 2 ns on thread 1 and its kernel.
void Launch(TraceMaker& maker, std::string_view kernel, int64_t at, Span span, int64_t number,
            int64_t stream = 7, int64_t thread = 1) {
  maker.Call("cudaLaunchKernel", thread, {at, 2}, number);
  maker.Kernel(kernel, stream, span, {.correlation = number});
}

struct SyncArgs {
  int64_t number = kMissing;  // correlation
  int64_t stream = -1;
  int64_t wait_on_stream = kMissing;
  int64_t record = kMissing;
};

void Sync(TraceMaker& maker, std::string_view name, Span span, const SyncArgs& args) {
  Syncs& syncs = maker.part().data.syncs;
  const uint32_t row = AddMissingRow(syncs);
  syncs.stream[row] = args.stream;
  syncs.wait_on_stream[row] = args.wait_on_stream;
  syncs.wait_on_record_correlation[row] = args.record;
  maker.Device(DeviceKind::kSync, name, 0, args.stream, span, {.correlation = args.number});
  maker.part().data.device.detail.back() = row;
}

// A call that waits, and its record.
void SyncCall(TraceMaker& maker, std::string_view call, std::string_view record, Span span,
              const SyncArgs& args) {
  maker.Call(call, 1, span, args.number);
  Sync(maker, record, span, args);
}

struct Answer {
  explicit Answer(TraceMaker& maker) : trace(maker.Finish()) {
    Diagnostics diagnostics;
    syncs = FindSyncEdges(trace, BuildCorrelation(trace, OperatorRule(trace), diagnostics));
  }

  // "kernel > call" or "kernel > kernel", its kind, "?" if inferred.
  std::vector<std::string> Lines() const {
    std::vector<std::string> lines;
    for (const SyncEdge& edge : syncs.edges) {
      const std::string_view to =
          edge.kind == SyncKind::kStreamWait ? trace.Name(edge.target) : trace.Name(edge.call);
      lines.push_back(std::string(trace.Name(edge.source)) + " > " + std::string(to) + " " +
                      std::string(SyncKindName(edge.kind)) + (edge.inferred ? "?" : ""));
    }
    return lines;
  }

  Trace trace;
  SyncEdges syncs;
};

using Lines = std::vector<std::string>;

TEST(SyncEdgesTest, AStreamSyncWaitsForTheLastWorkIssuedToItsStream) {
  TraceMaker maker;
  Launch(maker, "a", 0, {5, 10}, 1);
  Launch(maker, "b", 10, {15, 20}, 2);
  Launch(maker, "other", 15, {18, 30}, 3, 8);
  SyncCall(maker, "cudaStreamSynchronize", "Stream Sync", {20, 16}, {.number = 9, .stream = 7});
  Launch(maker, "later", 40, {42, 1}, 4);
  const Answer answer(maker);
  EXPECT_EQ(answer.Lines(), Lines{"b > cudaStreamSynchronize stream"});
  EXPECT_TRUE(answer.syncs.has_records);
}

TEST(SyncEdgesTest, WhatWasLaunchedFirstCountsNotWhatBeganFirst) {
  TraceMaker maker;
  Launch(maker, "early", 0, {50, 10}, 1);  // waits for another stream
  SyncCall(maker, "cudaEventSynchronize", "Event Sync", {22, 50},
           {.number = 9, .wait_on_stream = 7, .record = 5});
  maker.Call("cudaEventRecord", 1, {4, 1}, 5);
  Launch(maker, "late", 10, {60, 10}, 2);
  EXPECT_EQ(Answer(maker).Lines(), Lines{"early > cudaEventSynchronize event"});
}

TEST(SyncEdgesTest, ADeviceSyncWaitsForEveryStreamOfItsDevice) {
  TraceMaker maker;
  Launch(maker, "a", 0, {5, 10}, 1, 7);
  Launch(maker, "b", 3, {6, 10}, 2, 8);
  maker.Device(DeviceKind::kKernel, "elsewhere", 1, 7, {0, 9});
  SyncCall(maker, "cudaDeviceSynchronize", "Context Sync", {10, 10}, {.number = 9});
  Launch(maker, "c", 21, {25, 5}, 3, 8);
  SyncCall(maker, "cudaDeviceSynchronize", "Context Sync", {25, 10}, {.number = 10});
  EXPECT_EQ(Answer(maker).Lines(),
            (Lines{"a > cudaDeviceSynchronize device", "b > cudaDeviceSynchronize device",
                   "c > cudaDeviceSynchronize device"}));
}

TEST(SyncEdgesTest, AStreamWaitsForTheWorkInFrontOfTheRecord) {
  TraceMaker maker;
  Launch(maker, "a", 0, {5, 10}, 1, 7);
  maker.Call("cudaEventRecord", 1, {3, 1}, 5);
  Launch(maker, "behind", 4, {15, 10}, 2, 7);
  SyncCall(maker, "cudaStreamWaitEvent", "Stream Wait Event", {8, 1},
           {.number = 9, .stream = 8, .wait_on_stream = 7, .record = 5});
  Launch(maker, "waits", 10, {16, 3}, 3, 8);
  Launch(maker, "next", 13, {19, 3}, 4, 8);
  EXPECT_EQ(Answer(maker).Lines(), Lines{"a > waits stream_wait"});
}

TEST(SyncEdgesTest, AnUnknownRecordIsInferred) {
  TraceMaker maker;
  Launch(maker, "a", 0, {5, 10}, 1, 7);
  SyncCall(maker, "cudaStreamWaitEvent", "Stream Wait Event", {8, 1},
           {.number = 9, .stream = 8, .wait_on_stream = 7, .record = -1});
  Launch(maker, "waits", 10, {16, 3}, 3, 8);
  SyncCall(maker, "cudaEventSynchronize", "Event Sync", {30, 1},
           {.number = 10, .wait_on_stream = -1, .record = -1});
  const Answer answer(maker);
  EXPECT_EQ(answer.Lines(), Lines{"a > waits stream_wait?"});
  EXPECT_EQ(answer.syncs.unresolved, 1U);
}

TEST(SyncEdgesTest, ARecordBehindTheWaitIsAnotherUseOfTheEvent) {
  TraceMaker maker;
  Launch(maker, "a", 0, {5, 10}, 1);
  SyncCall(maker, "cudaEventSynchronize", "Event Sync", {10, 10},
           {.number = 9, .wait_on_stream = 7, .record = 5});
  Launch(maker, "b", 22, {25, 5}, 2);
  maker.Call("cudaEventRecord", 1, {30, 1}, 5);
  EXPECT_EQ(Answer(maker).Lines(), Lines{"a > cudaEventSynchronize event?"});
}

TEST(SyncEdgesTest, NothingWaitsForWhatEndsAfterIt) {
  TraceMaker maker;
  Launch(maker, "a", 0, {5, 100}, 1);
  maker.Call("cudaEventRecord", 1, {3, 1}, 5);
  SyncCall(maker, "cudaStreamSynchronize", "Stream Sync", {20, 5}, {.number = 9, .stream = 7});
  SyncCall(maker, "cudaEventQuery", "Event Sync", {30, 5},
           {.number = 10, .wait_on_stream = 7, .record = 5});
  const Answer answer(maker);
  EXPECT_EQ(answer.Lines(), Lines{});
  EXPECT_EQ(answer.syncs.backward, 1U);  // a query may well find nothing
  EXPECT_EQ(answer.syncs.first_backward.kind, SyncKind::kStream);
  EXPECT_TRUE(answer.syncs.first_backward.source.valid());
}

TEST(SyncEdgesTest, ItemIsInferred) {
  TraceMaker maker;
  Launch(maker, "a", 0, {5, 10}, 1, 8);
  maker.Call("cudaMemcpyAsync", 1, {10, 20}, 2);
  maker.Device(DeviceKind::kMemcpy, "Memcpy DtoH (Device -> Pageable)", 0, 7, {20, 2},
               {.correlation = 2});
  maker.Call("cudaStreamSynchronize", 1, {31, 2}, 3);
  const Answer answer(maker);
  EXPECT_EQ(answer.Lines(), (Lines{"Memcpy DtoH (Device -> Pageable) > cudaMemcpyAsync copy?",
                                   "Memcpy DtoH (Device -> Pageable) > cudaStreamSynchronize "
                                   "stream?"}));
  EXPECT_FALSE(answer.syncs.has_records);
}

TEST(SyncEdgesTest, CopiesThatDoNotBlock) {
  TraceMaker maker;
  maker.Call("cudaMemcpyAsync", 1, {0, 20}, 1);
  maker.Device(DeviceKind::kMemcpy, "Memcpy DtoH (Device -> Pinned)", 0, 7, {5, 2},
               {.correlation = 1});
  maker.Call("cudaMemcpy", 1, {30, 5}, 2);  // has buffered its data
  maker.Device(DeviceKind::kMemcpy, "Memcpy HtoD (Pageable -> Device)", 0, 7, {33, 20},
               {.correlation = 2});
  maker.Call("hipMemcpyWithStream", 1, {60, 15}, 3);
  maker.Device(DeviceKind::kMemcpy, "CopyDeviceToHost", 0, 7, {65, 5}, {.correlation = 3});
  EXPECT_EQ(Answer(maker).Lines(), Lines{"CopyDeviceToHost > hipMemcpyWithStream copy?"});
}

TEST(SyncEdgesTest, DeviceSyncsAreInferredForTheDeviceOfTheThread) {
  TraceMaker maker;
  Launch(maker, "a", 0, {5, 10}, 1, 7);
  Launch(maker, "b", 4, {6, 30}, 2, 8);
  maker.Device(DeviceKind::kKernel, "elsewhere", 1, 7, {0, 9});
  maker.Call("hipDeviceSynchronize", 1, {10, 20}, 3);
  const Answer answer(maker);
  EXPECT_EQ(answer.Lines(), Lines{"a > hipDeviceSynchronize device?"});
  EXPECT_EQ(answer.syncs.backward, 1U);
}

TEST(SyncEdgesTest, EventSyncsAreInferredFromWhatEndsWithinThem) {
  TraceMaker maker;
  Launch(maker, "a", 0, {5, 10}, 1);
  Launch(maker, "b", 3, {15, 10}, 2);
  maker.Call("cudaEventSynchronize", 1, {10, 8}, 3);
  maker.Call("cudaEventSynchronize", 1, {19, 1}, 4);
  const Answer answer(maker);
  EXPECT_EQ(answer.Lines(), Lines{"a > cudaEventSynchronize event?"});
  EXPECT_EQ(answer.syncs.unresolved, 1U);
}

// A record that names a stream or device without work says nothing, if the call waited.
TEST(SyncEdgesTest, LongWaitsForNothingAreInferredAndCounted) {
  for (const int64_t waited_ns : {int64_t{15'000}, int64_t{50'000}}) {
    TraceMaker maker;
    Launch(maker, "a", 0, {50, 20'000}, 1);
    SyncCall(maker, "cudaStreamSynchronize", "Stream Sync", {10'000, waited_ns},
             {.number = 9, .stream = 15});
    Launch(maker, "b", 70'000, {70'010, 20'000}, 2);
    SyncCall(maker, "cudaDeviceSynchronize", "Context Sync", {71'000, waited_ns}, {.number = 10});
    maker.part().data.device.track.back() = maker.part().Track(TrackKind::kDevice, 3, -1);
    const Answer answer(maker);
    const bool has_waited = waited_ns > kNoWaitNs;
    EXPECT_EQ(answer.Lines(), has_waited ? (Lines{"a > cudaStreamSynchronize stream?",
                                                  "b > cudaDeviceSynchronize device?"})
                                         : Lines());
    Diagnostics diagnostics;
    CountUnresolvedWaits(answer.trace,
                         BuildCorrelation(answer.trace, OperatorRule(answer.trace), diagnostics),
                         diagnostics);
    EXPECT_EQ(diagnostics.count(Diag::kUnresolvedWait), has_waited ? 2U : 0U);
  }
}

TEST(SyncEdgesTest, StreamsOfAnotherProcessAreNotWaitedFor) {
  TraceMaker maker;
  Launch(maker, "a", 0, {5, 10}, 1);
  TracePart& part = maker.part();
  maker.Kernel("theirs", 7, {6, 12});
  part.data.device.track.back() = part.Track(TrackKind::kDevice, 0, 7, 4711);
  maker.Call("cudaDeviceSynchronize", 1, {10, 20}, 3);
  EXPECT_EQ(Answer(maker).Lines(), Lines{"a > cudaDeviceSynchronize device?"});
}

TEST(SyncEdgesTest, NothingOfNothing) {
  TraceMaker maker;
  const Answer answer(maker);
  EXPECT_TRUE(answer.syncs.edges.empty());
  EXPECT_EQ(answer.syncs.backward + answer.syncs.unresolved, 0U);
}

// --- the slow reference: recorded waits, every query answered by searching all work ---

struct Work {
  std::string name;
  int64_t issue;
  int64_t stream;
  Span span;
};

// Of the work issued before `before` the item that ends last, the last issued of equals.
std::string SlowLast(const std::vector<Work>& works, int64_t stream, int64_t before,
                     int64_t deadline, uint64_t& backward) {
  const Work* last = nullptr;
  const auto end = [](const Work& work) { return work.span.ts_ns + work.span.dur_ns; };
  for (const Work& work : works) {
    if (work.stream == stream && work.issue < before &&
        (last == nullptr || end(work) > end(*last) ||
         (end(work) == end(*last) && work.issue > last->issue))) {
      last = &work;
    }
  }
  if (last == nullptr) {
    return "";
  }
  backward += end(*last) > deadline ? 1 : 0;
  return end(*last) > deadline ? "" : last->name;
}

TEST(SyncEdgesTest, TwinOfStreamAndEventSyncs) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto upto = [&](int64_t most) {
      return static_cast<int64_t>(random() % static_cast<uint64_t>(most + 1));
    };
    TraceMaker maker;
    std::vector<Work> works;
    std::vector<std::string> expected;
    uint64_t backward = 0;
    int64_t now = 0;
    std::map<int64_t, int64_t> records;  // correlation -> time
    for (int64_t i = 1; i <= 25; ++i) {
      now += 1 + upto(5);
      const int64_t stream = 7 + upto(1);
      switch (upto(3)) {
        case 0:
        case 1:
          works.push_back({"k" + std::to_string(i), now, stream, {now + upto(9), upto(9)}});
          maker.Call("cudaLaunchKernel", 1, {now, 1}, i);
          maker.Kernel(works.back().name, stream, works.back().span, {.correlation = i});
          break;
        case 2:
          maker.Call("cudaEventRecord", 1, {now, 1}, i);
          records[i] = now;
          break;
        default: {
          const Span span{now, upto(12)};
          const std::string call = "sync" + std::to_string(i);
          const bool by_event = !records.empty() && upto(1) == 0;
          const int64_t record = by_event ? records.rbegin()->first : -1;
          const int64_t before = by_event ? records.rbegin()->second : now;
          SyncCall(maker, call, by_event ? "Event Sync" : "Stream Sync", span,
                   {.number = i, .stream = stream, .wait_on_stream = stream, .record = record});
          const std::string source =
              SlowLast(works, stream, before, span.ts_ns + span.dur_ns, backward);
          if (!source.empty()) {
            expected.push_back(source + " > " + call + (by_event ? " event" : " stream"));
          }
        }
      }
    }
    const Answer answer(maker);
    Lines lines = answer.Lines();
    std::sort(lines.begin(), lines.end());
    std::sort(expected.begin(), expected.end());
    ASSERT_EQ(lines, expected) << "seed " << seed;
    ASSERT_EQ(answer.syncs.backward, backward) << "seed " << seed;
  }
}

// A call that waits for a kernel which seems to end 8 us after it; the launch allows 5 us of that.
Trace DriftingTrace() {
  TraceMaker maker;
  Launch(maker, "kernel", 0, {5'000, 103'000}, 1);
  maker.Call("cudaDeviceSynchronize", 1, {10'000, 90'000}, 2);
  return maker.Finish();
}

TEST(SyncEdgesTest, WaitsWithinTheDriftOfClocksKeepTheirEdge) {
  const Trace trace = DriftingTrace();
  Diagnostics diagnostics;
  const Correlation links = BuildCorrelation(trace, OperatorRule(trace), diagnostics);
  EXPECT_EQ(FindSyncEdges(trace, links).backward, 1U);
  const ClockedSyncs found = FindClockedSyncs(trace, links);
  EXPECT_EQ(found.syncs.backward, 0U);
  ASSERT_EQ(found.syncs.edges.size(), 1U);
  EXPECT_EQ(found.syncs.edges[0].kind, SyncKind::kDevice);
  EXPECT_EQ(found.clocks.clocks[0].contradicting, 1);
}

TEST(SyncEdgesTest, CopiesToTheHostSayHowFarTheClockIs) {
  TraceMaker maker;
  maker.Call("hipMemcpy", 1, {0, 50'000}, 1);
  maker.Device(DeviceKind::kMemcpy, "Memcpy DtoH (Device -> Pageable)", 0, 7, {10'000, 41'500},
               {.correlation = 1});
  const Trace trace = maker.Finish();
  Diagnostics diagnostics;
  const Correlation links = BuildCorrelation(trace, OperatorRule(trace), diagnostics);
  EXPECT_TRUE(FindSyncEdges(trace, links).edges.empty());
  const ClockedSyncs found = FindClockedSyncs(trace, links);
  EXPECT_EQ(found.clocks.clocks[0].skew_ns, -1'500);
  EXPECT_EQ(found.syncs.edges.size(), 1U);
}

}  // namespace

}  // namespace borescope::internal
