#include "borescope/ingest/events/event_values.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "borescope/ingest/events/structural_parser.h"
#include "borescope/ingest/kineto/kineto_events.h"

namespace borescope::internal {
namespace {

// The result of parsing the events of an array without its brackets.
struct Parsed {
  TracePart part;
  KinetoFacts facts;

  const TraceData& data() const { return part.data; }
  std::string_view Text(StringId id) const { return part.data.strings.Get(id); }
  uint64_t count(Diag diag) const { return part.data.diagnostics.count(diag); }
};

Parsed Parse(std::string text) {
  const size_t size = text.size();
  text.append(kTextPadding, ' ');
  StructuralParser parser;
  KinetoEvents events;
  const ParseOutcome outcome = parser.Parse(std::string_view(text).substr(0, size), 0, events);
  EXPECT_EQ(outcome.stop, ParseStop::kEnd) << text;
  KinetoFacts facts = events.facts();
  return {events.TakePart(), facts};
}

int64_t TidOf(const std::string& tid) {
  return Parse(R"({"ph":"X","cat":"cpu_op","name":"n","pid":1,"ts":0,"dur":0,"tid":)" + tid + "}")
      .data()
      .tracks.tid[0];
}

TEST(ProcessNumberTest, NumbersOfEveryWriting) {
  EXPECT_EQ(TidOf("7"), 7);
  EXPECT_EQ(TidOf("-1391544384"), -1391544384);
  EXPECT_EQ(TidOf("7.0"), 7);
  EXPECT_EQ(TidOf("\"7\""), 7);
  EXPECT_EQ(TidOf("\"stream 7\""), 7);
  EXPECT_EQ(TidOf("\"GPU 0 stream 21\""), 21);
  EXPECT_EQ(TidOf("140331515545344"), 140331515545344);
  EXPECT_EQ(TidOf("18446744073709551615"), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(TidOf("null"), -1);
}

TEST(ProcessNumberTest, EscapesSayWhatTheySay) {
  EXPECT_EQ(TidOf(R"("\u0037")"), 7);
  EXPECT_EQ(TidOf(R"("stre\u0061m 7")"), 7);
  EXPECT_EQ(TidOf(R"("Sp\u0061ns")"), TidOf("\"Spans\""));
}

TEST(ProcessNumberTest, OtherTextsGetNumbersOfTheirOwn) {
  const int64_t spans = TidOf("\"Spans\"");
  EXPECT_LT(spans, -1);
  EXPECT_EQ(TidOf("\"Spans\""), spans);
  EXPECT_NE(TidOf("\"Traces\""), spans);
  EXPECT_NE(TidOf("\"\""), spans);
  EXPECT_LT(TidOf("\"\""), -1);
}

TEST(ProcessNumberTest, AnEventWithoutOneStillHasATrack) {
  const Parsed parsed = Parse(R"({"ph":"X","cat":"cpu_op","name":"n","ts":0,"dur":0})");
  EXPECT_EQ(parsed.data().tracks.pid, (std::vector<int64_t>{-1}));
  EXPECT_EQ(parsed.data().tracks.tid, (std::vector<int64_t>{-1}));
}

// Odd values are counted, and the rest of the event is kept.
Parsed WithTimes(const std::string& ts, const std::string& dur) {
  return Parse(R"({"ph":"X","cat":"cpu_op","name":"odd","pid":1,"tid":1,"ts":)" + ts +
               R"(,"dur":)" + dur + "}");
}

TEST(OddValuesTest, WithoutAUsableTimestampTheEventIsOnlyCounted) {
  for (const char* ts : {"null", "\"N/A\"", "NaN", "[1]", "{}", "true"}) {
    const Parsed parsed = WithTimes(ts, "5");
    EXPECT_EQ(parsed.data().host.size(), 0U) << ts;
    EXPECT_EQ(parsed.data().event_counts[0].count, 1U) << ts;
    EXPECT_EQ(parsed.count(Diag::kMissingTimestamp), 1U) << ts;
  }
  EXPECT_EQ(WithTimes("NaN", "5").count(Diag::kNonFiniteNumber), 1U);
  EXPECT_EQ(WithTimes("true", "5").count(Diag::kBadFieldType), 1U);
  EXPECT_EQ(WithTimes("null", "5").count(Diag::kBadFieldType), 0U);
}

TEST(OddValuesTest, WithoutAUsableDurationTheEventIsZeroLong) {
  for (const char* dur : {"null", "\"N/A\"", "Infinity", "[1]", "false"}) {
    const Parsed parsed = WithTimes("5", dur);
    ASSERT_EQ(parsed.data().host.size(), 1U) << dur;
    EXPECT_EQ(parsed.data().host.dur_ns[0], 0) << dur;
    EXPECT_EQ(parsed.count(Diag::kMissingDuration), 1U) << dur;
  }
}

TEST(OddValuesTest, NegativeDurationsBecomeZero) {
  const Parsed parsed = WithTimes("5", "-0.5");
  EXPECT_EQ(parsed.data().host.dur_ns[0], 0);
  EXPECT_EQ(parsed.count(Diag::kNegativeDuration), 1U);
  EXPECT_EQ(WithTimes("5", "-0.0").count(Diag::kNegativeDuration), 0U);
}

TEST(OddValuesTest, NegativeTimesAreTimes) {
  const Parsed parsed = WithTimes("-12.5", "1");
  EXPECT_EQ(parsed.data().host.ts_ns[0], -12'500);
  EXPECT_TRUE(parsed.data().diagnostics.empty());
}

// Differences and sums of two times must fit 64 bits, for any file.
TEST(OddValuesTest, TimesBeyondAllSenseAreClamped) {
  for (const char* ts : {"1e300", "9223372036854775807", "99999999999999999999", "-1e300"}) {
    const Parsed parsed = WithTimes(ts, "1e300");
    const HostEvents& host = parsed.data().host;
    ASSERT_EQ(host.size(), 1U) << ts;
    EXPECT_LE(std::abs(host.ts_ns[0]), int64_t{1} << 61) << ts;
    EXPECT_LE(host.dur_ns[0], int64_t{1} << 61) << ts;
    EXPECT_EQ(parsed.count(Diag::kIntegerOverflow), 2U) << ts;
  }
}

TEST(OddValuesTest, StringsAroundNumbersAreRead) {
  const Parsed parsed = WithTimes("\"1712165512464313.123\"", "\"2\"");
  EXPECT_EQ(parsed.data().host.ts_ns[0], 1'712'165'512'464'313'123);
  EXPECT_EQ(parsed.data().host.dur_ns[0], 2000);
  EXPECT_TRUE(parsed.data().diagnostics.empty());
}

TEST(OddValuesTest, IdsBeyondSixtyFourBitsAreClampedAndSaid) {
  const Parsed parsed =
      Parse(R"({"ph":"X","cat":"kernel","name":"n","pid":0,"tid":7,"ts":1,"dur":1,"args":{)"
            R"("correlation":99999999999999999999,"External id":7.5,)"
            R"("registers per thread":NaN,"shared memory":"many"}})");
  EXPECT_EQ(parsed.data().device.correlation[0], std::numeric_limits<int64_t>::max());
  EXPECT_EQ(parsed.data().device.external_id[0], kMissing);
  EXPECT_EQ(parsed.data().kernels.registers[0], -1);
  EXPECT_EQ(parsed.count(Diag::kIntegerOverflow), 1U);
  EXPECT_EQ(parsed.count(Diag::kBadFieldType), 2U);
  EXPECT_EQ(parsed.count(Diag::kNonFiniteNumber), 1U);
}

TEST(OddValuesTest, NamesOfEveryType) {
  const auto name_of = [](const std::string& member) {
    const Parsed parsed =
        Parse(R"({"ph":"X","cat":"cpu_op","pid":1,"tid":1,"ts":0,"dur":0)" + member + "}");
    return std::string(parsed.Text(parsed.data().host.name[0])) +
           (parsed.count(Diag::kMissingName) != 0 ? " (missing)" : "");
  };
  EXPECT_EQ(name_of(R"(,"name":"a\u00e9\n\"b\"")"), "a\u00e9\n\"b\"");
  EXPECT_EQ(name_of(R"(,"name":"")"), "");
  EXPECT_EQ(name_of(R"(,"name":17)"), "17");
  EXPECT_EQ(name_of(""), " (missing)");
  EXPECT_EQ(name_of(R"(,"name":null)"), " (missing)");
}

TEST(OddValuesTest, DuplicateKeysAreSaidAndTheLastCounts) {
  const Parsed parsed = Parse(
      R"({"ph":"X","cat":"kernel","name":"a","name":"b","pid":0,"tid":1,"tid":2,"ts":1,"dur":1,)"
      R"("args":{"correlation":1},"args":{"correlation":2,"stream":9}})");
  EXPECT_EQ(parsed.Text(parsed.data().device.name[0]), "b");
  EXPECT_EQ(parsed.data().device.correlation[0], 2);
  EXPECT_EQ(parsed.data().tracks.tid[0], 9);
  EXPECT_EQ(parsed.count(Diag::kDuplicateKey), 1U);
}

TEST(OddValuesTest, LoneSurrogatesAndBareBackslashesInNames) {
  const Parsed parsed =
      Parse(R"({"ph":"X","cat":"cpu_op","name":"\ud83d","pid":1,"tid":1,"ts":0,"dur":0},)"
            R"({"ph":"X","cat":"cpu_op","name":"C:\Users","pid":1,"tid":1,"ts":0,"dur":0})");
  EXPECT_EQ(parsed.Text(parsed.data().host.name[0]), "\ufffd");
  EXPECT_EQ(parsed.Text(parsed.data().host.name[1]), R"(C:\Users)");
  EXPECT_EQ(parsed.count(Diag::kInvalidUtf8), 1U);
  EXPECT_EQ(parsed.count(Diag::kBadSyntax), 1U);
}

TEST(FusedRankTest, NeedsARankAndTheOldProcess) {
  const FusedRank fused =
      FusedRankOf(R"({"name": "\"rank\"", "rank" : 12, "pid_raw": 83, "id_raw": 5})");
  EXPECT_EQ(fused.rank, "12");
  EXPECT_EQ(fused.pid, "83");
  EXPECT_EQ(FusedRankLabel(fused), "rank 12");
  EXPECT_EQ(FusedRankOf(R"({"pid_raw":"Spans","rank":0})").pid, "\"Spans\"");
  for (const char* args :
       {"", "{}", R"({"rank":3})", R"({"pid_raw":3})", R"({"rank":"3","pid_raw":3})",
        R"({"rank":-1,"pid_raw":3})", R"({"rank":1234567890,"pid_raw":3})",
        R"({"a":"rank","b":"pid_raw"})", R"({"rank":)"}) {
    EXPECT_TRUE(FusedRankOf(args).rank.empty()) << args;
  }
}

TEST(TimestampFactsTest, DecimalsAndEpochAreCounted) {
  std::string text;
  for (const char* ts : {"1", "1.5", "1.25", "1.125", "1.0625", "1712165512464313.123"}) {
    text += (text.empty() ? "" : ",") + std::string(R"({"ph":"X","cat":"cpu_op","name":"n",)") +
            R"("pid":1,"tid":1,"dur":0,"ts":)" + ts + "}";
  }
  const Parsed parsed = Parse(text);
  EXPECT_EQ(parsed.facts.timestamps.decimals, (std::array<uint64_t, 4>{1, 1, 1, 3}));
  EXPECT_TRUE(parsed.facts.timestamps.absolute);
  EXPECT_FALSE(WithTimes("1700000000", "1").facts.timestamps.absolute);
}

}  // namespace
}  // namespace borescope::internal
