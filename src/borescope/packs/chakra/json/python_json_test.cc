#include "borescope/packs/chakra/json/python_json.h"

#include <gtest/gtest.h>

#include <limits>

namespace borescope::internal {

namespace {

std::string Written(std::string_view json, JsonForm form = JsonForm::kIndented) {
  std::string out;
  const size_t bad = AppendValue(out, json, form, 0);
  return bad == std::string_view::npos ? out : "bad at " + std::to_string(bad);
}

std::string Repr(double value) {
  std::string out;
  AppendPythonDouble(out, value);
  return out;
}

// As repr() of Python 3.
TEST(PythonJson, Doubles) {
  EXPECT_EQ(Repr(0.1), "0.1");
  EXPECT_EQ(Repr(-0.0), "-0.0");
  EXPECT_EQ(Repr(2), "2.0");
  EXPECT_EQ(Repr(13010.85928125), "13010.85928125");
  EXPECT_EQ(Repr(4458676416788.066), "4458676416788.066");
  EXPECT_EQ(Repr(0.0001), "0.0001");
  EXPECT_EQ(Repr(0.00001), "1e-05");
  EXPECT_EQ(Repr(1e15), "1000000000000000.0");
  EXPECT_EQ(Repr(1e16), "1e+16");
  EXPECT_EQ(Repr(1.5e300), "1.5e+300");
  EXPECT_EQ(Repr(std::numeric_limits<double>::infinity()), "Infinity");
}

TEST(PythonJson, NumbersKeepTheirType) {
  EXPECT_EQ(Written("12345678901234567890123"), "12345678901234567890123");
  EXPECT_EQ(Written("-0"), "0");
  EXPECT_EQ(Written("1.50"), "1.5");
  EXPECT_EQ(Written("1E3"), "1000.0");
  EXPECT_EQ(Written("1e999"), "Infinity");
  EXPECT_EQ(Written("NaN"), "NaN");
}

TEST(PythonJson, StringsAreAscii) {
  EXPECT_EQ(Written(R"("a\/b")"), R"("a/b")");
  EXPECT_EQ(Written("\"\xC3\xA9\x7F\xF0\x9F\x98\x80\""), R"("\u00e9\u007f\ud83d\ude00")");
  EXPECT_EQ(Written(R"("\u0041\uD83D\n\u000A")"), R"("A\ud83d\n\n")");
  EXPECT_EQ(Written("\"\xFF\""), R"("\ufffd")");
  EXPECT_EQ(Written(R"("\uZZ")"), R"("\ufffdZZ")");
}

TEST(PythonJson, Layout) {
  EXPECT_EQ(
      Written(R"({"a":[],"b":{},"c":[1,[2]]})"),
      "{\n    \"a\": [],\n    \"b\": {},\n    \"c\": [\n        1,\n        [\n            2\n"
      "        ]\n    ]\n}");
  EXPECT_EQ(Written("{\"a\": [1, {\"b\" : null}]}", JsonForm::kCompact), R"({"a":[1,{"b":null}]})");
}

TEST(PythonJson, WhatIsNoJsonIsFound) {
  EXPECT_EQ(Written("[1 2]"), "bad at 3");
  EXPECT_EQ(Written("{\"a\"}"), "bad at 4");
  EXPECT_EQ(Written("[1}"), "bad at 2");
  EXPECT_EQ(Written("[nil]"), "bad at 4");
  EXPECT_EQ(Written("[1,]"), "bad at 3");
  EXPECT_EQ(Written(""), "bad at 0");
  EXPECT_EQ(Written(std::string(kDeepestJson, '[') + std::string(kDeepestJson, ']')).substr(0, 3),
            "[\n ");
  EXPECT_EQ(Written(std::string(100'000, '[')), "bad at " + std::to_string(kDeepestJson + 1));
}

std::string Str(std::string_view json) {
  std::string out;
  AppendPythonStr(json, out);
  return out;
}

std::string Float(double value) {
  std::string out;
  AppendPythonFloat(value, out);
  return out;
}

// What python3 prints for str(json.loads(text)).
TEST(PyRepr, ValuesAreThoseOfPython) {
  EXPECT_EQ(Str("[[433,434,0,\n 53120,4,\"cuda:0\"]]"), "[[433, 434, 0, 53120, 4, 'cuda:0']]");
  EXPECT_EQ(Str(R"x(["Tensor(float)", true, false, null])x"),
            "['Tensor(float)', True, False, None]");
  EXPECT_EQ(Str(R"({"a" : [ ], "b":{}})"), "{'a': [], 'b': {}}");
  EXPECT_EQ(Str("[NaN, Infinity, -Infinity]"), "[nan, inf, -inf]");
  EXPECT_EQ(Str("123456789012345678901234567890"), "123456789012345678901234567890");
  EXPECT_EQ(Str("[-0, 1E5, 1.50, -0.0]"), "[0, 100000.0, 1.5, -0.0]");
  EXPECT_EQ(Str("[1e999, -1e999, 1e-999, -1.0e-999]"), "[inf, -inf, 0.0, -0.0]");
}

TEST(PyRepr, ATextAloneStandsAsItIs) { EXPECT_EQ(Str(R"("it's \"so\"")"), "it's \"so\""); }

TEST(PyRepr, QuotationMarksDependOnTheText) {
  EXPECT_EQ(Str(R"(["it's"])"), R"(["it's"])");
  EXPECT_EQ(Str(R"(["\"so\""])"), R"(['"so"'])");
  EXPECT_EQ(Str(R"(["it's \"so\""])"), R"(['it\'s "so"'])");
}

TEST(PyRepr, WhatCannotBePrintedIsEscaped) {
  EXPECT_EQ(Str(R"(["a\\b\n\t\r\u0001\u007f\u00a0\u2028"])"),
            R"(['a\\b\n\t\r\x01\x7f\xa0\u2028'])");
  EXPECT_EQ(Str(R"(["\u00e9\ud83d\ude00"])"), "['\xc3\xa9\xf0\x9f\x98\x80']");
}

TEST(PyRepr, FloatsHaveTheShortestDigits) {
  EXPECT_EQ(Float(0.0001), "0.0001");
  EXPECT_EQ(Float(0.00001), "1e-05");
  EXPECT_EQ(Float(9999999999999998.0), "9999999999999998.0");
  EXPECT_EQ(Float(1e16), "1e+16");
  EXPECT_EQ(Float(-1.25e300), "-1.25e+300");
  EXPECT_EQ(Float(0), "0.0");
  EXPECT_EQ(Float(std::numeric_limits<double>::quiet_NaN()), "nan");
}

TEST(PyRepr, DamageEndsWhereItStands) {
  EXPECT_EQ(Str("[\"abc"), "['ab'");
  EXPECT_EQ(Str(R"(["\ud83d\u"])").size(), 10U);
  EXPECT_EQ(Str(""), "");
}

}  // namespace

}  // namespace borescope::internal
