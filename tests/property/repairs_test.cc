// Known defects, planted into one event of a file: each is repaired or counted as it should be, and
// nothing else in the file changes.

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "borescope/ingest/load.h"
#include "tests/oracle/trace_text.h"
#include "tests/property/invariants.h"
#include "tests/property/synthetic.h"

namespace borescope::internal {
namespace {

using testkit::Event;
using testkit::FirstDifference;
using testkit::Synthetic;
using testkit::TablesOf;
using testkit::WhatIsWrongWith;
using testkit::Writer;

using Counts = std::map<std::string_view, uint64_t>;

Counts CountsOf(const Diagnostics& diagnostics) {
  Counts counts;
  for (size_t i = 0; i < static_cast<size_t>(Diag::kCount); ++i) {
    const DiagRow& row = GetDiagRow(static_cast<Diag>(i));
    if (diagnostics.count(row.id) != 0) {
      counts[row.code] = diagnostics.count(row.id);
    }
  }
  return counts;
}

// A defect, and the sound event that means the same.
struct Plant {
  const char* name;
  std::function<void(Event&)> damage;
  std::function<void(Event&)> repaired;
  Counts counts;
};

void PrintTo(const Plant& plant, std::ostream* out) { *out << plant.name; }

std::function<void(Event&)> Set(std::string key, std::string value) {
  return [key, value](Event& event) { event[key] = value; };
}
std::function<void(Event&)> SetArg(std::string value) {
  return [value](Event& event) { event.args.front().second = value; };
}
std::function<void(Event&)> Remove(std::string key) {
  return [key](Event& event) { event.Remove(key); };
}
void Nothing(Event&) {}
void RemoveArgs(Event& event) {
  event.args.clear();
  event.has_args = false;
}

const Plant kPlants[] = {
    // Strings.
    {"QuotesInside",
     Set("name", R"("a {"device": "cpu"} b")"),
     Set("name", R"("a {\"device\": \"cpu\"} b")"),
     {{"unescaped-quote", 1}}},
    {"QuoteFirst",
     Set("name", R"(""a" b")"),
     Set("name", R"("\"a\" b")"),
     {{"unescaped-quote", 1}}},
    {"QuoteLast", Set("name", R"("a "b"")"), Set("name", R"("a \"b\"")"), {{"unescaped-quote", 1}}},
    {"InvalidUtf8",
     Set("name", "\"caf\xe9\""),
     Set("name", "\"caf\ufffd\""),
     {{"invalid-utf8", 1}}},
    {"RawNewline",
     Set("name", "\"two\nlines\""),
     Set("name", R"("two\nlines")"),
     {{"control-character", 1}}},
    {"LoneSurrogate", Set("name", R"("\ud800")"), Set("name", "\"\ufffd\""), {{"invalid-utf8", 1}}},
    {"WindowsPath",
     Set("name", R"("C:\Users\me")"),
     Set("name", R"("C:\\Users\\me")"),
     {{"bad-syntax", 1}}},
    {"InvalidUtf8InAnUnreadArg",
     [](Event& event) { event.args.back().second = "\"\xff\""; },
     Nothing,
     {{"invalid-utf8", 1}}},
    // Numbers.
    {"NanDuration",
     Set("dur", "NaN"),
     Set("dur", "0"),
     {{"non-finite-number", 1}, {"missing-duration", 1}}},
    {"InfiniteDuration",
     Set("dur", "Infinity"),
     Set("dur", "0"),
     {{"non-finite-number", 1}, {"missing-duration", 1}}},
    {"NanTimestamp",
     Set("ts", "nan"),
     Set("ts", "null"),
     {{"non-finite-number", 1}, {"missing-timestamp", 1}}},
    {"InfiniteArg", SetArg("-inf"), SetArg("null"), {{"non-finite-number", 1}}},
    {"TextForANumber", SetArg(R"("N/A")"), SetArg("null"), {{"bad-field-type", 1}}},
    {"IntegerBeyond64Bits",
     SetArg("99999999999999999999999"),
     SetArg("9223372036854775807"),
     {{"integer-overflow", 1}}},
    {"NegativeDuration", Set("dur", "-12.5"), Set("dur", "0"), {{"negative-duration", 1}}},
    // Its track goes on at 1900: nothing follows, so nothing is left of it.
    {"ImpossibleDuration", Set("dur", "999999999999.000"), Nothing, {{"impossible-duration", 1}}},
    {"QuotedNumbers",
     [](Event& event) {
       event["ts"] = "\"" + event["ts"] + "\"";
       event["tid"] = "\"" + event["tid"] + "\"";
     },
     Nothing,
     {}},
    // Members.
    {"NoTimestamp", Remove("ts"), Set("ts", "null"), {{"missing-timestamp", 1}}},
    {"NoDuration", Remove("dur"), Set("dur", "0"), {{"missing-duration", 1}}},
    {"NoName", Remove("name"), Set("name", "\"\""), {{"missing-name", 1}}},
    {"NoCategory", Remove("cat"), Set("cat", "\"\""), {}},
    {"NoPhase", Remove("ph"), Set("ph", "7"), {{"unknown-phase", 1}}},
    {"UnknownPhase", Set("ph", "\"Q\""), Set("ph", "\"Q\""), {{"unknown-phase", 1}}},
    {"NoArgs", RemoveArgs, RemoveArgs, {}},
    {"NullArgs",
     [](Event& event) {
       RemoveArgs(event);
       event["args"] = "null";
     },
     RemoveArgs,
     {}},
    {"DuplicateName",
     [](Event& event) { event.members.insert(event.members.begin(), {"name", "\"other\""}); },
     Nothing,
     {{"duplicate-key", 1}}},
    {"DuplicateArg",
     [](Event& event) { event.args.insert(event.args.begin(), {"External id", "5"}); },
     Nothing,
     {{"duplicate-key", 1}}},
};

class RepairTest : public testing::TestWithParam<std::tuple<Writer, Plant>> {};

// What is not a matter of the tables: an impossible duration is cut only when the trace is
// finished, so the count of its category keeps it.
std::string WithoutTotals(std::string tables) {
  std::string text;
  for (size_t line = 0, end = 0; line < tables.size(); line = end + 1) {
    end = std::min(tables.find('\n', line), tables.size());
    const bool is_count = line + 1 < end && tables[line + 1] == ':';
    text += tables.substr(line, is_count ? tables.rfind(' ', end) - line : end - line) + "\n";
  }
  return text;
}

TEST_P(RepairTest, IsExact) {
  const auto& [writer, plant] = GetParam();
  Synthetic damaged(writer);
  Synthetic sound(writer);
  plant.damage(damaged.victim());
  plant.repaired(sound.victim());
  if (std::string_view(plant.name) == "ImpossibleDuration") {
    sound.victim()["dur"] = "0";
  }
  const Result<Trace> trace = LoadBytes(damaged.Text(), "a.json", {});
  const Result<Trace> want = LoadBytes(sound.Text(), "a.json", {});
  ASSERT_TRUE(trace.ok()) << trace.error().Sentence();
  EXPECT_EQ(FirstDifference(WithoutTotals(TablesOf(*trace)), WithoutTotals(TablesOf(*want))), "");
  EXPECT_EQ(CountsOf(trace->diagnostics()), plant.counts);
  EXPECT_EQ(WhatIsWrongWith(*trace), "");
  EXPECT_EQ(trace->meta().base_ns, want->meta().base_ns);
}

INSTANTIATE_TEST_SUITE_P(Plants, RepairTest,
                         testing::Combine(testing::ValuesIn(testkit::kWriters),
                                          testing::ValuesIn(kPlants)),
                         [](const auto& test) {
                           std::string name = testkit::NameOf(std::get<0>(test.param));
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name + "_" + std::get<1>(test.param).name;
                         });

// --- between events ---

struct Slip {
  const char* name;
  const char* separator;  // in place of the comma before the victim
  Counts counts;
};

const Slip kSlips[] = {
    {"MissingComma", "\n", {{"bad-syntax", 1}}},
    {"TwoCommas", ",,", {{"bad-syntax", 1}}},
    {"StrayBracket", "],", {{"bad-syntax", 1}}},
    {"Garbage", ", garbage,", {{"dropped-text", 1}}},
    {"StrayBrace", "},", {{"dropped-text", 1}}},
    {"LogLine", ",\nWARNING: \"something\" [x]\n", {{"dropped-text", 1}}},
};

class SlipTest : public testing::TestWithParam<Writer> {};

TEST_P(SlipTest, BetweenEventsIsRepaired) {
  const Synthetic sound(GetParam());
  const size_t victim = sound.victim_number();
  const size_t place = sound.EventEnds()[victim - 1];
  const std::string want = TablesOf(*LoadBytes(sound.Text(), "a.json", {}));
  for (const Slip& slip : kSlips) {
    SCOPED_TRACE(slip.name);
    std::string text = sound.Text();
    text.replace(place, sound.Separator().size(), slip.separator);
    const Result<Trace> trace = LoadBytes(text, "a.json", {});
    ASSERT_TRUE(trace.ok()) << trace.error().Sentence();
    EXPECT_EQ(FirstDifference(TablesOf(*trace), want), "");
    EXPECT_EQ(CountsOf(trace->diagnostics()), slip.counts);
  }
}

INSTANTIATE_TEST_SUITE_P(Writers, SlipTest, testing::ValuesIn(testkit::kWriters),
                         [](const auto& test) {
                           std::string name = testkit::NameOf(test.param);
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

}  // namespace
}  // namespace borescope::internal
