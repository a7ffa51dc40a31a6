#include "borescope/ingest/kineto/kineto_ranges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

namespace borescope::internal {
namespace {

// Counters of a range whose "args" are `args`, with nothing readable after them: an address
// sanitizer detects every byte too far.
size_t MetricsIn(std::string_view args) {
  const auto copy = std::make_unique<char[]>(args.size());
  std::copy(args.begin(), args.end(), copy.get());
  RawEvent event;
  event.Set(Field::kArgs, {copy.get(), args.size()});
  TracePart part;
  EventValues values(part.data.diagnostics);
  AddProfilerRange(event, values, part);
  return part.data.metrics.size();
}

TEST(KinetoRangesTest, ReadsNothingBehindAKey) {
  EXPECT_EQ(MetricsIn(R"({"a":1})"), 1U);
  EXPECT_EQ(MetricsIn(R"({"":1})"), 1U);
  EXPECT_EQ(MetricsIn(R"({"Seq":1})"), 0U);
  EXPECT_EQ(MetricsIn(R"({"x":1,"a)"), 1U);
  EXPECT_EQ(MetricsIn(R"({"a":)"), 0U);
}

TEST(KinetoRangesTest, LongNamesAreCounters) {
  for (const size_t size : {8U, 55U, 56U, 57U, 64U, 500U}) {
    EXPECT_EQ(MetricsIn("{\"" + std::string(size, 'x') + "\":1}"), 1U) << size;
  }
}

}  // namespace
}  // namespace borescope::internal
