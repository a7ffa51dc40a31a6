#include "borescope/convert/perfetto/perfetto_writer.h"

#include <gtest/gtest.h>

#include <map>
#include <protozero/pbf_reader.hpp>

#include "borescope/testing/trace_maker.h"

namespace borescope::internal {
namespace {

using protozero::pbf_reader;
using testkit::TraceMaker;

// A trace packet by packet, as lines of text.
class Reader {
 public:
  explicit Reader(const std::string& bytes) {
    for (pbf_reader trace(bytes); trace.next(1);) {
      ReadPacket(trace.get_message());
    }
  }

  std::string tracks;  // "2 in 1: thread 7"
  std::string events;  // "begin gemm on 2 at 5, in 1"

 private:
  void ReadPacket(pbf_reader packet) {
    uint64_t ts_ns = 0;
    pbf_reader event;
    while (packet.next()) {
      switch (packet.tag()) {
        case 8:
          ts_ns = packet.get_uint64();
          break;
        case 11:
          event = packet.get_message();
          break;
        case 12:
          ReadNames(packet.get_message());
          break;
        case 60:
          ReadTrack(packet.get_message());
          break;
        default:
          packet.skip();
      }
    }
    if (event.length() != 0) {
      ReadEvent(event, ts_ns);
    }
  }

  void ReadNames(pbf_reader interned) {
    while (interned.next(2)) {
      pbf_reader entry = interned.get_message();
      uint64_t id = 0;
      while (entry.next()) {
        if (entry.tag() == 1) {
          id = entry.get_uint64();
        } else {
          names_[id] = entry.get_string();
        }
      }
    }
  }

  void ReadTrack(pbf_reader track) {
    std::string line;
    while (track.next()) {
      if (track.tag() == 1) {
        line += std::to_string(track.get_uint64());
      } else if (track.tag() == 5) {
        line += " in " + std::to_string(track.get_uint64());
      } else if (track.tag() == 2) {
        line += ": " + track.get_string();
      } else if (track.tag() == 8) {
        line += " (counter)";
        track.skip();
      } else {
        track.skip();
      }
    }
    tracks += line + "\n";
  }

  void ReadEvent(pbf_reader event, uint64_t ts_ns) {
    constexpr const char* kTypes[] = {"", "begin", "end", "instant", "count"};
    std::string what;
    std::string flows;
    uint64_t track = 0;
    while (event.next()) {
      switch (event.tag()) {
        case 9:
          what = kTypes[event.get_enum()];
          break;
        case 10:
          what += " " + names_[event.get_uint64()];
          break;
        case 11:
          track = event.get_uint64();
          break;
        case 30:
          what += " " + std::to_string(event.get_int64());
          break;
        case 47:
          flows += ", out " + std::to_string(event.get_fixed64());
          break;
        case 48:
          flows += ", in " + std::to_string(event.get_fixed64());
          break;
        default:
          event.skip();
      }
    }
    events += what + " on " + std::to_string(track) + " at " + std::to_string(ts_ns) + flows + "\n";
  }

  std::map<uint64_t, std::string> names_;
};

Reader Write(const Trace& trace) {
  const TraceIndex index = BuildIndex(trace, 1);
  StringSink sink;
  EXPECT_TRUE(WritePerfetto({trace, index, {}, {}}, sink).ok());
  return Reader(sink.text());
}

TEST(PerfettoWriter, WritesSlicesFlowsAndCounters) {
  TraceMaker maker;
  maker.Op("op", 1, {0, 50});
  maker.Call("cudaLaunchKernel", 1, {10, 2}, 1);
  maker.Kernel("k", 7, {20, 5}, {1});
  const Reader read = Write(maker.Finish());
  EXPECT_EQ(read.tracks,
            "1\n2 in 1\n3: GPU 0\n4 in 3: stream 7\n5 in 3: GPU busy (counter)\n"
            "6 in 3: QueueDepth stream 7 (counter)\n");
  EXPECT_EQ(read.events,
            "begin op on 2 at 0\n"
            "begin cudaLaunchKernel on 2 at 10, out 1\n"
            "end on 2 at 12\n"
            "end on 2 at 50\n"
            "begin k on 4 at 20, in 1\n"
            "end on 4 at 25\n"
            "count 1 on 5 at 20\n"
            "count 0 on 5 at 25\n"
            "count 1 on 6 at 10\n"
            "count 0 on 6 at 25\n");
}

TEST(PerfettoWriter, GivesOverlapsLinesOfTheirOwn) {
  TraceMaker maker;
  maker.Kernel("a", 7, {0, 10});
  maker.Kernel("b", 7, {5, 10});
  const Reader read = Write(maker.Finish());
  EXPECT_TRUE(read.tracks.starts_with("1: GPU 0\n2 in 1: stream 7\n3 in 2: stream 7\n"));
  EXPECT_TRUE(
      read.events.starts_with("begin a on 2 at 0\nbegin b on 3 at 5\n"
                              "end on 2 at 10\nend on 3 at 15\n"))
      << read.events;
}

TEST(PerfettoWriter, MovesTimesBeforeZero) {
  TraceMaker maker;
  maker.Op("op", 1, {-100, 50});
  EXPECT_EQ(Write(maker.Finish()).events, "begin op on 2 at 0\nend on 2 at 50\n");
}

TEST(PerfettoWriter, WritesAnEmptyTrace) {
  const Reader read = Write(TraceMaker().Finish());
  EXPECT_EQ(read.tracks + read.events, "");
}

// The timeline of a part is as long as the part.
TEST(PerfettoWriter, SlicesOfAPartEndAtItsEdges) {
  TraceMaker maker;
  maker.Op("main", 1, {0, 1000});
  maker.Op("before", 1, {0, 50});
  maker.Call("launch", 1, {20, 5}, 1);
  maker.Kernel("long", 7, {90, 40}, {1});
  maker.Kernel("after", 7, {300, 5});
  const Trace trace = maker.Finish();
  const TraceIndex index = BuildIndex(trace, 1);
  const TimeWindow window{100, 200};
  const KeptRows rows = RowsOfWindow(trace, index, window);
  StringSink sink;
  const Result<ConvertCounts> counts = WritePerfetto({trace, index, window, {}, &rows, {}}, sink);
  ASSERT_TRUE(counts.ok());
  EXPECT_EQ(counts->written, 2U);
  EXPECT_EQ(counts->outside, 3U);
  const Reader read(sink.text());
  EXPECT_EQ(read.events,
            "begin main on 2 at 100\n"
            "end on 2 at 200\n"
            "begin long on 4 at 100\n"
            "end on 4 at 130\n"
            "count 1 on 5 at 100\n"
            "count 0 on 5 at 130\n"
            "count 1 on 6 at 100\n"
            "count 0 on 6 at 130\n");
}

}  // namespace
}  // namespace borescope::internal
