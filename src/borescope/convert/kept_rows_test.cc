#include "borescope/convert/kept_rows.h"

#include <gtest/gtest.h>

#include <string>

#include "borescope/convert/chrome/chrome_writer.h"
#include "borescope/testing/trace_maker.h"
#include "borescope/trace/recorded_cut.h"

namespace borescope::internal {
namespace {

using testkit::TraceMaker;

// The names of what is kept, of the host and of devices.
std::string Kept(const Trace& trace, const TimeWindow& window) {
  const KeptRows rows = RowsOfWindow(trace, BuildIndex(trace, 1), window);
  std::string names;
  for (uint32_t row = 0; row < rows.host.size(); ++row) {
    names += rows.host[row] != 0 ? std::string(trace.Name(HostId{row})) + " " : "";
  }
  names += "|";
  for (uint32_t row = 0; row < rows.device.size(); ++row) {
    names += rows.device[row] != 0 ? " " + std::string(trace.Name(DeviceId{row})) : "";
  }
  return names;
}

TEST(RowsOfWindow, WhatReachesIntoTheWindowIsKept) {
  TraceMaker maker;
  maker.Op("before", 1, {0, 99});
  maker.Op("into", 1, {90, 10});
  maker.Op("beyond", 1, {180, 500});
  maker.Op("after", 1, {201, 5});
  EXPECT_EQ(Kept(maker.Finish(), {100, 200}), "into beyond after |");  // which `beyond` calls
  TraceMaker other;
  other.Op("before", 1, {0, 99});
  other.Op("around", 1, {99, 500});
  other.Op("after", 1, {201, 5});
  EXPECT_EQ(Kept(other.Finish(), {100, 200}), "around |");
}

// The host runs ahead: work that waits in the queue during the whole window was launched before it
// and runs after it.
TEST(RowsOfWindow, WorkThatWaitsIsKeptWithItsLaunch) {
  TraceMaker maker;
  maker.Op("caller", 1, {0, 40});
  maker.Call("launch 1", 1, {10, 2}, 1);
  maker.Call("launch 2", 1, {20, 2}, 2);
  maker.Call("launch 3", 1, {50, 2}, 3);
  maker.Kernel("ran", 7, {15, 5}, {1});
  maker.Kernel("waits", 7, {300, 5}, {2});
  maker.Kernel("waits too", 7, {310, 5}, {3});
  EXPECT_EQ(Kept(maker.Finish(), {100, 200}),
            "caller launch 1 launch 2 launch 3 | ran waits waits too");
}

TEST(RowsOfWindow, OfEveryStreamItsNeighboursAre) {
  TraceMaker maker;
  maker.Kernel("long ago", 7, {0, 5});
  maker.Kernel("last", 7, {50, 5});
  maker.Kernel("in", 7, {120, 5});
  maker.Kernel("next", 7, {250, 5});
  maker.Kernel("later", 7, {260, 5});
  maker.Kernel("other", 9, {0, 5});
  EXPECT_EQ(Kept(maker.Finish(), {100, 200}), "| last in next other");
}

// The part says how long it is: else it would seem to end with the last event that began in it.
TEST(RowsOfWindow, TheFileSaysWhichPartItIs) {
  TraceMaker maker;
  maker.Op("step", 1, {0, 122'800});
  maker.Kernel("k", 7, {0, 62'000});
  const Trace trace = maker.Finish();
  const TraceIndex index = BuildIndex(trace, 1);
  const TimeWindow window{0, 75'000};
  const KeptRows rows = RowsOfWindow(trace, index, window);
  StringSink sink;
  const ConvertInput input{trace, index, window, {}, &rows, RecordedCut{0, 75'000, {}, 0, 122'800}};
  ASSERT_TRUE(WriteChrome(input, sink).ok());
  EXPECT_NE(sink.text().find("\"borescopeCut\":{\"begin_ns\":0,\"end_ns\":75000,"
                             "\"recording_begin_ns\":0,\"recording_end_ns\":122800}"),
            std::string::npos)
      << sink.text();
}

}  // namespace
}  // namespace borescope::internal
