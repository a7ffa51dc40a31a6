#include "borescope/packs/hta/recorded/recorded_frame.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "borescope/analysis/core/row.h"

namespace borescope::internal {
namespace {

RecordedFrame Read(std::string_view events) {
  const auto source = OpenMemory(events);
  EventTexts texts(*source, 0, events.size());
  RecordedFrame frame(3);
  EXPECT_TRUE(frame.Read(texts).ok());
  return frame;
}

std::map<std::string, std::string> TypesOf(const RecordedFrame& frame) {
  const Table table = frame.ColumnTable();
  std::map<std::string, std::string> types;
  for (size_t row = 0; row < table.rows(); ++row) {
    types[Texts(table, "column")[row]] = Texts(table, "type")[row];
  }
  return types;
}

TEST(RecordedFrame, TimesAreRoundedWhereAnyEventHasAFraction) {
  Table events = Read(R"({"cat":"cpu_op","name":"a","ts":10.2,"dur":0.5},
                         {"cat":"cpu_op","name":"b","ts":20,"dur":3.9})")
                     .TakeEvents();
  EXPECT_EQ(Floats(events, "ts_us"), (FloatValues{11, 20}));
  EXPECT_EQ(Floats(events, "dur_us"), (FloatValues{-1, 3}));
  EXPECT_EQ(Floats(events, "end_us"), (FloatValues{10, 23}));
}

TEST(RecordedFrame, EventsWithoutDurationOrCategoryAreNoRowsButCount) {
  RecordedFrame frame = Read(R"({"ph":"M","name":"n","pid":"Spans","ts":1},
                                {"cat":"Trace","name":"t","ts":1,"dur":5},
                                {"cat":null,"name":"t","ts":1,"dur":5},
                                {"cat":"cpu_op","name":"a","pid":1,"ts":2,"dur":5})");
  const std::map<std::string, std::string> types = TypesOf(frame);
  EXPECT_EQ(types.at("pid"), "object");
  EXPECT_EQ(types.at("dur"), "float");
  EXPECT_EQ(types.at("ts"), "int");
  EXPECT_EQ(types.at("end"), "sum");
  EXPECT_EQ(Ints(frame.TakeEvents(), "index"), IntValues{3});
}

TEST(RecordedFrame, TheLastOfSeveralPartnersCounts) {
  const Table events = Read(R"({"cat":"x","name":"p","ts":0,"dur":1},
      {"cat":"cuda_runtime","name":"g","ts":1,"dur":1,"args":{"correlation":7}},
      {"cat":"kernel","name":"k","ts":2,"dur":1,"args":{"correlation":7,"stream":7}},
      {"cat":"kernel","name":"l","ts":3,"dur":1,"args":{"correlation":7,"stream":7}},
      {"cat":"kernel","name":"m","ts":4,"dur":1,"args":{"correlation":8,"stream":7}})")
                           .TakeEvents();
  EXPECT_EQ(Ints(events, "index_correlation"), (IntValues{-1, 3, 1, 1, 0}));
}

TEST(RecordedFrame, OfOverlappingStepsTheLaterInTheFileCounts) {
  const Table events = Read(R"({"cat":"x","name":"ProfilerStep#2","ts":0,"dur":10},
      {"cat":"x","name":"ProfilerStep # 1","ts":5,"dur":2},
      {"cat":"cpu_op","name":"a","ts":6,"dur":1},
      {"cat":"cpu_op","name":"b","ts":7,"dur":1},
      {"cat":"cpu_op","name":"c","ts":10,"dur":1},
      {"cat":"kernel","name":"k","ts":6,"dur":1,"args":{"correlation":7,"stream":0}},
      {"cat":"cpu_op","name":"triton","ts":6,"dur":1,"args":{"stream":0}})")
                           .TakeEvents();
  const Column& iteration = *events.Find("iteration");
  EXPECT_EQ(std::get<IntValues>(iteration.values), (IntValues{2, 1, 1, 2, -1, -1, 1}));
  EXPECT_TRUE(iteration.IsMissing(5));
  EXPECT_FALSE(iteration.IsMissing(6));
}

TEST(RecordedFrame, CountersAreColumns) {
  const Table events = Read(R"({"cat":"cuda_profiler_range","name":"k","ts":0,"dur":1,
                                "args":{"b.sum":2,"a.sum":3.5}},
                               {"cat":"cpu_op","name":"a","ts":6,"dur":1,"args":{"c.sum":1}})")
                           .TakeEvents();
  EXPECT_EQ(Floats(events, "a.sum"), (FloatValues{3.5, -1}));
  EXPECT_EQ(Floats(events, "b.sum"), (FloatValues{2, -1}));
  EXPECT_EQ(events.Find("c.sum"), nullptr);
}

TEST(RecordedFrame, ValuesOfOtherTypesAreKept) {
  const Table events = Read(R"({"cat":"cpu_op","name":"a","tid":"main","ts":0,"dur":1,
      "args":{"bytes":"12","correlation":null,"stream":"7","Input Dims":[[1]]}})")
                           .TakeEvents();
  EXPECT_EQ(Texts(events, "other_values")[0], R"({"tid": "main", "bytes": "12"})");
  EXPECT_TRUE(events.Find("correlation")->IsMissing(0));
  EXPECT_EQ(Ints(events, "stream"), IntValues{7});
  EXPECT_EQ(Texts(events, "input_dims")[0], "[[1]]");
}

}  // namespace
}  // namespace borescope::internal
