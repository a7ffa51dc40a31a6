#include "borescope/trace/trace_builder.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>

#include "borescope/testing/trace_maker.h"

namespace borescope::internal {

namespace {

std::vector<uint32_t> RowNumbers(size_t count) {
  std::vector<uint32_t> rows(count);
  std::iota(rows.begin(), rows.end(), 0U);
  return rows;
}

TEST(OrderByTrackTest, GroupsByTrackAndSortsEach) {
  const std::vector<uint32_t> tracks{2, 0, 2, 0, 2};
  const std::vector<int> keys{5, 9, 3, 1, 4};
  const TrackOrder order = OrderByTrack(
      5, 4, [&](uint32_t row) { return tracks[row]; },
      [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; }, 1);
  EXPECT_EQ(order.rows, (std::vector<uint32_t>{3, 1, 2, 4, 0}));
  EXPECT_EQ(order.first, (std::vector<uint32_t>{0, 2, 2, 5, 5}));
}

TEST(OrderByTrackThreadsTest, ThreadsChangeNothing) {
  std::mt19937 random(8);
  std::vector<uint32_t> tracks(5000);
  std::vector<int> keys(tracks.size());
  std::generate(tracks.begin(), tracks.end(), [&] { return random() % 23; });
  std::generate(keys.begin(), keys.end(), [&] { return static_cast<int>(random() % 100); });
  const auto order = [&](int threads) {
    return OrderByTrack(
               tracks.size(), 23, [&](uint32_t row) { return tracks[row]; },
               [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; }, threads)
        .rows;
  };
  std::vector<uint32_t> want = RowNumbers(tracks.size());
  std::stable_sort(want.begin(), want.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(tracks[a], keys[a]) < std::pair(tracks[b], keys[b]);
  });
  EXPECT_EQ(order(1), want);
  EXPECT_EQ(order(5), want);
}

TEST(OrderByTrackThreadsTest, OneTrackWithMostRowsIsSortedBySeveralThreads) {
  std::mt19937 random(9);
  std::vector<uint32_t> tracks(400'000);
  std::vector<int> keys(tracks.size());
  std::generate(tracks.begin(), tracks.end(), [&] { return random() % 16 == 0 ? 0 : 1; });
  std::generate(keys.begin(), keys.end(), [&] { return static_cast<int>(random() % 1000); });
  std::vector<uint32_t> want = RowNumbers(tracks.size());
  std::stable_sort(want.begin(), want.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(tracks[a], keys[a]) < std::pair(tracks[b], keys[b]);
  });
  const TrackOrder order = OrderByTrack(
      tracks.size(), 2, [&](uint32_t row) { return tracks[row]; },
      [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; }, 4);
  EXPECT_EQ(order.rows, want);
}

using testkit::TraceMaker;

constexpr int64_t kDay = int64_t{24} * 3600 * 1'000'000'000;

std::vector<std::string> HostNames(const Trace& trace) {
  std::vector<std::string> names;
  for (uint32_t row = 0; row < trace.host().size(); ++row) {
    names.emplace_back(trace.Name(HostId{row}));
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(TraceBuilderTest, NothingInGivesAnEmptyTrace) {
  TraceBuilder builder;
  const Trace trace = builder.Finish({}, 0, 1);
  EXPECT_EQ(trace.host().size(), 0U);
  EXPECT_EQ(trace.tracks().size(), 0U);
  EXPECT_EQ(trace.span_ns(), 0);
}

TEST(TraceBuilderTest, RowsSortByStartThenLongestThenOutermostKindThenSource) {
  TraceMaker maker;
  maker.Host(HostKind::kRuntime, "call", 1, {10, 5});
  maker.Host(HostKind::kOp, "short", 1, {10, 2});
  maker.Host(HostKind::kOp, "twin 1", 1, {10, 5});
  maker.Host(HostKind::kOp, "twin 2", 1, {10, 5});
  maker.Host(HostKind::kPython, "frame", 1, {10, 5});
  maker.Host(HostKind::kAnnotation, "step", 1, {10, 90});
  maker.Host(HostKind::kOther, "early", 1, {-3, 1});
  EXPECT_EQ(HostNames(maker.Finish()),
            (Names{"early", "step", "frame", "twin 1", "twin 2", "call", "short"}));
}

TEST(TraceBuilderTest, TracksAreHostThreadsThenStreamsByNumber) {
  TraceMaker maker;
  maker.Kernel("k", 20, {0, 1});
  maker.Op("b", 9, {0, 1});
  maker.Device(DeviceKind::kKernel, "k", 0, 7, {0, 1});
  maker.Op("a", -4, {0, 1});
  const Trace trace = maker.Finish();
  const Tracks& tracks = trace.tracks();
  EXPECT_EQ(tracks.kind, (std::vector{TrackKind::kHost, TrackKind::kHost, TrackKind::kDevice,
                                      TrackKind::kDevice}));
  EXPECT_EQ(tracks.tid, (std::vector<int64_t>{-4, 9, 7, 20}));
  EXPECT_EQ(trace.StreamOf({1}), 20);
  EXPECT_EQ(trace.DeviceOf({1}), 0);
}

TEST(TraceBuilderTest, EachTrackIsOneSliceOfItsSpine) {
  TraceMaker maker;
  for (int i = 0; i < 6; ++i) {
    maker.Op("op", i % 3, {10 - i, 1});
    maker.Kernel("k", i % 2, {i, 1});
  }
  const Trace trace = maker.Finish();
  const Tracks& tracks = trace.tracks();
  EXPECT_EQ(tracks.first_row, (std::vector<uint32_t>{0, 2, 4, 0, 3}));
  EXPECT_EQ(tracks.end_row, (std::vector<uint32_t>{2, 4, 6, 3, 6}));
  for (size_t track = 0; track < 3; ++track) {
    for (uint32_t row = tracks.first_row[track]; row < tracks.end_row[track]; ++row) {
      EXPECT_EQ(trace.host().track[row].value, track);
    }
  }
}

// A thread number may also be a stream number, and occur in another process.
TEST(TraceBuilderTest, TracksOfOneNumberStayApart) {
  TracePart part;
  const TrackId host = part.Track(TrackKind::kHost, 7, 7);
  EXPECT_NE(part.Track(TrackKind::kDevice, 7, 7), host);
  EXPECT_NE(part.Track(TrackKind::kHost, 8, 7), host);
  EXPECT_EQ(part.Track(TrackKind::kHost, 7, 7), host);
  EXPECT_EQ(part.FindTrack(TrackKind::kHost, 7, 7), host);
  EXPECT_FALSE(part.FindTrack(TrackKind::kHost, 7, 8).valid());
}

TEST(TraceBuilderTest, NamesGoToThreadsAndStreams) {
  TraceMaker maker;
  maker.Op("op", 5, {0, 1});
  maker.Kernel("k", 5, {0, 1});
  TracePart& part = maker.part();
  part.thread_names.push_back({100, 5, part.Intern("thread 5 (python)")});
  part.thread_names.push_back({0, 5, part.Intern("stream 5 ")});
  part.thread_names.push_back({0, 99, part.Intern("stream 99 ")});  // of no track
  const Trace trace = maker.Finish();
  ASSERT_EQ(trace.tracks().size(), 2U);
  EXPECT_EQ(trace.Text(trace.tracks().name[0]), "thread 5 (python)");
  EXPECT_EQ(trace.Text(trace.tracks().name[1]), "stream 5 ");
}

// Strings, tracks, details and collectives of a later part have numbers of their own.
TEST(TraceBuilderTest, NumbersOfALaterPartAreTranslated) {
  TraceMaker first;
  first.Op("a", 1, {0, 1}, {.external_id = 1});
  first.Call("launch", 1, {0, 1}, 11);
  TraceMaker second;
  second.Op("b", 2, {0, 1}, {.external_id = 2});
  second.Op("a", 1, {5, 1}, {.external_id = 3});
  second.Call("launch", 2, {0, 1}, 12);
  TraceBuilder builder;
  builder.Append(first.TakePart());
  builder.Append(second.TakePart());
  const Trace trace = builder.Finish({}, 0, 1);
  ASSERT_EQ(HostNames(trace), (Names{"a", "launch", "a", "b", "launch"}));
  const HostEvents& host = trace.host();
  const auto external_id = [&](uint32_t row) { return trace.ops().external_id[host.detail[row]]; };
  EXPECT_EQ(external_id(0), 1);
  EXPECT_EQ(external_id(2), 3);
  EXPECT_EQ(external_id(3), 2);
  EXPECT_EQ(trace.runtime_calls().correlation[host.detail[1]], 11);
  EXPECT_EQ(trace.runtime_calls().correlation[host.detail[4]], 12);
  EXPECT_EQ(host.name[0], host.name[2]);
}

TEST(TraceBuilderTest, CollectivesOfALaterPartAreTranslated) {
  const auto part = [](std::string_view name) {
    TraceMaker maker;
    maker.Op("record_param_comms", 1, {0, 1});
    Collectives& rows = maker.part().data.collectives;
    rows.collective.push_back(maker.part().Intern(name));
    for (auto* column : {&rows.dtype, &rows.group, &rows.group_desc, &rows.ranks}) {
      column->push_back(StringId{0});
    }
    for (auto* column : {&rows.in_elems, &rows.out_elems, &rows.group_size, &rows.sequence}) {
      column->push_back(kMissing);
    }
    maker.part().data.ops.collective[0] = 0;
    return maker.TakePart();
  };
  TraceBuilder builder;
  builder.Append(part("allreduce"));
  builder.Append(part("broadcast"));
  const Trace trace = builder.Finish({}, 0, 1);
  EXPECT_EQ(trace.ops().collective, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(trace.Text(trace.collectives().collective[1]), "broadcast");
}

// Appends one pause and one sample of the stack a;b.
void AddStack(TracePart& part, int64_t tid, int64_t ts_ns, const std::string& outer) {
  TraceData& data = part.data;
  const TrackId track = part.Track(TrackKind::kHost, 100, tid);
  data.pauses.ts_ns.push_back(ts_ns);
  data.pauses.end_ns.push_back(ts_ns + 1);
  data.pauses.track.push_back(track);
  data.stack_frames.name.push_back(part.Intern(outer));
  data.stack_frames.parent.push_back(kNoDetail);
  data.stack_frames.name.push_back(part.Intern(outer + "1"));
  data.stack_frames.parent.push_back(static_cast<uint32_t>(data.stack_frames.size() - 2));
  data.stack_samples.ts_ns.push_back(ts_ns);
  data.stack_samples.track.push_back(track);
  data.stack_samples.frame.push_back(static_cast<uint32_t>(data.stack_frames.size() - 1));
}

TEST(TraceBuilderTest, PausesAndSampledStacksOfAllPartsComeByThreadAndTime) {
  TraceMaker one;
  AddStack(one.part(), 9, 30, "b");
  AddStack(one.part(), 9, 10, "a");
  TraceMaker two;
  AddStack(two.part(), 9, 20, "c");
  AddStack(two.part(), 3, 40, "d");
  TraceBuilder builder;
  builder.Append(one.TakePart());
  builder.Append(two.TakePart());
  const Trace trace = builder.Finish({}, 0, 1);
  const StackSamples& samples = trace.stack_samples();
  const StackFrames& frames = trace.stack_frames();
  std::string text;
  for (size_t row = 0; row < samples.size(); ++row) {
    const uint32_t frame = samples.frame[row];
    text += std::to_string(trace.tracks().tid[samples.track[row].value]) + " @" +
            std::to_string(samples.ts_ns[row]) + " " +
            std::string(trace.Text(frames.name[frames.parent[frame]])) + ";" +
            std::string(trace.Text(frames.name[frame])) + "\n";
  }
  EXPECT_EQ(text, "3 @40 d;d1\n9 @10 a;a1\n9 @20 c;c1\n9 @30 b;b1\n");
  EXPECT_EQ(trace.pauses().ts_ns, (std::vector<int64_t>{40, 10, 20, 30}));
}

// A call of each part, made in the innermost of its frames.
TEST(TraceBuilderTest, StacksOfCallsReferToTheCallsOfTheirPart) {
  TraceBuilder builder;
  for (const char* outer : {"a", "b"}) {
    TraceMaker maker;
    AddStack(maker.part(), 9, 10, outer);
    TraceData& data = maker.part().data;
    AddMissingRow(data.runtime_calls);
    data.call_stacks.call.push_back(AddMissingRow(data.runtime_calls));
    data.call_stacks.frame.push_back(1);
    builder.Append(maker.TakePart());
  }
  const Trace trace = builder.Finish({}, 0, 1);
  EXPECT_EQ(trace.call_stacks().call, (std::vector<uint32_t>{1, 3}));
  EXPECT_EQ(trace.call_stacks().frame, (std::vector<uint32_t>{1, 3}));
}

TEST(TraceBuilderTest, EventCountsAreMergedAndSorted) {
  const auto part = [](std::string_view category, char phase, int64_t dur_ns) {
    TracePart one;
    one.CountEvent(phase, one.Intern(category), dur_ns);
    one.CountEvent(phase, one.Intern(category), 1);
    return one;
  };
  TraceBuilder builder;
  builder.Append(part("kernel", 'X', 10));
  builder.Append(part("cpu_op", 'X', 20));
  builder.Append(part("kernel", 'X', 30));
  builder.Append(part("", 'M', 0));
  const Trace trace = builder.Finish({}, 0, 1);
  const std::vector<EventCount>& counts = trace.event_counts();
  ASSERT_EQ(counts.size(), 3U);
  EXPECT_EQ(counts[0].phase, 'M');
  EXPECT_EQ(counts[0].count, 2U);
  EXPECT_EQ(trace.Text(counts[1].category), "cpu_op");
  EXPECT_EQ(counts[2].count, 4U);
  EXPECT_EQ(counts[2].total_ns, 42);
}

TEST(TraceBuilderTest, TotalsOfHostileDurationsSaturate) {
  TracePart part;
  constexpr int64_t kHuge = int64_t{1} << 61;
  for (int i = 0; i < 8; ++i) {
    part.CountEvent('X', StringId{0}, kHuge);
  }
  EXPECT_EQ(part.data.event_counts[0].total_ns, std::numeric_limits<int64_t>::max());
}

TEST(TraceBuilderTest, BeginAndEndCoverBothSpines) {
  TraceMaker maker;
  maker.Op("op", 1, {50, 10});
  maker.Kernel("k", 7, {-20, 200});
  maker.Kernel("k", 7, {100, 1});
  const Trace trace = maker.Finish();
  EXPECT_EQ(trace.begin_ns(), -20);
  EXPECT_EQ(trace.end_ns(), 180);
}

// A run of which only monitors know.
TEST(TraceBuilderTest, BeginAndEndCoverSamplesWhereNothingElseIs) {
  TraceMaker maker;
  for (const int64_t ts_ns : {1000, 400}) {
    Samples& samples = maker.part().data.samples;
    const uint32_t row = AddMissingRow(samples);
    samples.ts_ns[row] = ts_ns;
    samples.end_ns[row] = ts_ns + 50;
  }
  TraceMaker with_event;
  with_event.part().data.samples = maker.part().data.samples;
  with_event.Op("op", 1, {600, 10});
  const Trace alone = maker.Finish();
  EXPECT_EQ(alone.begin_ns(), 400);
  EXPECT_EQ(alone.end_ns(), 1050);
  const Trace trace = with_event.Finish();
  EXPECT_EQ(trace.begin_ns(), 600);
  EXPECT_EQ(trace.end_ns(), 610);
}

TEST(TraceBuilderTest, MemoryEventsComeInTimeOrder) {
  TracePart part;
  MemoryEvents& memory = part.data.memory;
  for (const int64_t ts_ns : {5, 3, 9, 3}) {
    memory.ts_ns.push_back(ts_ns);
    memory.track.push_back(part.Track(TrackKind::kHost, 1, 1));
    memory.device_type.push_back(1);
    memory.device.push_back(0);
    memory.address.push_back(memory.size());
    memory.bytes.push_back(64);
    memory.category.push_back(MemoryCategory::kNone);
    memory.total_allocated.push_back(0);
    memory.total_reserved.push_back(0);
  }
  TraceBuilder builder;
  builder.Append(std::move(part));
  const Trace trace = builder.Finish({}, 0, 1);
  EXPECT_EQ(trace.memory().ts_ns, (std::vector<int64_t>{3, 3, 5, 9}));
  EXPECT_EQ(trace.memory().address, (std::vector<uint64_t>{2, 4, 1, 3}));
}

TEST(TraceBuilderTest, AnImpossibleDurationIsCutAtTheNextEvent) {
  TraceMaker maker;
  maker.Op("endless", 1, {100, 8 * kDay});
  maker.Op("next", 1, {400, 7 * kDay});
  maker.Op("last", 1, {500, 8 * kDay});
  const Trace trace = maker.Finish();
  EXPECT_EQ(trace.host().dur_ns, (std::vector<int64_t>{300, 7 * kDay, 0}));
  EXPECT_EQ(trace.diagnostics().count(Diag::kImpossibleDuration), 2U);
  EXPECT_EQ(trace.diagnostics().Get(Diag::kImpossibleDuration).first, "endless");
}

// Cutting must not make an event longer than it was.
TEST(TraceBuilderTest, AnImpossibleDurationIsCutEvenIfTheNextEventIsFar) {
  TraceMaker maker;
  maker.Op("endless", 1, {0, 8 * kDay});
  maker.Op("next", 1, {40 * kDay, 1});
  EXPECT_LE(maker.Finish().host().dur_ns[0], 7 * kDay);
}

TEST(TraceBuilderTest, RowsAreInOrderAfterCutting) {
  TraceMaker maker;
  maker.Op("endless", 1, {0, 8 * kDay});
  maker.Op("same start", 1, {0, 50});
  maker.Op("next", 1, {10, 1});
  EXPECT_EQ(HostNames(maker.Finish()), (Names{"same start", "endless", "next"}));
}

// The profiler's own span bounds device work, but not annotations that frame it.
TEST(TraceBuilderTest, DeviceWorkIsNotLongerThanTheProfilerRan) {
  TraceMaker maker;
  maker.Kernel("endless", 7, {0, 2001});
  maker.Kernel("fits", 7, {10, 2000});
  maker.Device(DeviceKind::kAnnotation, "frame", 0, 7, {20, 5000});
  maker.Op("op", 1, {0, 9000});
  TraceBuilder builder;
  builder.Append(maker.TakePart());
  const Trace trace = builder.Finish({}, 2000, 1);
  EXPECT_EQ(trace.device().dur_ns, (std::vector<int64_t>{10, 2000, 5000}));
  EXPECT_EQ(trace.host().dur_ns, (std::vector<int64_t>{9000}));
}

TEST(TraceBuilderThreadsTest, ThreadsChangeNothing) {
  const auto finish = [](int threads) {
    TraceMaker maker;
    for (int i = 0; i < 3000; ++i) {
      maker.Op("op" + std::to_string(i % 7), i % 11, {(i * 37) % 500, i % 13});
    }
    return HostNames(maker.Finish(threads));
  };
  EXPECT_EQ(finish(1), finish(4));
}

TEST(TraceBuilderTest, RoomForMoreRowsAddsNoneAndIsGivenBack) {
  TraceBuilder builder;
  builder.Reserve(100);  // nothing, a hundred times
  for (int i = 0; i < 2; ++i) {
    TraceMaker maker;
    maker.Op("op", 1, {i, 1});
    maker.Kernel("k", 7, {i, 1});
    builder.Append(maker.TakePart());
    builder.Reserve(1000);
  }
  EXPECT_EQ(builder.host_size(), 2U);
  const Trace trace = builder.Finish({}, 0, 1);
  EXPECT_EQ(trace.host().ts_ns, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(trace.ops().size(), 2U);
  EXPECT_EQ(trace.ops().external_id.capacity(), 2U);
  EXPECT_EQ(trace.device().ts_ns.capacity(), 2U);
}

// A part of one host event with these before it.
TracePart PartWithPosition(uint64_t events) {
  TraceMaker maker;
  maker.Op("op", 1, {0, 1});
  TracePart part = maker.TakePart();
  part.data.host.position = {static_cast<uint32_t>(events - 1)};
  part.events = events;
  return part;
}

TEST(TraceBuilderTest, PositionsCountTheEventsOfAllParts) {
  TraceBuilder builder;
  builder.Append(PartWithPosition(3));
  builder.Append(PartWithPosition(1));
  builder.Append(PartWithPosition(uint64_t{1} << 32));
  builder.Append(PartWithPosition(1));
  EXPECT_EQ(builder.Finish({}, 0, 1).host().position,
            (std::vector<uint32_t>{2, 3, kNoPosition, kNoPosition}));
}

TEST(TraceBuilderTest, WithAPartThatHasNonePositionsAreGone) {
  TraceMaker maker;
  maker.Op("op", 1, {0, 1});
  TraceBuilder builder;
  builder.Append(PartWithPosition(3));
  builder.Append(maker.TakePart());
  builder.Append(PartWithPosition(3));
  const Trace trace = builder.Finish({}, 0, 1);
  EXPECT_EQ(trace.host().size(), 3U);
  EXPECT_TRUE(trace.host().position.empty());
}

}  // namespace

}  // namespace borescope::internal
