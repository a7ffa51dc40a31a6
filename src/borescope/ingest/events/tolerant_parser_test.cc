#include "borescope/ingest/events/tolerant_parser.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "borescope/ingest/kineto/kineto_events.h"

namespace borescope::internal {
namespace {

// The result of parsing a piece of the events array.
struct Parsed {
  ParseOutcome outcome;
  TraceData data;

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const StringId id : data.host.name) {
      names.emplace_back(data.strings.Get(id));
    }
    return names;
  }
  // The counts of all repairs, by code.
  std::map<std::string_view, uint64_t> repairs() const {
    std::map<std::string_view, uint64_t> counts;
    for (size_t i = 0; i < static_cast<size_t>(Diag::kCount); ++i) {
      const DiagRow& row = GetDiagRow(static_cast<Diag>(i));
      if (data.diagnostics.count(row.id) != 0) {
        counts[row.code] = data.diagnostics.count(row.id);
      }
    }
    return counts;
  }
};

Parsed Parse(const std::string& text, bool is_last = true) {
  TolerantParser parser;
  KinetoEvents events;
  Parsed parsed;
  parsed.outcome =
      parser.Parse(text, 0, false, is_last ? ChunkEnd::kEndOfText : ChunkEnd::kMoreText, events);
  TracePart part = events.TakePart();
  parsed.data = std::move(part.data);
  return parsed;
}

using Names = std::vector<std::string>;
using Repairs = std::map<std::string_view, uint64_t>;

// An operator with `name` as written in the text; in Kineto's order, then with the name last.
std::string Event(const std::string& name, const std::string& more = "") {
  return R"({"ph":"X","cat":"cpu_op","name":")" + name + R"(","pid":1,"tid":2,"ts":3,"dur":4)" +
         more + "}";
}

std::string EventWithNameLast(const std::string& name) {
  return R"({"ph":"X","cat":"cpu_op","pid":1,"tid":2,"ts":3,"dur":4,"name":")" + name + "\"}";
}

std::string EventWithNameBeforeArgs(const std::string& name) {
  return R"({"ph":"X","cat":"cpu_op","pid":1,"tid":2,"ts":3,"dur":4,"name":")" + name +
         R"(","args":{"External id":5}})";
}

// `middle` between two undamaged events, which must stay unchanged.
Parsed Between(const std::string& middle) {
  return Parse(Event("before") + ",\n" + middle + ",\n" + Event("after") + "\n]");
}

TEST(TolerantParserTest, SoundEventsNeedNoRepair) {
  const Parsed parsed = Between(Event("middle", R"(,"args":{"a":[1,{"b":"]}"}],"External id":1})"));
  EXPECT_EQ(parsed.names(), (Names{"before", "middle", "after"}));
  EXPECT_EQ(parsed.repairs(), Repairs{});
  EXPECT_EQ(parsed.outcome.stop, ParseStop::kArrayEnd);
}

TEST(TolerantParserTest, MetricsOfADamagedRangeAreReadAsRepaired) {
  const Parsed parsed =
      Parse(R"({"ph":"X","cat":"cuda_profiler_range","name":"n","ts":3,"dur":4,"args":{"a":1 "b":)"
            R"("x"y","c":2,}})");
  const Metrics& metrics = parsed.data.metrics;
  ASSERT_EQ(metrics.size(), 2U);
  EXPECT_EQ(parsed.data.strings.Get(metrics.name[0]), "a");
  EXPECT_EQ(parsed.data.strings.Get(metrics.name[1]), "c");
  EXPECT_EQ(metrics.value, (std::vector<double>{1, 2}));
}

// --- quotes that were not escaped (pytorch#146900 and kin) ---

class StrayQuoteTest : public testing::TestWithParam<const char*> {};

TEST_P(StrayQuoteTest, TheNameIsPutTogetherAgain) {
  const std::string name = GetParam();
  for (const std::string& event :
       {Event(name), EventWithNameLast(name), EventWithNameBeforeArgs(name)}) {
    const Parsed parsed = Between(event);
    EXPECT_EQ(parsed.names(), (Names{"before", name, "after"})) << event;
    EXPECT_EQ(parsed.repairs(), (Repairs{{"unescaped-quote", 1}})) << event;
  }
}

INSTANTIATE_TEST_SUITE_P(Positions, StrayQuoteTest,
                         testing::Values(R"(a "b" c)", R"("quoted" first)", R"(last "quoted")",
                                         R"("all")", R"(one " alone)", R"(")", R"("")", R"(""")",
                                         R"(Torch-Compiled {"device": "cpu"} region)",
                                         R"(f(x="1", y="2"))", R"(["a", "b"])", R"({"a"})",
                                         R"(a ", b)", R"(a": b)", R"(a "} b)", R"(a "]} b)"));

TEST(TolerantParserTest, StrayQuotesInArgs) {
  const Parsed parsed =
      Between(Event("middle", R"-(,"args":{"Call stack":"f("x"), g("y")","External id":77})-"));
  EXPECT_EQ(parsed.names(), (Names{"before", "middle", "after"}));
  EXPECT_EQ(parsed.data.ops.external_id, (std::vector<int64_t>{77}));
  EXPECT_EQ(parsed.repairs(), (Repairs{{"unescaped-quote", 1}}));
}

TEST(TolerantParserTest, StrayQuotesInALastArg) {
  const Parsed parsed = Between(Event("middle", R"(,"args":{"External id":77,"note":"say "hi""})"));
  EXPECT_EQ(parsed.names(), (Names{"before", "middle", "after"}));
  EXPECT_EQ(parsed.data.ops.external_id, (std::vector<int64_t>{77}));
  EXPECT_EQ(parsed.repairs(), (Repairs{{"unescaped-quote", 1}}));
}

TEST(TolerantParserTest, StrayQuotesInAListOfTexts) {
  const Parsed parsed =
      Between(Event("middle", R"(,"args":{"Concrete Inputs":["a "b" c","",""],"External id":77})"));
  EXPECT_EQ(parsed.data.ops.external_id, (std::vector<int64_t>{77}));
  EXPECT_EQ(parsed.repairs(), (Repairs{{"unescaped-quote", 1}}));
}

// Escaped quotes, a known key in the text, and a backslash before the last quote.
TEST(TolerantParserTest, EscapedQuotesAreNoRepair) {
  const Parsed parsed =
      Between(Event(R"(a \"b\", \"ts\": 5 \\)") + "," + Event("x") + "," + Event(R"(\\\")"));
  EXPECT_EQ(parsed.names(), (Names{"before", R"(a "b", "ts": 5 \)", "x", R"(\")", "after"}));
  EXPECT_EQ(parsed.repairs(), Repairs{});
}

// Members of other tools are valid, too: the tolerant parser must not misread them.
TEST(TolerantParserTest, UnknownMembersOfAnEventAreNoDamage) {
  const Parsed parsed =
      Between(R"({"ph":"X","cat":"cpu_op","name":"middle","myTool":"x","other":1,"pid":1,"tid":2,)"
              R"("ts":3,"dur":4,"tdur":4,"last":"y"})");
  EXPECT_EQ(parsed.names(), (Names{"before", "middle", "after"}));
  EXPECT_EQ(parsed.repairs(), Repairs{});
}

TEST(TolerantParserTest, KeysWithEscapesAreNoDamage) {
  const Parsed parsed =
      Between(Event("middle", R"(,"args":{"a":"x","b\"c\"":"y","d\\":"z","External id":77})"));
  EXPECT_EQ(parsed.names(), (Names{"before", "middle", "after"}));
  EXPECT_EQ(parsed.data.ops.external_id, (std::vector<int64_t>{77}));
  EXPECT_EQ(parsed.repairs(), Repairs{});
}

// --- bytes ---

TEST(TolerantParserTest, BytesThatAreNotUtf8AreReplaced) {
  const Parsed parsed = Between(Event("a\xff\xfe z") + "," + Event("b", ",\"x\":\"\xc3\""));
  EXPECT_EQ(parsed.names(), (Names{"before", "a\ufffd\ufffd z", "b", "after"}));
  EXPECT_EQ(parsed.repairs(), (Repairs{{"invalid-utf8", 2}}));
}

TEST(TolerantParserTest, RawControlCharactersAreKept) {
  const Parsed parsed = Between(Event("two\nlines\tand\x01") + "," + Event("b"));
  EXPECT_EQ(parsed.names(), (Names{"before", "two\nlines\tand\x01", "b", "after"}));
  EXPECT_EQ(parsed.repairs(), (Repairs{{"control-character", 1}}));
}

TEST(TolerantParserTest, AllKindsOfDamageInOneName) {
  const Parsed parsed = Between(Event("say \"\xff\"\n"));
  EXPECT_EQ(parsed.names(), (Names{"before", "say \"\ufffd\"\n", "after"}));
  EXPECT_EQ(parsed.repairs(),
            (Repairs{{"control-character", 1}, {"invalid-utf8", 1}, {"unescaped-quote", 1}}));
}

TEST(TolerantParserTest, WindowsPathsKeepTheirBackslashes) {
  const Parsed parsed = Between(Event(R"(C:\Users\me\x.py(3): f)"));
  EXPECT_EQ(parsed.names(), (Names{"before", R"(C:\Users\me\x.py(3): f)", "after"}));
  EXPECT_EQ(parsed.repairs(), (Repairs{{"bad-syntax", 1}}));
}

TEST(TolerantParserTest, ByteOffsetsAreThoseOfTheFile) {
  TolerantParser parser;
  KinetoEvents events;
  parser.Parse(Event("a") + "," + Event("b\xff"), 1000, false, ChunkEnd::kEndOfText, events);
  const std::string before = R"({"ph":"X","cat":"cpu_op","name":)";
  EXPECT_EQ(events.diagnostics().Get(Diag::kInvalidUtf8).first_byte,
            1000 + Event("a").size() + 1 + before.size());
}

// --- syntax ---

TEST(TolerantParserTest, SlipsOfSyntaxAreRepaired) {
  const std::string event = Event("middle");
  const auto expect = [](const Parsed& parsed, uint64_t slips) {
    EXPECT_EQ(parsed.names(), (Names{"before", "middle", "after"}));
    EXPECT_EQ(parsed.repairs(), (Repairs{{"bad-syntax", slips}}));
  };
  expect(Parse(Event("before") + event + "," + Event("after") + "]"), 1);
  expect(Parse(Event("before") + event + Event("after")), 2);
  expect(Parse(Event("before") + ",," + event + "," + Event("after") + "]"), 1);
  expect(Parse(Event("before") + "," + event + "," + Event("after") + ",]"), 1);
  expect(Parse("," + Event("before") + "," + event + "," + Event("after") + "]"), 1);
  expect(Between(R"({"ph":"X","cat":"cpu_op","name":"middle","pid":1,"tid":2,"ts":3,"dur":4,})"),
         1);
  expect(Between(R"({"ph":"X","cat":"cpu_op","name":"middle" "pid":1,"tid":2,"ts":3 "dur":4})"), 2);
  expect(Between(R"({,"ph":"X","cat":"cpu_op","name":"middle","pid":1,"tid":2,"ts":3,,"dur":4})"),
         2);
}

TEST(TolerantParserTest, BareNonNumbersAreValues) {
  const Parsed parsed =
      Between(R"({"ph":"X","cat":"cpu_op","name":"middle","pid":1,"tid":2,"ts":3,"dur":NaN,)"
              R"("args":{"External id":-Infinity,"Sequence number":9}})");
  EXPECT_EQ(parsed.names(), (Names{"before", "middle", "after"}));
  EXPECT_EQ(parsed.data.ops.sequence, (std::vector<int64_t>{9}));
  EXPECT_EQ(parsed.repairs(), (Repairs{{"missing-duration", 1}, {"non-finite-number", 2}}));
}

// --- text that cannot be repaired: given up to the next event ---

class LostEventTest : public testing::TestWithParam<const char*> {};

TEST_P(LostEventTest, TheNeighboursAreUntouched) {
  const Parsed parsed = Between(GetParam());
  EXPECT_EQ(parsed.names(), (Names{"before", "after"}));
  EXPECT_EQ(parsed.repairs(), (Repairs{{"dropped-text", 1}}));
  EXPECT_EQ(parsed.outcome.stop, ParseStop::kArrayEnd);
}

INSTANTIATE_TEST_SUITE_P(
    Damage, LostEventTest,
    testing::Values(R"({"ph":"X","name":"lost","ts":1,"args":{"a":[1,2})",  // bracket lost
                    R"({"ph":"X","name":"lost","ts":1,"args":{"a":1)",      // both braces lost
                    R"({"ph":"X","name":"lost","ts":1)",                    // brace lost
                    R"("ph":"X","name":"lost","ts":1})",                    // opening brace lost
                    R"(garbage)", R"("text")", R"(17)", R"([1,2,3])", R"(:)",
                    R"({"ph":"X","name":"lost","ts":})",  // no value
                    R"({"ph":"X","name":"lost","args":{"a":[[1,2}]]}})"));

// A lost colon or quote of a key looks like quotes inside the value before it. The event is still
// counted, but its content is unknown.
TEST(TolerantParserTest, AKeyThatCannotBeReadTakesItsNeighboursAlong) {
  for (const char* event :
       {R"({"ph":"X","name" "lost","ts":1})", R"({"ph":"X",name:"lost","ts":1})",
        R"({"ph":"X" : "lost"})", R"({"ph" "X","name":"lost","ts":1})"}) {
    const Parsed parsed = Between(event);
    EXPECT_EQ(parsed.names(), (Names{"before", "after"}));
    EXPECT_EQ(parsed.repairs(), (Repairs{{"unescaped-quote", 1}, {"unknown-phase", 1}}));
  }
}

TEST(TolerantParserTest, TheRestOfALostEventGivesNoEvent) {
  for (const char* lost : {R"({"ph":"X","name":"lost","args":{"list":[{"id":1},{"id":2}})",
                           R"({"ph":"M","args" : {"name":"stream 7"} : 1})"}) {
    const Parsed parsed = Between(lost);
    EXPECT_EQ(parsed.names(), (Names{"before", "after"}));
    EXPECT_EQ(parsed.repairs(), (Repairs{{"dropped-text", 1}})) << lost;
  }
}

TEST(TolerantParserTest, NestingBeyondAllSenseIsDamage) {
  const Parsed parsed = Between(
      Event("deep", R"(,"args":{"a":)" + std::string(5000, '[') + std::string(5000, ']') + "}"));
  EXPECT_EQ(parsed.names(), (Names{"before", "after"}));
  EXPECT_EQ(parsed.repairs(), (Repairs{{"dropped-text", 1}}));
}

// --- where the text ends ---

TEST(TolerantParserTest, AnIncompleteEventIsLeftForTheNextChunk) {
  const std::string whole = Event("whole") + ",\n";
  const std::string event = Event("cut", R"(,"args":{"a":"b","c":[1,"d",{"e":null}]})");
  for (size_t cut = 1; cut < event.size(); ++cut) {
    const Parsed parsed = Parse(whole + event.substr(0, cut), false);
    EXPECT_EQ(parsed.names(), (Names{"whole"})) << cut;
    EXPECT_EQ(parsed.repairs(), Repairs{}) << cut;
    EXPECT_EQ(parsed.outcome.stop, ParseStop::kIncomplete) << cut;
    EXPECT_EQ(parsed.outcome.position, whole.size()) << cut;
  }
}

TEST(TolerantParserTest, AnIncompleteLastEventIsLostAndCounted) {
  const std::string whole = Event("whole") + ",\n";
  const std::string event = Event("cut", R"(,"args":{"a":"b","c":[1,"d",{"e":null}]})");
  for (size_t cut = 1; cut < event.size(); ++cut) {
    const Parsed parsed = Parse(whole + event.substr(0, cut), true);
    EXPECT_EQ(parsed.names(), (Names{"whole"})) << cut;
    // A bracket at the very end is treated as the one that closes the array.
    const std::string_view end = std::string_view(event).substr(0, cut);
    const bool bracket = end.ends_with("]") || end.ends_with("]}");
    EXPECT_EQ(parsed.repairs(), (Repairs{{bracket ? "dropped-text" : "truncated-file", 1}})) << cut;
    EXPECT_EQ(parsed.outcome.stop, bracket ? ParseStop::kArrayEnd : ParseStop::kEnd) << cut;
  }
}

TEST(TolerantParserTest, TheEndBetweenEvents) {
  for (const char* tail : {"", ",", " ,\n ", "\n"}) {
    const std::string text = Event("a") + tail;
    const Parsed parsed = Parse(text, false);
    EXPECT_EQ(parsed.outcome.stop, ParseStop::kEnd);
    EXPECT_EQ(parsed.outcome.position, text.size());
    EXPECT_EQ(parsed.repairs(), Repairs{});
  }
}

TEST(TolerantParserTest, TheBracketThatClosesTheArrayIsLeft) {
  const std::string events = Event("a") + "\n  ";
  const Parsed parsed = Parse(events + "], \"traceName\": \"x\"}", true);
  EXPECT_EQ(parsed.outcome.stop, ParseStop::kArrayEnd);
  EXPECT_EQ(parsed.outcome.position, events.size());
}

// Damage in the last event must not swallow the members after the array.
TEST(TolerantParserTest, ABrokenLastEventEndsWithTheArray) {
  for (const char* broken :
       {R"({"ph":"X","name":"lost","args":{"a":[1,2}})", R"({"ph":"X","name":"lost","ts":1)"}) {
    const std::string text = Event("a") + ",\n" + broken + "\n],\n\"traceName\": \"x\"\n}\n";
    const Parsed parsed = Parse(text);
    EXPECT_EQ(parsed.names(), (Names{"a"}));
    EXPECT_EQ(parsed.repairs(), (Repairs{{"dropped-text", 1}})) << broken;
    EXPECT_EQ(parsed.outcome.stop, ParseStop::kArrayEnd) << broken;
    EXPECT_EQ(text.substr(parsed.outcome.position, 2), "],") << broken;
  }
}

}  // namespace
}  // namespace borescope::internal
