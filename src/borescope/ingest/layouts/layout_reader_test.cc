#include "borescope/ingest/layouts/layout_reader.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "borescope/ingest/events/event_parser.h"

namespace borescope::internal {
namespace {

// An event as Kineto writes it.
std::string Op(const std::string& name, const std::string& ts, const std::string& dims) {
  return "{\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"" + name +
         "\", \"pid\": 1, \"tid\": 2,\n    \"ts\": " + ts +
         ", \"dur\": 7,\n    \"args\": {\n      \"External id\": 5,\"Input Dims\": " + dims +
         ", \"Ev Idx\": 4\n    }\n  }";
}

const std::string kFlow =
    R"({"ph": "f", "id": 7, "pid": 1, "tid": 2, "ts": 3, "cat": "ac2g", "name": "ac2g", "bp": "e"})";

std::string Padded(const std::string& text) { return text + std::string(kTextPadding, ' '); }

// What `reader` reads at the start of a text; nothing if it refuses.
class LayoutReaderTest : public testing::Test {
 protected:
  bool Reads(const std::string& event, const std::string& after = ",") {
    text_ = Padded(event + after);
    const std::string_view text = std::string_view(text_).substr(0, event.size() + after.size());
    size_t end = 0;
    const bool is_read = reader_.Read(text, 0, event_, end);
    EXPECT_TRUE(!is_read || end == event.size()) << event;
    return is_read;
  }
  void Learn(const std::string& event) {
    const std::string padded = Padded(event);
    reader_.Learn(std::string_view(padded).substr(0, event.size()));
  }

  LayoutReader reader_;
  RawEvent event_;
  std::string text_;
};

TEST_F(LayoutReaderTest, ReadsOnlyWhatItLearnt) {
  EXPECT_FALSE(Reads(Op("a", "1", "[]")));
  Learn(Op("a", "1", "[]"));
  ASSERT_TRUE(Reads(Op("aten::mm", "123.456", "[[1, 2], []]")));
  EXPECT_EQ(event_.Get(Field::kPhase), "\"X\"");
  EXPECT_EQ(event_.Get(Field::kCategory), "\"cpu_op\"");
  EXPECT_EQ(event_.Get(Field::kName), "\"aten::mm\"");
  EXPECT_EQ(event_.Get(Field::kPid), "1");
  EXPECT_EQ(event_.Get(Field::kTs), "123.456");
  EXPECT_EQ(event_.Get(Field::kInputDims), "[[1, 2], []]");
  EXPECT_EQ(event_.Get(Field::kExternalId), "5");
  EXPECT_TRUE(event_.Get(Field::kArgs).starts_with("{\n      \"External id\""));
  EXPECT_TRUE(event_.Get(Field::kArgs).ends_with("4\n    }"));
  EXPECT_FALSE(event_.Has(Field::kFlowId) || event_.has_duplicates());
  EXPECT_FALSE(Reads(kFlow));
  EXPECT_FALSE(event_.Has(Field::kName));
}

TEST_F(LayoutReaderTest, LayoutsThatBeginAlikeAreDistinguished) {
  const std::vector<std::string> events = {Op("a", "1", "[]"),
                                           kFlow,
                                           R"({"ph":"X","cat":"kernel","name":"k","ts":1})",
                                           R"({"ph":"X","cat":"kernel","name":"k","ts":1,"dur":2})",
                                           R"({"ph":"X","cat":"kern","name":"k"})",
                                           R"({"ph":"X","cat":"kernel","name":"k","ts":"1"})",
                                           R"({"ph":"X","cat":"kernel","name":[1]})",
                                           R"({"args":{}})",
                                           "{}"};
  for (const std::string& event : events) {
    EXPECT_FALSE(Reads(event)) << event;
    Learn(event);
  }
  for (const std::string& event : events) {
    EXPECT_TRUE(Reads(event)) << event;
  }
  EXPECT_FALSE(Reads(R"({"ph":"X","cat":"kernel","name":"k","ts":{}})"));
}

TEST_F(LayoutReaderTest, EventsOfOneLayoutHaveOneNumber) {
  Learn(Op("a", "1", "[]"));
  Learn(kFlow);
  ASSERT_TRUE(Reads(kFlow));
  const uint32_t flow = event_.layout();
  ASSERT_TRUE(Reads(Op("a", "1", "[]")));
  EXPECT_NE(event_.layout(), flow);
  ASSERT_TRUE(Reads(kFlow));
  EXPECT_EQ(event_.layout(), flow);
  event_.Clear();
  EXPECT_EQ(event_.layout(), RawEvent::kNoLayout);
}

TEST_F(LayoutReaderTest, RefusesWhatDiffersInOneByte) {
  const std::string event = Op("a", "1", "[1]");
  Learn(event);
  for (size_t i = 0; i < event.size(); ++i) {
    std::string other = event;
    other[i] = '\x01';
    EXPECT_FALSE(Reads(other)) << i;
    EXPECT_FALSE(Reads(event.substr(0, i), "")) << i;
    ASSERT_TRUE(Reads(event)) << i;
    for (int good = 0; good < 4; ++good) {
      ASSERT_TRUE(Reads(event));  // trust for the next attempts
    }
  }
}

// Or a file of many categories would be searched through for each event.
TEST_F(LayoutReaderTest, KeepsFewLayoutsThatBeginAlike) {
  const auto event = [](int category) {
    return R"({"ph":"X","cat":"c)" + std::to_string(category) + R"(","name":"n"})";
  };
  for (int i = 0; i < 200; ++i) {
    Learn(event(i));
  }
  EXPECT_TRUE(Reads(event(0)) && Reads(event(63)));
  EXPECT_FALSE(Reads(event(64)) || Reads(event(199)));
}

TEST_F(LayoutReaderTest, RestsWhereNothingRepeatsAndTriesAgain) {
  const std::string event = Op("a", "1", "[1]");
  Learn(event);
  int refused = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string other = "{\"key " + std::to_string(i) + "\": 1}";
    EXPECT_FALSE(Reads(other));
    Learn(other);
    refused += Reads(event) ? 0 : 1;
  }
  EXPECT_GT(refused, 500);  // it does not even look
  for (int i = 0; i < 5000; ++i) {
    Reads(event);
  }
  EXPECT_TRUE(Reads(event));
}

std::optional<EventLayout> LayoutOfText(const std::string& event) {
  const std::string padded = Padded(event);
  return LayoutOf(std::string_view(padded).substr(0, event.size()));
}

TEST(EventLayoutTest, IsCutBeforeAndAfterEachValue) {
  const std::optional<EventLayout> layout =
      LayoutOfText(R"({"ph":"X", "name": "n","args": {"stream": 7,"grid":[1]} })");
  ASSERT_TRUE(layout.has_value());
  const std::vector<LayoutStep> steps = {
      {R"({"ph":"X", "name": ")", Slot::kString, Field::kName},
      {R"(","args": {"stream": )", Slot::kScalar, Field::kStream, 10},
      {R"(,"grid":)", Slot::kContainer, Field::kGrid},
      {"} }", Slot::kEnd, Field::kCount, LayoutStep::kNowhere, 1}};
  EXPECT_EQ(layout->steps, steps);
  EXPECT_EQ(layout->phase, "\"X\"");
  EXPECT_EQ(layout->category, "");
}

TEST(EventLayoutTest, OddEventsAreNotRemembered) {
  for (const char* event : {R"({"name":"a","name":"b"})", R"({"na\u006de":"b"})", R"({"ph":1})",
                            R"({"cat":"\u00e9\ud800)", R"({"args":5})", R"({"args":{},"args":{}})",
                            R"({"a":})", R"({"a":1)", R"(["a"])", R"({"a":[1})", R"({"a":1}})"}) {
    EXPECT_FALSE(LayoutOfText(event).has_value()) << event;
  }
  EXPECT_FALSE(LayoutOfText("{\"" + std::string(300, 'k') + "\":1}").has_value());
}

}  // namespace
}  // namespace borescope::internal
