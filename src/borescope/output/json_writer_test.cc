#include "borescope/output/json_writer.h"

#include <gtest/gtest.h>

#include <limits>

namespace borescope::internal {
namespace {

// What `fill` writes, without the closing line end.
template <class Fill>
std::string Json(const Fill& fill) {
  StringSink sink;
  JsonWriter json(sink);
  fill(json);
  EXPECT_TRUE(json.Finish().ok());
  EXPECT_EQ(sink.text().back(), '\n');
  return sink.text().substr(0, sink.text().size() - 1);
}

TEST(JsonWriter, PutsCommasBetweenValuesOnly) {
  EXPECT_EQ(Json([](JsonWriter& json) {
              json.BeginObject();
              json.Key("a");
              json.BeginArray();
              json.Int(1);
              json.BeginObject();
              json.EndObject();
              json.Null();
              json.EndArray();
              json.Key("b");
              json.Bool(true);
              json.EndObject();
            }),
            R"({"a":[1,{},null],"b":true})");
}

TEST(JsonWriter, NumbersAreExactOrShortest) {
  EXPECT_EQ(Json([](JsonWriter& json) {
              json.BeginArray();
              json.Int(std::numeric_limits<int64_t>::min());
              json.Uint(std::numeric_limits<uint64_t>::max());
              json.Double(0.1);
              json.Double(2.0);
              json.Double(-0.0);
              json.Double(1e300);
              json.Double(5e-324);
              json.Double(123456789012345680.0);
              json.Double(std::numeric_limits<double>::quiet_NaN());
              json.Double(-std::numeric_limits<double>::infinity());
              json.EndArray();
            }),
            "[-9223372036854775808,18446744073709551615,0.1,2.0,-0.0,1e+300,5e-324,"
            "1.2345678901234568e+17,null,null]");
}

TEST(JsonWriter, StringsAreEscapedAndValid) {
  EXPECT_EQ(Json([](JsonWriter& json) { json.String("a\"b\\c/\n\t\r\x01\x1f\x7f é漢😀 \xFF"); }),
            "\"a\\\"b\\\\c/\\n\\t\\r\\u0001\\u001f\x7f é漢😀 \uFFFD\"");
}

// Readers get what they would without; GitHub, Azure Pipelines and TeamCity see no command.
TEST(JsonWriter, CommandsOfBuildServersAreEscaped) {
  EXPECT_EQ(Json([](JsonWriter& json) { json.String("a ##vso[b] ##[c]##teamcity[d] ## e # #[f"); }),
            "\"a \\u0023#vso[b] \\u0023#[c]\\u0023#teamcity[d] ## e # #[f\"");
}

TEST(JsonWriter, LineBreaksFallBetweenValues) {
  EXPECT_EQ(Json([](JsonWriter& json) {
              json.BeginArray();
              json.BreakLine(1);
              json.Int(1);
              json.BreakLine(1);
              json.Int(2);
              json.BreakLine(0);
              json.EndArray();
            }),
            "[\n 1,\n 2\n]");
}

TEST(JsonWriter, ReportsTheFirstFailureOfItsSink) {
  class FullSink : public Sink {
   public:
    Result<void> Write(std::string_view) override { return Error{ErrorCode::kIo, "disk full"}; }
  } sink;
  JsonWriter json(sink);
  json.String("x");
  EXPECT_EQ(json.Finish().error().Sentence(), "disk full");
}

TEST(JsonWriter, LongTextIsHandedOverInPieces) {
  const std::string piece(1000, 'x');
  const std::string text = Json([&](JsonWriter& json) {
    json.BeginArray();
    for (int i = 0; i < 1000; ++i) {
      json.String(piece);
    }
    json.EndArray();
  });
  EXPECT_EQ(text.size(), 1000U * 1003 + 1);
}

}  // namespace
}  // namespace borescope::internal
