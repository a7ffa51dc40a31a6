// The views of real .rpd files, to the digit: what sqlite3 answers for the views that the files
// themselves hold, and for those of the newest schema over the same rows.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/oracle/samples.h"
#include "tests/oracle/verb_answers.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kSmall = "rpd/matmul_result.rpd";
constexpr std::string_view kLarge = "rpd/matmul_result_large.rpd";

Tables Views(std::string_view verb, std::string_view file) {
  Params params;
  params.compat = Compat::kRpd;
  const testkit::Sample sample = testkit::LoadSample(std::string(file));
  return testkit::Ask(verb, sample.trace, params);
}

int64_t IntAt(const Table& table, std::string_view column, size_t row) {
  return std::get<IntValues>(table.Find(column)->values).at(row);
}

// As sqlite3 prints numbers with a fraction.
std::string FloatAt(const Table& table, std::string_view column, size_t row) {
  return fmt::format("{:.15g}", std::get<FloatValues>(table.Find(column)->values).at(row));
}

std::string TextAt(const Table& table, std::string_view column, size_t row) {
  return std::get<StringValues>(table.Find(column)->values)[row];
}

class RpdViewsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(testkit::SamplePath(std::string(kSmall)))) {
      GTEST_SKIP() << "no samples in " << testkit::SamplesFolder();
    }
  }
};

TEST_F(RpdViewsTest, Busy) {
  const Table small = testkit::TableOf(Views("busy", kSmall), "busy");
  ASSERT_EQ(small.rows(), 1U);
  EXPECT_EQ(IntAt(small, "gpuId", 0), 2);
  EXPECT_EQ(IntAt(small, "GpuTime", 0), 183'918'056);
  EXPECT_EQ(IntAt(small, "WallTime", 0), 2'964'070'817);
  EXPECT_EQ(FloatAt(small, "Busy", 0), "0.062049143679417");
  const Table large = testkit::TableOf(Views("busy", kLarge), "busy");
  ASSERT_EQ(large.rows(), 1U);
  EXPECT_EQ(IntAt(large, "GpuTime", 0), 2'110'631'504);
  EXPECT_EQ(IntAt(large, "WallTime", 0), 4'933'119'382);
  EXPECT_EQ(FloatAt(large, "Busy", 0), "0.427849265456921");
}

struct TotalsRow {
  std::string_view name;  // part of it
  int64_t calls;
  int64_t total;
  std::string_view mean;
  std::string_view percent;
};

void ExpectTop(const Table& top, std::initializer_list<TotalsRow> expected) {
  ASSERT_EQ(top.rows(), 23U);
  size_t row = 0;
  for (const TotalsRow& one : expected) {
    EXPECT_NE(TextAt(top, "Name", row).find(one.name), std::string::npos) << row;
    EXPECT_EQ(IntAt(top, "TotalCalls", row), one.calls) << one.name;
    EXPECT_EQ(IntAt(top, "TotalDuration_us", row), one.total) << one.name;
    if (!one.mean.empty()) {
      EXPECT_EQ(FloatAt(top, "Ave_us", row), one.mean) << one.name;
    }
    EXPECT_EQ(FloatAt(top, "Percentage", row), one.percent) << one.name;
    ++row;
  }
}

TEST_F(RpdViewsTest, TopOfTheSmallFile) {
  ExpectTop(testkit::TableOf(Views("top", kSmall), "top"),
            {{"CopyHostToDevice", 2, 157'178, "78589.031", "85.4609201610961"},
             {"Cijk_Ailk_Bljk_SB_MT128x64x16_", 1, 26'211, "26211.956", "14.2519753471078"},
             {"CopyDeviceToHost", 53, 334, "6.316", "0.182014755527864"},
             {"CatArrayBatchedCopy<", 6, 37, "6.186", "0.0201823577343597"},
             {"Min", 1, 19, "19.84", "0.0107874128465125"},
             {"Max", 1, 18, "18.88", "0.0102654412571651"}});
}

TEST_F(RpdViewsTest, TopOfTheLargeFile) {
  ExpectTop(testkit::TableOf(Views("top", kLarge), "top"),
            {{"CopyHostToDevice", 2, 1'577'218, "", "74.7273435941284"},
             {"MT64x64x16", 1, 532'802, "", "25.2437419791304"},
             {"CopyDeviceToHost", 53, 420, "", "0.0199313333096159"},
             {"CatArrayBatchedCopy", 6, 34, "", "0.0016374246254973"},
             {"Min", 1, 20, "", "0.000962745034435912"}});
}

TEST_F(RpdViewsTest, KtopIsTheTimeOfCalls) {
  const Table ktop = testkit::TableOf(Views("kernels", kSmall), "ktop");
  ASSERT_EQ(ktop.rows(), 20U);
  constexpr TotalsRow kExpected[] = {
      {"index_elementwise", 1, 9410, "9410", "14.4425800621681"},
      {"CatArrayBatchedCopy", 6, 8390, "1398", "12.8776976021265"},
      {"Min", 1, 5417, "5417", "8.31508458485423"},
      {"Bitwise", 1, 5334, "5334", "8.18712349030656"},
      {"Compare", 2, 5122, "2561", "7.8618068677483"},
  };
  for (size_t row = 0; row < std::size(kExpected); ++row) {
    const TotalsRow& one = kExpected[row];
    EXPECT_NE(TextAt(ktop, "Name", row).find(one.name), std::string::npos) << row;
    EXPECT_EQ(IntAt(ktop, "TotalCalls", row), one.calls) << one.name;
    EXPECT_EQ(IntAt(ktop, "TotalDuration", row), one.total) << one.name;
    EXPECT_EQ(fmt::format("{}", IntAt(ktop, "Ave", row)), one.mean) << one.name;
    EXPECT_EQ(FloatAt(ktop, "Percentage", row), one.percent) << one.name;
  }
  const Table large = testkit::TableOf(Views("kernels", kLarge), "ktop");
  EXPECT_EQ(IntAt(large, "TotalDuration", 0), 10'748);
  EXPECT_EQ(FloatAt(large, "Percentage", 0), "12.7513142450571");
}

TEST_F(RpdViewsTest, RowsOfTheOtherViews) {
  const Table op = testkit::TableOf(Views("top", kSmall), "op");
  ASSERT_EQ(op.rows(), 85U);
  EXPECT_EQ(IntAt(op, "start", 0), 8'306'017'670'485'923);
  EXPECT_EQ(IntAt(op, "end", 0), 8'306'017'825'375'030);
  EXPECT_EQ(TextAt(op, "description", 0), "");
  EXPECT_EQ(TextAt(op, "opType", 0), "CopyHostToDevice");
  const Table kernel = testkit::TableOf(Views("kernels", kSmall), "kernel");
  ASSERT_EQ(kernel.rows(), 29U);
  EXPECT_EQ(IntAt(kernel, "duration", 0), 26'211'956);
  EXPECT_EQ(IntAt(kernel, "gridX", 0), 1792);
  EXPECT_EQ(IntAt(kernel, "gridY", 0), 782);
  EXPECT_EQ(IntAt(kernel, "workgroupX", 0), 256);
  EXPECT_EQ(TextAt(kernel, "stream", 0), "0x0");
  const Tables copies = Views("bandwidth", kSmall);
  ASSERT_EQ(testkit::TableOf(copies, "copy").rows(), 55U);
  const Table copyop = testkit::TableOf(copies, "copyop");
  ASSERT_EQ(copyop.rows(), 55U);
  int64_t duration_ns = 0;
  for (size_t row = 0; row < copyop.rows(); ++row) {
    duration_ns += IntAt(copyop, "duration", row);
  }
  EXPECT_EQ(duration_ns, 157'512'821);
  EXPECT_EQ(testkit::TableOf(Views("launches", kSmall), "api").rows(), 125U);
}

}  // namespace
}  // namespace borescope::internal
