#include "borescope/packs/hta/recorded/recorded_frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
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

TEST(LooseNumber, AsPythonReadsThem) {
  EXPECT_EQ(ReadLooseNumber("12").type, LooseType::kInt);
  EXPECT_EQ(ReadLooseNumber("-12").integer, -12);
  EXPECT_EQ(ReadLooseNumber("12.0").type, LooseType::kFloat);
  EXPECT_EQ(ReadLooseNumber("1e3").number, 1000);
  EXPECT_TRUE(std::isnan(ReadLooseNumber("NaN").number));
  EXPECT_EQ(ReadLooseNumber("").type, LooseType::kNull);
  EXPECT_EQ(ReadLooseNumber("null").type, LooseType::kNull);
}

TEST(LooseNumber, WhatIsNoneOf64Bits) {
  for (const char* text : {"true", "\"1\"", "[1]", "{}", "99999999999999999999", "-"}) {
    EXPECT_EQ(ReadLooseNumber(text).type, LooseType::kOther) << text;
  }
}

std::string_view NameOf(std::initializer_list<LooseType> seen) {
  NumberKind kind;
  for (const LooseType type : seen) {
    kind.See(type);
  }
  return kind.name();
}

TEST(NumberKind, WhatPandasMakesOfAColumn) {
  using enum LooseType;
  EXPECT_EQ(NameOf({kInt}), "int");
  EXPECT_EQ(NameOf({kInt, kFloat}), "float");
  EXPECT_EQ(NameOf({kInt, kNull}), "float");
  EXPECT_EQ(NameOf({kInt, kOther}), "object");
  EXPECT_EQ(NameOf({kNull}), "object");
}

// Yields one byte at a time, so that every position is the end of a piece.
class Dripping final : public ByteSource {
 public:
  explicit Dripping(std::string_view text) : text_(text) {}
  Result<size_t> Read(char* out, size_t capacity) override {
    const size_t count = std::min<size_t>({1, capacity, text_.size()});
    std::copy_n(text_.begin(), count, out);
    text_.remove_prefix(count);
    return count;
  }
  uint64_t stored_bytes() const override { return 0; }
  uint64_t stored_total() const override { return 0; }

 private:
  std::string_view text_;
};

std::vector<std::string> Read(ByteSource& source, uint64_t begin, uint64_t end) {
  EventTexts texts(source, begin, end);
  std::vector<std::string> read;
  for (;;) {
    const Result<std::string_view> text = texts.Next();
    if (!text.ok() || text->empty()) {
      return read;
    }
    read.emplace_back(*text);
  }
}

constexpr std::string_view kText = R"([{"a":"}\"{"}, {"b":[{"c":"\\"}]},{}] {"d":1})";
const std::vector<std::string> kEvents{R"({"a":"}\"{"})", R"({"b":[{"c":"\\"}]})", "{}"};

TEST(EventTexts, ObjectsOfTheListAlone) {
  const auto source = OpenMemory(kText);
  EXPECT_EQ(Read(*source, 1, kText.find("] {")), kEvents);
}

TEST(EventTexts, PiecesMayEndAnywhere) {
  Dripping source(kText);
  EXPECT_EQ(Read(source, 1, kText.find("] {")), kEvents);
}

TEST(EventTexts, AnObjectThatIsCutIsNone) {
  const auto source = OpenMemory(kText.substr(0, kText.size() - 1));
  EXPECT_EQ(Read(*source, 1, kText.size()), kEvents);
}

TEST(EventTexts, LongerThanAPiece) {
  const std::string event = R"({"a":")" + std::string(3 << 20, 'x') + R"("})";
  const std::string text = event + "," + event;
  const auto source = OpenMemory(text);
  EXPECT_EQ(Read(*source, 0, text.size()), (std::vector<std::string>{event, event}));
}

}  // namespace

}  // namespace borescope::internal
