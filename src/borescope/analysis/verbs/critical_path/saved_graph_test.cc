#include "borescope/analysis/verbs/critical_path/saved_graph.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/verbs/critical_path/saved_columns.h"
#include "borescope/analysis/verbs/critical_path/tables.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

// A bit of everything: steps, two threads, streams that wait for each other, recorded waits.
const RankView& Plant(TestTrace& trace) {
  trace.Annotation("ProfilerStep#1", {0, 100}).Annotation("ProfilerStep#2", {100, 100});
  trace.Op("aten::a", {1, 30}).Launched("gemm", {5, 5}, {20, 40}, {.correlation = 1});
  trace.Launched("ncclKernel", {12, 5}, {65, 30}, {.correlation = 2, .stream = 9});
  trace.Runtime("cudaEventRecord", {18, 1}, 3).Runtime("cudaStreamWaitEvent", {20, 1}, 4);
  trace.Sync("Stream Wait Event", {21, 0}, {.correlation = 4, .stream = 9}, 3);
  trace.Runtime("cudaStreamSynchronize", {35, 62}, 5);
  trace.Sync("Stream Sync", {36, 61}, {.correlation = 5, .stream = 9});
  trace.Op("dataloader", {101, 20}).Op("aten::b", {125, 20});
  trace.Launched("gemm", {130, 5}, {140, 20}, {.correlation = 6});
  trace.Runtime("cudaDeviceSynchronize", {150, 15}, 7);
  trace.Op("aten::back", {40, 9}, {.forward_thread = 1, .sequence = 3}, 2);
  trace.Python("frame", {0, 190});
  return trace.View(3);
}

std::string Save(const RankView& view, const Params& params = {}) {
  std::string bytes;
  const auto put = [&](std::string_view more) {
    bytes.append(more);
    return Result<void>();
  };
  EXPECT_TRUE(kCriticalPathVerb.saved->save(view, params, put).ok());
  return bytes;
}

Result<SavedAnswer> Load(const std::string& bytes, const Params& params = {}) {
  const std::unique_ptr<ByteSource> source = OpenMemory(bytes);
  return kCriticalPathVerb.saved->load(*source, "x.graph", params);
}

std::string AllOf(const Tables& tables) {
  std::string text;
  for (const Table& table : tables) {
    text += table.name + "\n" + Csv(table);
  }
  return text;
}

std::vector<Params> Questions() {
  std::vector<Params> questions(4);
  questions[1].selection.steps = {{{2, 2}}};
  questions[2].selection.annotation = "ProfilerStep#1";
  questions[3].values = {{"data-load", 0, "aten::b"}};
  return questions;
}

TEST(SavedGraphTest, AnswersAsTheTraceDoes) {
  TestTrace trace;
  const RankView& view = Plant(trace);
  const std::string bytes = Save(view);
  for (const Params& question : Questions()) {
    const Result<SavedAnswer> answer = Load(bytes, question);
    ASSERT_TRUE(answer.ok()) << answer.error().Sentence();
    EXPECT_EQ(AllOf(*answer->tables), AllOf(*kCriticalPathVerb.answer.map(view, question)));
    EXPECT_EQ(answer->rank, 3);
  }
  EXPECT_EQ(Load(bytes)->events, view.trace.host().size() + view.trace.device().size());
}

TEST(SavedGraphTest, HoldsAllWhateverIsSelected) {
  TestTrace trace;
  const RankView& view = Plant(trace);
  for (const Params& question : Questions()) {
    EXPECT_EQ(Save(view, question), Save(view));
  }
}

// Readers clamp a start and a duration each, so that an end may be as late as both together.
TEST(SavedGraphTest, HoldsTheLastMoments) {
  constexpr int64_t kLimitNs = int64_t{1} << 61;
  TestTrace trace;
  trace.Launched("late", {10, 5}, {kLimitNs, kLimitNs}, {1, 7, 0});
  trace.Op("early", {-kLimitNs, 5});
  const Result<SavedAnswer> answer = Load(Save(trace.View()));
  ASSERT_TRUE(answer.ok()) << answer.error().Sentence();
  EXPECT_EQ(AllOf(*answer->tables), AllOf(*kCriticalPathVerb.answer.map(trace.View(), {})));
}

TEST(SavedGraphTest, AnEmptyRecording) {
  TestTrace trace;
  const Result<SavedAnswer> answer = Load(Save(trace.View()));
  ASSERT_TRUE(answer.ok()) << answer.error().Sentence();
  EXPECT_EQ(AllOf(*answer->tables), AllOf(*kCriticalPathVerb.answer.map(trace.View(), {})));
}

TEST(SavedGraphTest, SaysThatAStepIsMissing) {
  TestTrace trace;
  Params question;
  question.selection.steps = {{{7, 7}}};
  const Result<SavedAnswer> answer = Load(Save(Plant(trace)), question);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->tables.error().Sentence(), "x.graph: no such step; recorded are steps 1 to 2");
}

TEST(SavedGraphTest, NamesWhatIsNoGraph) {
  EXPECT_EQ(Load("{}").error().Sentence(),
            "x.graph: byte 0: this is no graph that critical-path `save` wrote; give one, or the "
            "trace without `load`");
  EXPECT_EQ(Load("").error().code, ErrorCode::kUnsupportedFormat);
  TestTrace trace;
  std::string bytes = Save(Plant(trace));
  bytes[kSavedMagic.size()] = 9;
  EXPECT_EQ(Load(bytes).error().Sentence(),
            "x.graph: byte 16: version 9 of saved graphs, of which this borescope reads 3; save "
            "the graph again with this one");
}

TEST(SavedGraphTest, EveryCutIsAnError) {
  TestTrace trace;
  const std::string bytes = Save(Plant(trace));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(Load(bytes.substr(0, size)).ok()) << size;
  }
  EXPECT_EQ(Load(bytes.substr(0, 24)).error().Sentence(),
            "x.graph: byte 24: number is cut off; save the graph again, or check that the copy "
            "finished");
  EXPECT_EQ(Load(bytes + "x").error().Sentence(),
            "x.graph: byte " + std::to_string(bytes.size()) +
                ": end is followed by more bytes; save the graph again, or check that the copy "
                "finished");
}

TEST(SavedGraphTest, EveryChangedByteIsAnError) {
  TestTrace trace;
  const std::string bytes = Save(Plant(trace));
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const int change : {1, 64, 255}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ change);
      EXPECT_FALSE(Load(changed).ok()) << at;
    }
  }
}

// ---- Hostile bytes, with checksums that fit ----

// Where the cells of every column lie in a file.
struct Place {
  std::string what;
  size_t begin;
  size_t size;
};

std::vector<Place> PlacesOf(const std::string& bytes) {
  std::vector<Place> places;
  SavedExtras extras;
  TraceData trace;
  std::vector<HostId> launch_of;
  RecordingGraph recording;
  size_t at = kSavedMagic.size() + sizeof kSavedVersion;
  ForEachSavedColumn(extras, trace, launch_of, recording,
                     [&](std::string_view what, const auto& column) {
                       using Cell = typename std::decay_t<decltype(column)>::value_type;
                       uint64_t cells = 0;
                       std::memcpy(&cells, bytes.data() + at, sizeof cells);
                       at += sizeof cells;
                       places.push_back({std::string(what), at, cells * sizeof(Cell)});
                       at += cells * sizeof(Cell) + sizeof(uint64_t);
                     });
  EXPECT_EQ(at, bytes.size());
  return places;
}

void FitChecksum(const Place& place, std::string& bytes) {
  const uint64_t sum = SavedChecksum(bytes.data() + place.begin, place.size);
  std::memcpy(bytes.data() + place.begin + place.size, &sum, sizeof sum);
}

TEST(SavedGraphTest, ForgedBytesAreAnErrorOrAGraph) {
  TestTrace trace;
  const std::string bytes = Save(Plant(trace));
  size_t refused = 0;
  for (const Place& place : PlacesOf(bytes)) {
    for (size_t at = place.begin; at < place.begin + place.size; ++at) {
      for (const char value : {'\x00', '\x01', '\x05', '\x7f', '\x80', '\xff'}) {
        std::string forged = bytes;
        forged[at] = value;
        FitChecksum(place, forged);
        // It must not crash; any answer about a forged graph will do.
        refused += Load(forged).ok() ? 0 : 1;
      }
    }
  }
  EXPECT_GT(refused, 1000U);
}

// The file with one cell set to another value.
template <class T>
std::string Forge(const std::string& bytes, std::string_view what, size_t row, T value) {
  for (const Place& place : PlacesOf(bytes)) {
    if (place.what == what) {
      std::string forged = bytes;
      std::memcpy(forged.data() + place.begin + row * sizeof(T), &value, sizeof value);
      FitChecksum(place, forged);
      return forged;
    }
  }
  ADD_FAILURE() << what;
  return bytes;
}

TEST(SavedGraphTest, NamesTheCellThatIsWrong) {
  TestTrace trace;
  const std::string bytes = Save(Plant(trace));
  const auto error = [&](const std::string& forged) { return Load(forged).error().Sentence(); };
  EXPECT_EQ(error(Forge(bytes, "edge target", 2, uint32_t{5000})),
            "x.graph: edge 2: leads to no node; save the graph again");
  EXPECT_EQ(error(Forge(bytes, "edge weight", 0, int64_t{-1})),
            "x.graph: edge 0: explains no such time; save the graph again");
  EXPECT_EQ(error(Forge(bytes, "node event", 2, uint32_t{5000})),
            "x.graph: node 2: of no event; save the graph again");
  EXPECT_EQ(error(Forge(bytes, "first edge", 1, uint32_t{5000})),
            "x.graph: node 1: its edges end before they begin; save the graph again");
  EXPECT_EQ(error(Forge(bytes, "host name", 0, uint32_t{5000})),
            "x.graph: host name 0: no text has that number; save the graph again");
  EXPECT_EQ(error(Forge(bytes, "host duration", 1, int64_t{-5})),
            "x.graph: host 1: ends at no time; save the graph again");
  EXPECT_EQ(error(Forge(bytes, "launch", 0, uint32_t{5000})),
            "x.graph: launch 0: by no event; save the graph again");
  EXPECT_EQ(error(Forge(bytes, "wait source", 0, uint32_t{5000})),
            "x.graph: wait 0: for no work; save the graph again");
  EXPECT_EQ(error(Forge(bytes, "number", static_cast<size_t>(SavedNumber::kEndNs),
                        std::numeric_limits<int64_t>::min())),
            fmt::format("x.graph: number {}: no time; save the graph again",
                        static_cast<size_t>(SavedNumber::kEndNs)));
}

// Stretches after the end of every thread would be on the path and in no table.
TEST(SavedGraphTest, NodesBehindTheirThreadAreAnError) {
  TestTrace trace;
  const RankView& view = Plant(trace);
  const RecordingGraph recording = BuildGraph(view, "");
  ASSERT_GT(recording.end_node[0], recording.first_node[0] + 1);
  const std::string forged =
      Forge(Save(view), "end node", 0, static_cast<NodeId>(recording.first_node[0] + 1));
  const std::string error = Load(forged).error().Sentence();
  EXPECT_NE(error.find("of a thread, between nodes that are not of one"), std::string::npos)
      << error;
}

// Times of a forged graph can tie a circle, but not make it endless.
TEST(SavedGraphTest, ACircleEnds) {
  TestTrace trace;
  const RankView& view = Plant(trace);
  RecordingGraph recording = BuildGraph(view, "");
  GraphBuilder builder(0, 10);
  const NodeId a = builder.AddNode(5, NodeSide::kDevice, 0);
  const NodeId b = builder.AddNode(5, NodeSide::kDevice, 0);
  builder.AddEdge(a, b, 0, EdgeKind::kStream);
  builder.AddEdge(b, a, 0, EdgeKind::kStream);
  recording.graph = std::move(builder).Finish();
  recording.facts.threads.clear();
  recording.first_node.clear();
  recording.end_node.clear();
  recording.start_of_work.assign(view.trace.device().size(), kNoNode);
  std::string bytes;
  ASSERT_TRUE(SaveGraph(view, recording, [&](std::string_view more) {
                bytes.append(more);
                return Result<void>();
              }).ok());
  const Result<SavedAnswer> answer = Load(bytes);
  ASSERT_TRUE(answer.ok()) << answer.error().Sentence();
  EXPECT_TRUE(answer->tables.ok());
}

}  // namespace
}  // namespace borescope::internal
