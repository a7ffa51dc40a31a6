// Counters of real reports joined with real traces: 27 operators of which everything is known
// (model, measured amounts, verdicts), and reports that are cut from the trace itself, whose truth
// is known kernel by kernel.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "borescope/analysis/measures/counter_join/counted_work.h"
#include "borescope/analysis/measures/counter_join/counter_join.h"
#include "borescope/analysis/verbs/counters/counter_tables.h"
#include "borescope/ingest/ncu/counter_reports.h"
#include "borescope/table/typed_rows.h"
#include "tests/oracle/samples.h"

namespace borescope::internal {
namespace {

using testkit::LoadSample;
using testkit::Sample;
using testkit::SamplePath;

constexpr const char* kOps = "h100/ncu/ops.pt.trace.json.gz";
constexpr const char* kReport = "h100/ncu/ops_ncu.ncu-rep.gz";
constexpr const char* kReportText = "h100/ncu/ops_ncu.csv.gz";

CounterReport ReadSample(const char* file) {
  Diagnostics diagnostics;
  Result<CounterReport> report = ReadCounterReport(SamplePath(file).string(), diagnostics);
  EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().Sentence());
  return report.ok() ? std::move(*report) : CounterReport();
}

RankCounters Joined(const RankView& view, CounterReport report) {
  GivenReports given;
  given.reports.push_back(std::make_shared<const CounterReport>(std::move(report)));
  Result<RankCounters> joined = JoinCounters(view, given);
  EXPECT_TRUE(joined.ok()) << (joined.ok() ? "" : joined.error().Sentence());
  return joined.ok() ? std::move(*joined) : RankCounters();
}

// What is known of the kernels of one operator in one case; kUnknown: missing.
constexpr double kUnknown = -1;
struct Case {
  const char* name;
  const char* op;
  double matrix;
  double vector;  // of the model; kUnknown: not compared
  double tensor;
  double vector_ops;
  double model_read, model_written;
  double read, written;
  double l2;
  const char* flops_verdict;
  const char* bytes_verdict;
};
constexpr Case kCases[] = {
    {"mm_bf16", "mm", 137438953472, 0, 137438953472, 0, 67108864, 33554432, 150554368, 28173568,
     1050109216, "equal", "more traffic"},
    {"addmm_f32", "addmm", 1073741824, 524288, 0, 1074790400, 6295552, 2097152, 6338304, 0,
     46261568, "equal", "ok"},
    {"bmm_bf16", "bmm", 536870912, 0, 536870912, 0, 6291456, 1048576, 6308096, 0, 12595264, "equal",
     "ok"},
    {"conv2d_f16", "cudnn_convolution", 7398752256, 0, kUnknown, 12983296, 6569984, 12845056,
     6622464, 16896, 84606016, "not measured", "ok"},
    {"sdpa_flash", "_cudnn_attention_forward", 8598323200, kUnknown, 9663676416, 141591552,
     25165824, 8650752, 25189632, 2120960, 103007552, "more work", "ok"},
    {"sdpa_full", "_cudnn_attention_forward", 17179869184, kUnknown, 17179869184, 248022016,
     25165824, 8650752, 25186048, 1623296, 105011360, "equal", "ok"},
    {"layer_norm", "native_layer_norm", 0, 33558528, 0, 112447488, 8392704, 8421376, 8404480, 2304,
     27931200, "", "ok"},
    {"rms_norm", "_fused_rms_norm", 0, 16781312, 0, 19976192, 8390656, 8404992, 8399360, 1536,
     27624096, "", "ok"},
    {"softmax", "_softmax", 0, 16777216, 0, 92930048, 8388608, 8388608, 8416000, 2816, 27260448, "",
     "ok"},
    {"gelu", "gelu", 0, 33554432, 0, 80347192, 8388608, 8388608, 8401920, 256, 27247968, "", "ok"},
    {"add_bcast", "add", 0, 4194304, 0, 8388608, 8390656, 8388608, 8417024, 2560, 27578976, "",
     "ok"},
    {"cat", "cat", 0, 0, 0, 0, 16777216, 16777216, 8393216, 629504, 50722016, "", "less traffic"},
    {"embedding", "gather", 0, 0, 0, 0, 8421376, 8388608, 7872256, 4864, 27183264, "", "ok"},
    {"index_select", "gather", 0, 0, 0, 0, 8421376, 8388608, 7872256, 5376, 26370784, "", "ok"},
    {"sum", "sum", 0, 4194304, 0, 5767168, 8388608, 8192, 8454400, 0, 14591936, "", "ok"},
    {"transpose_copy", "copy_", 0, 0, 0, 0, 33554432, 33554432, 33579264, 21580544, 562139232, "",
     "ok"},
    {"where", "where", 0, 4194304, 0, 0, 12584960, 8388608, 12613120, 40448, 33851328, "", "ok"},
    {"cast", "copy_", 0, 0, 0, 0, 8388608, 16777216, 8421120, 391168, 40434080, "", "ok"},
    {"cross_entropy", "_log_softmax", 0, 134217728, 0, 592052224, 134217728, 134217728, 134233856,
     116409856, 409263808, "", "ok"},
    {"cross_entropy", "nll_loss_forward", 0, 4096, 0, 8712, 49152, 8, 303104, 0, 1774816, "",
     "more traffic"},
    {"sort", "sort", 0, 0, 0, 0, 4194304, 12582912, 54806016, 848640, 209232352, "",
     "more traffic"},
    {"topk", "topk", 0, 8388608, 0, 0, 16777216, 393216, 116991232, 27136, 250622496, "",
     "more traffic"},
    {"cumsum", "cumsum", 0, 4194304, 0, 10616832, 16777216, 16777216, 16793856, 1717248, 52913024,
     "", "ok"},
    {"max_pool", "max_pool2d_with_indices", 0, 3211264, 0, 0, 6422528, 8028160, 6429952, 512,
     23672384, "", "ok"},
    {"batch_norm", "native_batch_norm", 0, 25690176, 0, 62996736, 12845568, 12846080, 25770752,
     85248, 65485920, "", "more traffic"},
    {"group_norm", "native_group_norm", 0, 25690240, 0, 60937984, 6422528, 6423552, 12893696, 512,
     34164000, "", "more traffic"},
    {"foreach_add", "_foreach_add", 0, 12582912, 0, 12582912, 25165824, 25165824, 8395264, 4088576,
     69657344, "", "less traffic"},
    {"matmul_f16_odd", "mm", 1552446000, 0, kUnknown, 8079304, 3550446, 1554000, 16059904, 17920,
     67557472, "not measured", "more traffic"},
};

// The row of counter_ops of an operator, as numbers.
struct MeasuredOp {
  std::string_view op = {};
  std::optional<int64_t> matrix_flops = {};
  std::optional<int64_t> vector_flops = {};
  std::optional<int64_t> tensor_flops = {};
  std::optional<int64_t> vector_ops = {};
  std::optional<int64_t> model_read = {};
  std::optional<int64_t> model_written = {};
  std::optional<int64_t> dram_read = {};
  std::optional<int64_t> dram_written = {};
  std::optional<int64_t> l2_bytes = {};
  std::optional<std::string_view> flops_verdict = {};
  std::optional<std::string_view> bytes_verdict = {};

  static constexpr TableNames kTable{"counter_ops", ""};
  static constexpr ColumnOf<MeasuredOp> kColumns[] = {
      {"op", &MeasuredOp::op},
      {"matrix_flops", &MeasuredOp::matrix_flops},
      {"vector_flops", &MeasuredOp::vector_flops},
      {"tensor_flops", &MeasuredOp::tensor_flops},
      {"vector_ops", &MeasuredOp::vector_ops},
      {"model_read", &MeasuredOp::model_read},
      {"model_written", &MeasuredOp::model_written},
      {"dram_read", &MeasuredOp::dram_read},
      {"dram_written", &MeasuredOp::dram_written},
      {"l2_bytes", &MeasuredOp::l2_bytes},
      {"flops_verdict", &MeasuredOp::flops_verdict},
      {"bytes_verdict", &MeasuredOp::bytes_verdict}};
};

void ExpectAmount(const std::optional<int64_t>& found, double expected, double rounded,
                  const char* what) {
  if (expected == kUnknown) {
    EXPECT_FALSE(found.has_value()) << what << " " << found.value_or(0);
  } else {
    ASSERT_TRUE(found.has_value()) << what;
    EXPECT_NEAR(static_cast<double>(*found), expected, rounded) << what;
  }
}

class CounterCasesTest : public testing::TestWithParam<const char*> {};

TEST_P(CounterCasesTest, EveryAmountAndVerdictIsRight) {
  if (!std::filesystem::exists(SamplePath(GetParam()))) GTEST_SKIP() << "no sample";
  const bool is_text = std::string_view(GetParam()) == kReportText;
  const Sample sample = LoadSample(kOps);
  const RankView view{0, sample.trace, sample.index, 1};
  const RankCounters counters = Joined(view, ReadSample(GetParam()));
  ASSERT_EQ(counters.joins.size(), 1U);
  const DeviceJoin& join = counters.joins.front();
  EXPECT_EQ(join.profiled, 161);
  EXPECT_EQ(join.launches, 72);
  EXPECT_EQ(join.by_source[static_cast<size_t>(JoinSource::kRange)], 72);
  EXPECT_EQ(join.valued_ns, join.total_ns);
  EXPECT_EQ(join.total_ns, 1234296);
  EXPECT_EQ(join.other_build, 0);
  const Result<ModelledWork> work = ModelWork(view, {});
  ASSERT_TRUE(work.ok());
  for (const Case& known : kCases) {
    SCOPED_TRACE(known.name);
    SCOPED_TRACE(known.op);
    Selection selection;
    selection.annotation = std::string("case:") + known.name;
    const Result<Selected> selected = Selected::Make(view, selection);
    ASSERT_TRUE(selected.ok());
    const Table table = CounterOpsTable({view, *selected, counters, *work}, {}, 0.1);
    const std::vector<MeasuredOp> rows = ReadRows<MeasuredOp>(table);
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const MeasuredOp& one) {
      return one.op == std::string("aten::") + known.op;
    });
    ASSERT_NE(row, rows.end());
    // The text rounds sums above a thousand million.
    const double rounded = is_text ? 500 : 0;
    ExpectAmount(row->matrix_flops, known.matrix, 0, "matrix");
    if (known.vector != kUnknown) ExpectAmount(row->vector_flops, known.vector, 0, "vector");
    ExpectAmount(row->tensor_flops, known.tensor, 0, "tensor");
    ExpectAmount(row->vector_ops, known.vector_ops, 0, "vector ops");
    ExpectAmount(row->model_read, known.model_read, 0, "model read");
    ExpectAmount(row->model_written, known.model_written, 0, "model written");
    ExpectAmount(row->dram_read, known.read, 0, "read");
    ExpectAmount(row->dram_written, known.written, 0, "written");
    ExpectAmount(row->l2_bytes, known.l2, is_text ? 1 + rounded * 20 : 0, "l2");
    EXPECT_EQ(row->flops_verdict.value_or(""), known.flops_verdict);
    EXPECT_EQ(row->bytes_verdict.value_or(""), known.bytes_verdict);
  }
}

INSTANTIATE_TEST_SUITE_P(Samples, CounterCasesTest, testing::Values(kReport, kReportText),
                         [](const auto& test) {
                           return std::string(test.index == 0 ? "Report" : "Text");
                         });

// Six kernels with all percentages, and what Nsight Compute's own rules find.
TEST(CounterJoinSamples, LimitersAreThoseOfTheRulesOfTheTool) {
  constexpr const char* kBasic = "h100/ncu/basic_ncu.ncu-rep";
  if (!std::filesystem::exists(SamplePath(kBasic))) GTEST_SKIP() << "no sample";
  RankCounters counters;
  counters.reports = {std::make_shared<const CounterReport>(ReadSample(kBasic))};
  const CounterReport& report = *counters.reports.front();
  std::vector<std::string_view>& names = counters.metrics.emplace_back();
  for (const CounterMetric& metric : report.metrics) names.push_back(metric.name);
  const CounterMeanings meanings(names);
  constexpr Limiter kLimiter[] = {Limiter::kCompute, Limiter::kCompute, Limiter::kLatency,
                                  Limiter::kLatency, Limiter::kCompute, Limiter::kCompute};
  constexpr double kCompute[] = {73.10, 73.10, 48.18, 47.42, 63.95, 63.75};
  ASSERT_EQ(report.kernels.size(), 6U);
  for (uint32_t i = 0; i < 6; ++i) {
    CounterGroup group;
    group.kernels = {i};
    for (const CountedKernel::Value& value : report.kernels[i].values) {
      group.mean.push_back({value.metric, value.value});
    }
    const MeasuredKernel kernel = meanings.Measure(group.mean);
    EXPECT_EQ(LimiterOf(kernel), kLimiter[i]) << i;
    EXPECT_NEAR(kernel.Percent(Percentage::kCompute).value_or(0), kCompute[i], 0.005) << i;
    EXPECT_TRUE(NearestPart(counters, group, false).starts_with("sm__issue_active"))
        << NearestPart(counters, group, false);
    EXPECT_NEAR(kernel.Percent(Percentage::kOccupancy).value_or(0), 50.65, 0.1) << i;
    EXPECT_NEAR(kernel.Percent(Percentage::kMaxOccupancy).value_or(0), 62.5, 0.01) << i;
    EXPECT_EQ(OccupancyLimit(kernel), "registers") << i;
    EXPECT_NEAR(kernel.clock_hz.value_or(0), 1.58e9, 0.02e9) << i;
  }
}

// The report with some of its kernels, and without ranges.
CounterReport Cut(CounterReport report, const std::function<bool(size_t)>& is_kept) {
  std::vector<CountedKernel> kernels;
  for (size_t i = 0; i < report.kernels.size(); ++i) {
    if (is_kept(i)) kernels.push_back(report.kernels[i]);
  }
  report.kernels = std::move(kernels);
  return report;
}

struct Shares {
  double valued = 0;
  double matched = 0;
  double wrong = 0;
};

// Of the time of the kernels whose launch was recorded: of others the trace does not know what they
// did. `is_right(row, group)` knows the truth.
Shares SharesOf(const RankView& view, const RankCounters& counters,
                const std::function<bool(DeviceId, const CounterGroup&)>& is_right) {
  double all = 0;
  Shares shares;
  for (const DeviceId id : counters.kernels) {
    if (!view.index.correlation.launch_of[id.value].valid()) continue;
    const auto ns = static_cast<double>(view.trace.device().dur_ns[id.value]);
    all += ns;
    const CounterGroup* const group = counters.GroupOf(id);
    if (group == nullptr) continue;
    shares.valued += ns;
    shares.matched += counters.SourceOf(id) == JoinSource::kBroadcast ? 0 : ns;
    shares.wrong += is_right(id, *group) ? 0 : ns;
  }
  shares.valued *= 100 / all;
  shares.matched *= 100 / all;
  shares.wrong *= 100 / all;
  return shares;
}

// Parts of the report, with what the study of the format found for each: time with counters, and
// matched time, in percent.
struct Part {
  const char* name;
  std::function<bool(const CounterReport&, size_t)> is_kept;
  double valued, matched;
  bool has_ranges = true;
};

TEST(CounterJoinSamples, PartsOfTheReportGiveWhatTheStudyFound) {
  if (!std::filesystem::exists(SamplePath(kReport))) GTEST_SKIP() << "no sample";
  const Sample sample = LoadSample(kOps);
  const RankView view{0, sample.trace, sample.index, 1};
  const CounterReport whole = ReadSample(kReport);
  std::set<std::tuple<std::string, std::array<int64_t, 3>, std::array<int64_t, 3>>> seen;
  const auto first_of_key = [&](const CounterReport& report, size_t i) {
    const CountedKernel& kernel = report.kernels[i];
    return seen.insert({kernel.name, kernel.grid, kernel.block}).second;
  };
  const std::vector<Part> parts = {
      {"all", [&](const CounterReport&, size_t) { return true; }, 100, 100},
      {"without ranges", [&](const CounterReport&, size_t) { return true; }, 100, 100, false},
      {"-c 20", [&](const CounterReport&, size_t i) { return i < 20; }, 20.5, 18.3},
      {"-c 40", [&](const CounterReport&, size_t i) { return i < 40; }, 56.5, 52.1},
      {"-c 60", [&](const CounterReport&, size_t i) { return i < 60; }, 83.0, 77.3},
      {"-s 100 -c 30", [&](const CounterReport&, size_t i) { return i >= 100 && i < 130; }, 51.7,
       47.0},
      {"first of each key", first_of_key, 85.3, 70.4}};
  for (const Part& part : parts) {
    CounterReport report = Cut(whole, [&](size_t i) { return part.is_kept(whole, i); });
    if (!part.has_ranges) {
      for (CountedKernel& kernel : report.kernels) kernel.ranges.clear();
    }
    const RankCounters counters = Joined(view, std::move(report));
    const Shares shares =
        SharesOf(view, counters, [](DeviceId, const CounterGroup&) { return true; });
    EXPECT_NEAR(shares.valued, part.valued, 0.1) << part.name;
    EXPECT_NEAR(shares.matched, part.matched, 0.1) << part.name;
  }
}

// Reports that are cut from a trace.

// What a kernel did, by the trace.
std::string WorkOf(const RankView& view, DeviceId id) {
  const Trace& trace = view.trace;
  const uint32_t detail = trace.device().detail[id.value];
  const Kernels& kernels = trace.kernels();
  std::string work(trace.Name(id));
  for (const int32_t size :
       {kernels.grid_x[detail], kernels.grid_y[detail], kernels.grid_z[detail],
        kernels.block_x[detail], kernels.block_y[detail], kernels.block_z[detail]}) {
    work += "|" + std::to_string(size);
  }
  for (HostId row = view.index.correlation.launch_of[id.value]; row.valid();
       row = view.index.tree.parent[row.value]) {
    const uint32_t args = trace.host().detail[row.value];
    if (trace.host().kind[row.value] != HostKind::kOp || args == kNoDetail) continue;
    if (trace.Text(trace.ops().input_dims[args]).empty()) continue;
    const std::string op(trace.Name(row));
    work += "|" + (op.ends_with("_") ? op.substr(0, op.size() - 1) : op);  // in place
    for (const StringId text : {trace.ops().input_dims[args], trace.ops().input_types[args],
                                trace.ops().concrete_inputs[args]}) {
      work += "|" + std::string(trace.Text(text));
    }
    break;
  }
  return work;
}

struct Simulated {
  CounterReport report;
  std::vector<std::string> truth;  // per kernel of the report
};

class CutTrace {
 public:
  explicit CutTrace(const char* file) : sample_(LoadSample(file)) {
    view_ = std::make_unique<RankView>(RankView{0, sample_.trace, sample_.index, 1});
    const DeviceEvents& device = sample_.trace.device();
    for (uint32_t row = 0; row < device.size(); ++row) {
      const DeviceId id{row};
      const HostId launch = sample_.index.correlation.launch_of[row];
      if (device.kind[row] == DeviceKind::kKernel && launch.valid()) kernels_.push_back(id);
      if (device.kind[row] == DeviceKind::kKernel) truth_[row] = WorkOf(*view_, id);
    }
    const HostEvents& host = sample_.trace.host();
    std::sort(kernels_.begin(), kernels_.end(), [&](DeviceId a, DeviceId b) {
      const auto place = [&](DeviceId id) {
        return std::tuple(host.ts_ns[sample_.index.correlation.launch_of[id.value].value],
                          device.ts_ns[id.value], id.value);
      };
      return place(a) < place(b);
    });
  }

  const RankView& view() const { return *view_; }

  // The kernels of a step, or of all of them, with times as under a tool.
  Simulated StepOf(uint32_t step, std::mt19937& random,
                   const std::function<bool(const CountedKernel&, size_t)>& is_kept) const {
    Simulated simulated;
    simulated.report.metrics = {{"gpu__time_duration.sum", "ns"}};
    std::uniform_real_distribution<double> factor(0.9, 1.5);
    std::uniform_real_distribution<double> more(0, 1800);
    size_t number = 0;
    for (const DeviceId id : kernels_) {
      if (sample_.index.steps.device_step[id.value] != step) continue;
      const uint32_t detail = sample_.trace.device().detail[id.value];
      const Kernels& kernels = sample_.trace.kernels();
      CountedKernel kernel;
      kernel.name = sample_.trace.Name(id);
      kernel.grid = {kernels.grid_x[detail], kernels.grid_y[detail], kernels.grid_z[detail]};
      kernel.block = {kernels.block_x[detail], kernels.block_y[detail], kernels.block_z[detail]};
      const auto ns = static_cast<double>(sample_.trace.device().dur_ns[id.value]);
      kernel.values = {{.metric = 0, .value = ns * factor(random) + more(random)}};
      if (is_kept(kernel, number++)) {
        simulated.report.kernels.push_back(kernel);
        simulated.truth.push_back(truth_.at(id.value));
      }
    }
    return simulated;
  }

  Shares Join(Simulated simulated) const {
    const RankCounters counters = Joined(*view_, std::move(simulated.report));
    return SharesOf(*view_, counters, [&](DeviceId id, const CounterGroup& group) {
      return std::all_of(group.kernels.begin(), group.kernels.end(),
                         [&](uint32_t i) { return simulated.truth[i] == truth_.at(id.value); });
    });
  }

  uint32_t steps() const { return static_cast<uint32_t>(sample_.index.steps.steps.size()); }

 private:
  Sample sample_;
  std::unique_ptr<RankView> view_;
  std::vector<DeviceId> kernels_;  // in the order of their launches
  std::map<uint32_t, std::string> truth_;
};

class SimulatedJoinTest : public testing::TestWithParam<const char*> {};

TEST_P(SimulatedJoinTest, CountersOfOtherWorkAreNotTaken) {
  const std::string file = std::string("h100/planted/") + GetParam() + ".pt.trace.json.gz";
  if (!std::filesystem::exists(SamplePath(file))) GTEST_SKIP() << "no sample";
  const CutTrace trace(file.c_str());
  ASSERT_GE(trace.steps(), 3U);
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    const uint32_t step = seed % trace.steps();
    const auto missing = [&](double part) {
      return [&random, part](const CountedKernel&, size_t) {
        return std::uniform_real_distribution<double>(0, 1)(random) >= part;
      };
    };
    const Shares whole =
        trace.Join(trace.StepOf(step, random, [](const CountedKernel&, size_t) { return true; }));
    EXPECT_GE(whole.valued, 99.5) << seed;
    EXPECT_EQ(whole.wrong, 0) << seed;
    const Shares most = trace.Join(trace.StepOf(step, random, missing(0.05)));
    EXPECT_GE(most.valued, 97) << seed;
    EXPECT_LE(most.wrong, 0.1) << seed;
    const Shares some = trace.Join(trace.StepOf(step, random, missing(0.2)));
    EXPECT_LE(some.wrong, 0.1) << seed;
    const size_t first = seed == 0 ? 0 : random() % 200;
    const Shares window =
        trace.Join(trace.StepOf(step, random, [first](const CountedKernel&, size_t i) {
          return i >= first && i < first + 200;
        }));
    EXPECT_LE(window.wrong, 0.1) << seed;
    std::set<std::tuple<std::string, std::array<int64_t, 3>, std::array<int64_t, 3>>> seen;
    const Shares one_each =
        trace.Join(trace.StepOf(step, random, [&seen](const CountedKernel& kernel, size_t) {
          return seen.insert({kernel.name, kernel.grid, kernel.block}).second;
        }));
    EXPECT_LE(one_each.wrong, 0.1) << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Samples, SimulatedJoinTest, testing::Values("big", "small", "fp32"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace borescope::internal
