#include "borescope/ingest/ncu/counter_csv.h"

#include <gtest/gtest.h>

#include "borescope/ingest/ncu/counter_reports.h"
#include "borescope/trace/report_texts.h"

namespace borescope::internal {
namespace {

TEST(ReportTextsTest, UnitsOfMetrics) {
  EXPECT_EQ(UnitOfMetric("dram__bytes_read.sum"), "byte");
  EXPECT_EQ(UnitOfMetric("dram__bytes.sum.per_second"), "byte/second");
  EXPECT_EQ(UnitOfMetric("lts__t_bytes.sum.pct_of_peak_sustained_elapsed"), "%");
  EXPECT_EQ(UnitOfMetric("gpu__time_duration.sum"), "ns");
  EXPECT_EQ(UnitOfMetric("gpc__cycles_elapsed.avg.per_second"), "Hz");
  EXPECT_EQ(UnitOfMetric("sm__cycles_elapsed.max"), "cycle");
  EXPECT_EQ(UnitOfMetric("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"), "inst");
  EXPECT_EQ(UnitOfMetric("launch__occupancy_limit_warps"), "block");
  EXPECT_EQ(UnitOfMetric("launch__shared_mem_config_size"), "byte");
  EXPECT_EQ(UnitOfMetric("launch__registers_per_thread"), "register/thread");
  EXPECT_EQ(UnitOfMetric("launch__waves_per_multiprocessor"), "");
  EXPECT_EQ(UnitOfMetric("device__attribute_clock_rate"), "");
  EXPECT_EQ(UnitOfMetric("sm__ops_path_tensor_src_bf16_dst_fp32.sum"), "");
}

TEST(ReportTextsTest, FunctionsInNames) {
  EXPECT_EQ(FunctionInName("add(float*, int)"), "add");
  EXPECT_EQ(FunctionInName("void at::native::(anonymous namespace)::fill<4, at::Op<float> >(int)"),
            "fill");
  EXPECT_EQ(FunctionInName("void native::<unnamed>::fill<(int)4, lambda(a -> b)>(int)"), "fill");
  EXPECT_EQ(FunctionInName("sm90_xmma_gemm_bf16"), "sm90_xmma_gemm_bf16");
  EXPECT_EQ(FunctionInName("a::(anonymous namespace)(anonymous namespace)"), "unnamedunnamed");
  EXPECT_EQ(FunctionInName("void scope::Functor<int>::operator()(int) const"), "operator()");
}

TEST(ReportTextsTest, UnitsAsPrinted) {
  const auto unit = [](std::string_view text) {
    const PrefixedUnit parsed = ParseUnit(text);
    return parsed.unit + " e" + std::to_string(parsed.power);
  };
  EXPECT_EQ(unit("Kbyte/block"), "byte/block e3");
  EXPECT_EQ(unit("Tbyte/s"), "byte/second e12");
  EXPECT_EQ(unit("usecond"), "ns e3");
  EXPECT_EQ(unit("ms"), "ns e6");
  EXPECT_EQ(unit("Ghz"), "Hz e9");
  EXPECT_EQ(unit("SM"), "SM e0");
  EXPECT_EQ(unit("%"), "% e0");
  EXPECT_EQ(unit("Minst"), "inst e6");
}

TEST(ReportTextsTest, NumbersAsPrinted) {
  EXPECT_EQ(ParsePrinted("1,234.5", false)->value, 1234.5);
  EXPECT_EQ(ParsePrinted("1.234,5", false)->value, 1234.5);
  EXPECT_EQ(ParsePrinted("1,234", false)->value, 1234);
  EXPECT_EQ(ParsePrinted("1,234", true)->value, 1.234);
  EXPECT_EQ(ParsePrinted("1.234.567", true)->value, 1234567);
  EXPECT_EQ(ParsePrinted("8.404480", false, 6)->value, 8404480);
  EXPECT_DOUBLE_EQ(ParsePrinted("8.404480", false, 6)->rounded_by, 0.5);
  EXPECT_EQ(ParsePrinted("0.027931", false, 9)->value, 27931000);
  EXPECT_DOUBLE_EQ(ParsePrinted("0.027931", false, 9)->rounded_by, 500);
  EXPECT_EQ(ParsePrinted("42", false)->rounded_by, 0);
  EXPECT_EQ(ParsePrinted("4.3e-02", false)->value, 0.043);
  EXPECT_EQ(ParsePrinted("-17", false)->value, -17);
  EXPECT_FALSE(ParsePrinted("PolicySpread", false).has_value());
  EXPECT_FALSE(ParsePrinted("", false).has_value());
  EXPECT_FALSE(ParsePrinted(".", false).has_value());
  EXPECT_FALSE(ParsePrinted("1e999", false).has_value());
  EXPECT_TRUE(ProvesDecimalComma("1.234,5"));
  EXPECT_TRUE(ProvesDecimalComma("0,027931"));
  EXPECT_TRUE(ProvesDecimalComma("0,123"));
  EXPECT_TRUE(ProvesDecimalComma("12,5"));
  EXPECT_FALSE(ProvesDecimalComma("1,234"));
  EXPECT_FALSE(ProvesDecimalComma("1,234,567"));
  EXPECT_FALSE(ProvesDecimalComma("1,234.5"));
  EXPECT_FALSE(ProvesDecimalComma("12.5"));
}

struct Read {
  std::vector<CounterReport> reports;
  Diagnostics diagnostics;
};

Read ReadText(const std::string& text) {
  Read read;
  Result<CounterReport> report = ReadCounterReportBytes(text, "test.csv", read.diagnostics);
  if (report.ok()) {
    read.reports.push_back(std::move(*report));
  }
  return read;
}

double ValueOf(const CounterReport& report, size_t kernel, std::string_view metric) {
  for (const CountedKernel::Value& value : report.kernels.at(kernel).values) {
    if (report.metrics[value.metric].name == metric) {
      return value.value;
    }
  }
  return -1;
}

constexpr std::string_view kWideNames =
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\","
    "\"thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg\","
    "\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\","
    "\"dram__bytes_read.sum\",\"gpu__time_duration.sum\",\"launch__func_cache_config\"\n";

std::string WideRow(std::string_view id, std::string_view ranges, std::string_view values) {
  std::string row = "\"";
  row.append(id).append("\",\"1,285\",\"python3\",\"host-1\",\"").append(ranges);
  row.append("\",\"void scope::add<(int)4>(float *, int)\",\"1\",\"7\",\"(256, 1, 1)\",");
  row.append("\"(1056, 2, 1)\",\"0\",\"9.0\",").append(values).append("\n");
  return row;
}

TEST(NcuCsvTest, WideText) {
  const std::string units =
      "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"Mbyte\",\"us\",\"\"\n";
  const std::string ranges =
      "1285  \"\"<default domain>:aten::mm, seq = 5:none:none:none:none:none:none\"\"  "
      "\"\"CCCL:cub::Sort:none:none:none:none:REGISTERED:cub::Sort\"\" ";
  const Read read =
      ReadText("==PROF== Connected to process 1285\nhello\n" + std::string(kWideNames) + units +
               WideRow("0", ranges, "\"8.404480\",\"13.248000\",\"CachePreferNone\"") +
               WideRow("1", "", "\"n/a\",\"1,013.5\",\"CachePreferNone\"") +
               "==PROF== Disconnected\n\"x\"\n");
  ASSERT_EQ(read.reports.size(), 1U);
  const CounterReport& report = read.reports.front();
  EXPECT_FALSE(report.whole_names);
  EXPECT_EQ(report.program, "python3");
  ASSERT_EQ(report.kernels.size(), 2U);
  const CountedKernel& kernel = report.kernels[0];
  EXPECT_EQ(kernel.function, "add");
  EXPECT_EQ(kernel.pid, 1285);
  EXPECT_EQ(kernel.grid, (std::array<int64_t, 3>{1056, 2, 1}));
  EXPECT_EQ(kernel.block, (std::array<int64_t, 3>{256, 1, 1}));
  EXPECT_EQ(kernel.stream, 7);
  EXPECT_EQ(kernel.ranges, (std::vector<std::string>{"aten::mm, seq = 5", "CCCL:cub::Sort"}));
  EXPECT_EQ(kernel.dur_ns, 13248);
  EXPECT_EQ(kernel.texts.at(0).text, "CachePreferNone");
  EXPECT_EQ(ValueOf(report, 0, "dram__bytes_read.sum"), 8404480);
  EXPECT_EQ(ValueOf(report, 1, "dram__bytes_read.sum"), -1);
  EXPECT_EQ(ValueOf(report, 1, "gpu__time_duration.sum"), 1013500);
  EXPECT_EQ(report.metrics[0].unit, "byte");
  EXPECT_EQ(read.diagnostics.count(Diag::kMetricWithoutValue), 1U);
  EXPECT_EQ(read.diagnostics.count(Diag::kRoundedCounters), 1U);  // 1,013.5 us
}

TEST(NcuCsvTest, RangesOfSeveralThreads) {
  const Read read = ReadText(
      std::string(kWideNames) +
      WideRow("0",
              "1  \"\"<default domain>:a:none:none:none:none:none:none\"\" \n2  \"\"<default "
              "domain>:b:none:none:none:none:none:none\"\" ",
              "\"1\",\"2\",\"\""));
  ASSERT_EQ(read.reports.size(), 1U);
  EXPECT_TRUE(read.reports[0].kernels.at(0).ranges.empty());
  EXPECT_EQ(read.diagnostics.count(Diag::kNvtxThreadUnknown), 1U);
}

TEST(NcuCsvTest, OneCellProvesTheDecimalComma) {
  const std::string text = std::string(kWideNames) + WideRow("0", "", "\"1,234\",\"2.345\",\"x\"");
  const Read english = ReadText(text);
  EXPECT_EQ(ValueOf(english.reports.at(0), 0, "dram__bytes_read.sum"), 1234);
  EXPECT_EQ(ValueOf(english.reports.at(0), 0, "gpu__time_duration.sum"), 2.345);
  const Read german = ReadText(text + WideRow("1", "", "\"1.234,5\",\"1\",\"x\""));
  EXPECT_EQ(ValueOf(german.reports.at(0), 0, "dram__bytes_read.sum"), 1.234);
  EXPECT_EQ(ValueOf(german.reports.at(0), 0, "gpu__time_duration.sum"), 2345);
  EXPECT_EQ(ValueOf(german.reports.at(0), 1, "dram__bytes_read.sum"), 1234.5);
}

TEST(NcuCsvTest, LongText) {
  const std::string names =
      "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\","
      "\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric "
      "Name\",\"Metric Unit\",\"Metric Value\"\n";
  const auto row = [](std::string_view id, std::string_view metric) {
    return "\"" + std::string(id) +
           "\",\"5\",\"app\",\"h\",\"add(int)\",\"1\",\"7\",\"(32, 1, 1)\",\"(2, 1, 1)\",\"0\","
           "\"9.0\",\"Command line profiler metrics\"," +
           std::string(metric) + "\n";
  };
  const Read read = ReadText(names + row("0", "\"dram__bytes_read.sum\",\"Kbyte\",\"1.5\"") +
                             row("0", "\"DRAM Frequency\",\"Ghz\",\"2.6\"") +
                             row("1", "\"dram__bytes_read.sum\",\"Mbyte\",\"2\""));
  ASSERT_EQ(read.reports.size(), 1U);
  const CounterReport& report = read.reports.front();
  ASSERT_EQ(report.kernels.size(), 2U);
  EXPECT_EQ(report.metrics.size(), 1U);
  EXPECT_EQ(ValueOf(report, 0, "dram__bytes_read.sum"), 1500);
  EXPECT_EQ(ValueOf(report, 1, "dram__bytes_read.sum"), 2e6);
}

TEST(NcuCsvTest, CutAtEveryByte) {
  const std::string text = std::string(kWideNames) + WideRow("0", "", "\"1\",\"2\",\"x\"") +
                           WideRow("1", "", "\"3\",\"4\",\"x\"");
  for (size_t size = 0; size < text.size(); ++size) {
    const Read read = ReadText(text.substr(0, size));
    if (!read.reports.empty()) {
      EXPECT_LE(read.reports[0].kernels.size(), 2U);
    }
  }
  const Read cut = ReadText(text.substr(0, text.size() - 20));
  ASSERT_EQ(cut.reports.size(), 1U);
  EXPECT_EQ(cut.reports[0].kernels.size(), 1U);
  EXPECT_EQ(cut.diagnostics.count(Diag::kTruncatedReport), 1U);
}

constexpr std::string_view kRocprofNames =
    "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Thread_Id\","
    "\"Grid_Size\",\"Kernel_Name\",\"Workgroup_Size\",\"Counter_Name\",\"Counter_Value\","
    "\"Start_Timestamp\",\"End_Timestamp\"\n";

std::string Dispatch(int dispatch, int process, std::string_view counter) {
  return "1," + std::to_string(dispatch) + ",\"Agent 4\",2," + std::to_string(process) +
         ",9,1024,\"gemm(int)\",256," + std::string(counter) + ",1000,1500\n";
}

TEST(RocprofCountersTest, FilesOfOneRunAreOneReport) {
  Diagnostics diagnostics;
  RocprofCounters counters;
  ASSERT_TRUE(counters
                  .Add(std::string(kRocprofNames) + Dispatch(2, 5, "\"SQ_WAVES\",16.000000") +
                           Dispatch(1, 5, "\"SQ_WAVES\",8.0"),
                       "out/pass_1/5_counter_collection.csv", diagnostics)
                  .ok());
  // The program ran again for the second pass, with another number of its process.
  ASSERT_TRUE(counters
                  .Add(std::string(kRocprofNames) + Dispatch(1, 6, "\"FETCH_SIZE\",4.3e-02") +
                           Dispatch(2, 6, "\"FETCH_SIZE\",2"),
                       "out/pass_2/6_counter_collection.csv", diagnostics)
                  .ok());
  const CounterReport report = counters.Finish(diagnostics);
  EXPECT_TRUE(report.amd);
  EXPECT_EQ(report.tool, "rocprofv3");
  ASSERT_EQ(report.kernels.size(), 2U);
  const CountedKernel& first = report.kernels[0];
  EXPECT_EQ(first.grid, (std::array<int64_t, 3>{1024, 1, 1}));
  EXPECT_EQ(first.block, (std::array<int64_t, 3>{256, 1, 1}));
  EXPECT_EQ(first.device, 0);
  EXPECT_EQ(first.stream, 2);
  EXPECT_EQ(first.ts_ns, 1000);
  EXPECT_EQ(first.dur_ns, 500);
  EXPECT_EQ(ValueOf(report, 0, "SQ_WAVES"), 8);
  EXPECT_EQ(ValueOf(report, 0, "FETCH_SIZE"), 0.043);
  EXPECT_EQ(ValueOf(report, 1, "FETCH_SIZE"), 2);
  EXPECT_EQ(report.metrics[1].unit, "KiB");
  EXPECT_TRUE(diagnostics.empty());
}

TEST(RocprofCountersTest, WholeNumbersThatADoubleDoesNotHoldAreKept) {
  Diagnostics diagnostics;
  RocprofCounters counters;
  ASSERT_TRUE(counters
                  .Add(std::string(kRocprofNames) + Dispatch(1, 5, "\"A\",9007199254740993") +
                           Dispatch(2, 5, "\"A\",9007199254740992") +
                           Dispatch(3, 5, "\"A\",9.007199254740993e15") +
                           Dispatch(4, 5, "\"A\",99999999999999999999"),
                       "5_counter_collection.csv", diagnostics)
                  .ok());
  const CounterReport report = counters.Finish(diagnostics);
  ASSERT_EQ(report.kernels.size(), 4U);
  EXPECT_EQ(report.kernels[0].values.at(0).exact, 9007199254740993);
  for (size_t i = 1; i < 4; ++i) {
    EXPECT_FALSE(report.kernels[i].values.at(0).exact.has_value()) << i;
  }
}

TEST(CounterFormatTest, IsRecognisedByContent) {
  EXPECT_EQ(CounterFormatOf(std::string_view("NVR\0\x02", 5)), TraceFormat::kNcuReport);
  EXPECT_EQ(CounterFormatOf(kWideNames), TraceFormat::kNcuCsv);
  EXPECT_EQ(CounterFormatOf("==PROF== x\n" + std::string(kWideNames)), TraceFormat::kNcuCsv);
  EXPECT_EQ(CounterFormatOf(kRocprofNames), TraceFormat::kRocprofV3Csv);
  EXPECT_FALSE(CounterFormatOf("{\"traceEvents\": []}").has_value());
  EXPECT_FALSE(CounterFormatOf("").has_value());
}

}  // namespace
}  // namespace borescope::internal
