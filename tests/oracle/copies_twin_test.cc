// Rates of copies against a slow twin.

#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "borescope/analysis/core/param_specs.h"
#include "tests/oracle/verb_answers.h"

namespace borescope::internal {
namespace {

using testkit::Ask;
using testkit::Cell;
using testkit::Line;
using testkit::Lines;
using testkit::LinesOf;
using testkit::MakeRandomRun;
using testkit::Random;
using testkit::RandomRun;
using testkit::RandomSelection;
using testkit::RunSelection;
using testkit::RunWork;
using testkit::TableOf;
using testkit::TraceOf;

std::string KindOf(const RunWork& work) {
  static const std::map<std::string, std::string> kKinds = {
      {"Memcpy HtoD (Pinned -> Device)", "HtoD"},
      {"Memcpy DtoH (Device -> Pinned)", "DtoH"},
      {"Memcpy DtoD (Device -> Device)", "DtoD"},
      {"Memcpy PtoP (Device -> Device)", "PtoP"},
      {"CopyHostToDevice", "HtoD"},
      {"Memset (Device)", "memset"}};
  return kKinds.at(work.name);
}

using Key = std::pair<int64_t, std::string>;  // device, kind
using Copies = std::map<Key, std::vector<const RunWork*>>;

Copies CopiesOf(const RandomRun& run, const RunSelection& selection) {
  Copies copies;
  for (const RunWork& work : run.work) {
    if (work.kind != DeviceKind::kKernel && selection.Keeps(work) &&
        selection.KeepsTime(RequestTime(run, work))) {
      copies[{work.gpu, KindOf(work)}].push_back(&work);
    }
  }
  return copies;
}

bool IsRated(const RunWork& work) { return work.bytes > 0 && work.time.length() > 0; }

double RateOf(const RunWork& work) {
  return static_cast<double>(work.bytes) / static_cast<double>(work.time.length());
}

// Of the rates, sorted: the middle one, or the mean of the two in the middle.
double MedianOf(const std::vector<double>& rates) {
  return (rates[(rates.size() - 1) / 2] + rates[rates.size() / 2]) / 2;
}

std::string Quotient(int64_t part, int64_t whole) {
  return testkit::Cell(static_cast<double>(part) / static_cast<double>(whole));
}

std::string RowOf(const Key& key, const std::vector<const RunWork*>& copies) {
  int64_t bytes = kMissing;
  int64_t total = 0;
  int64_t rated_bytes = 0;
  int64_t rated_total = 0;
  std::vector<double> rates;
  for (const RunWork* work : copies) {
    if (work->bytes != kMissing) {
      bytes = (bytes == kMissing ? 0 : bytes) + work->bytes;
    }
    total += work->time.length();
    if (IsRated(*work)) {
      rated_bytes += work->bytes;
      rated_total += work->time.length();
      rates.push_back(RateOf(*work));
    }
  }
  std::sort(rates.begin(), rates.end());
  const auto count = static_cast<int64_t>(copies.size());
  const int64_t unrated = count - static_cast<int64_t>(rates.size());
  const std::string sum = bytes == kMissing ? "-" : std::to_string(bytes);
  const std::string front = Line(key.first, key.second, count, sum, total);
  const std::string coverage = total == 0 ? "-" : Quotient(rated_total, total);
  if (rates.empty()) {
    return Line(front, "- - - -", unrated, coverage);
  }
  const bool has_mean = 10 * (total - rated_total) <= total;
  return Line(front, has_mean ? Quotient(rated_bytes, rated_total) : "-", rates.front(),
              MedianOf(rates), rates.back(), unrated, coverage);
}

// At every begin and end of a rated copy, what runs from then on.
Lines SeriesOf(const Copies& copies) {
  Lines series;
  for (const auto& [key, works] : copies) {
    for (int64_t ns = 0; ns <= testkit::kRunEnd; ++ns) {
      bool changes = false;
      int64_t running = 0;
      double rate = 0;
      for (const RunWork* work : works) {
        if (!IsRated(*work)) {
          continue;
        }
        changes = changes || work->time.begin == ns || work->time.end == ns;
        if (work->time.begin <= ns && ns < work->time.end) {
          ++running;
          rate += RateOf(*work);
        }
      }
      if (changes) {
        series.insert(Line(key.first, key.second, ns, running, rate));
      }
    }
  }
  return series;
}

TEST(CopiesTwinTest, EveryCopyAndEveryChange) {
  for (uint64_t seed = 0; seed < 3000 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomRun run = MakeRandomRun(random);
    Params params;
    const RunSelection selection = RandomSelection(random, run, params);
    params.values.push_back({kSeriesParam.name, 1, ""});
    const Copies copies = CopiesOf(run, selection);
    Lines want;
    for (const auto& [key, works] : copies) {
      want.insert(RowOf(key, works));
    }
    const Tables found = Ask("bandwidth", TraceOf(run), params);
    EXPECT_EQ(LinesOf(TableOf(found, "bandwidth"),
                      {"gpu", "kind", "count", "bytes", "total_ns", "mean_gbps", "min_gbps",
                       "p50_gbps", "max_gbps", "unrated", "coverage"}),
              want);
    EXPECT_EQ(
        LinesOf(TableOf(found, "bandwidth_series"), {"gpu", "kind", "ts_ns", "copies", "gbps"}),
        SeriesOf(copies));
  }
}

}  // namespace
}  // namespace borescope::internal
