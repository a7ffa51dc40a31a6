#include "borescope/packs/chakra/json/py_repr.h"

#include <gtest/gtest.h>

#include <limits>

namespace borescope::internal {
namespace {

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
