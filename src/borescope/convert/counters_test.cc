#include "borescope/convert/counters.h"

#include <gtest/gtest.h>

#include "borescope/testing/trace_maker.h"

namespace borescope::internal {
namespace {

using testkit::TraceMaker;
using Points = std::vector<CounterPoint>;

struct Made {
  Trace trace;
  TraceIndex index;
  ConvertInput input() const { return {trace, index, {}, {}}; }
};

Made Make(TraceMaker maker) {
  Trace trace = maker.Finish();
  TraceIndex index = BuildIndex(trace, 1);
  return {std::move(trace), std::move(index)};
}

TrackId StreamTrack(const Trace& trace, int64_t stream) {
  const Tracks& tracks = trace.tracks();
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] == TrackKind::kDevice && tracks.tid[track] == stream) {
      return {track};
    }
  }
  return {};
}

TraceMaker TwoStreams() {
  TraceMaker maker;
  maker.Call("cudaLaunchKernel", 1, {10, 2}, 1);
  maker.Call("cudaLaunchKernel", 1, {20, 2}, 2);
  maker.Call("cudaLaunchKernel", 1, {40, 2}, 3);
  maker.Kernel("a", 7, {15, 20}, {1});
  maker.Kernel("b", 7, {35, 5}, {2});
  maker.Kernel("c", 7, {38, 4}, {3});  // before its launch
  maker.Kernel("unlinked", 8, {50, 10}, {99});
  maker.Device(DeviceKind::kSync, "wait", 0, 7, {42, 100});
  return maker;
}

TEST(QueueDepth, CountsFromTheLaunchToTheEndOfTheWork) {
  const Made made = Make(TwoStreams());
  EXPECT_EQ(QueueDepth(made.input(), StreamTrack(made.trace, 7)),
            (Points{{10, 1}, {20, 2}, {35, 1}, {38, 2}, {40, 1}, {42, 0}}));
  EXPECT_EQ(QueueDepth(made.input(), StreamTrack(made.trace, 8)), Points());
}

TEST(BusySteps, AreOneWhereAnythingRuns) {
  const Made made = Make(TwoStreams());
  const std::vector<DeviceTracks> devices = DevicesOf(made.trace);
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(BusySteps(made.input(), devices[0]), (Points{{15, 1}, {42, 0}, {50, 1}, {60, 0}}));
}

TEST(DevicesOf, FindsEachOnce) {
  TraceMaker maker;
  maker.Host(HostKind::kOp, "op", 1, {0, 1});
  maker.Device(DeviceKind::kKernel, "k", 3, 7, {0, 1});
  maker.Device(DeviceKind::kKernel, "k", 1, 7, {0, 1});
  maker.Device(DeviceKind::kKernel, "k", 3, 8, {0, 1});
  const Made made = Make(std::move(maker));
  const std::vector<DeviceTracks> devices = DevicesOf(made.trace);
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[0].device, 1);
  EXPECT_EQ(devices[1].device, 3);
  EXPECT_EQ(devices[1].end_track - devices[1].first_track, 2U);
}

TEST(MonitorName, LeavesOutWhatWasNotRecorded) {
  TraceMaker maker;
  Samples& samples = maker.part().data.samples;
  for (const int64_t device : {int64_t{3}, kMissing}) {
    const uint32_t row = AddMissingRow(samples);
    samples.device[row] = device;
    samples.device_type[row] = maker.part().Intern(device == 3 ? "cpu" : "");
    samples.name[row] = maker.part().Intern("power");
  }
  const Trace trace = maker.Finish();
  EXPECT_EQ(MonitorName(trace, 0), "cpu 3 power");
  EXPECT_EQ(MonitorName(trace, 1), "power");
}

}  // namespace
}  // namespace borescope::internal
