#include "borescope/ingest/ncu/report_trace.h"

#include <gtest/gtest.h>

#include <map>

#include "borescope/ingest/ncu/report_test_writer.h"

namespace borescope::internal {
namespace {

using ncu_test::Block;
using ncu_test::File;
using ncu_test::Message;
using ncu_test::Metric;
using ncu_test::Names;

// A kernel of 100 ns in ranges: texts with the numbers of their instances.
std::string KernelIn(const std::vector<std::pair<std::string, uint64_t>>& ranges,
                     uint64_t pid = 1) {
  Message stack = Message().Varint(1, 0);
  for (const auto& [text, number] : ranges) {
    stack.Bytes(3, Message().Bytes(1, text).Varint(3, number));
  }
  Message kernel = ncu_test::Kernel("_Z3addPfi", pid);
  kernel.Varint(23, 7).Bytes(13, Metric(0, Message().Double(3, 100)));
  kernel.Bytes(21, Message().Bytes(2, Message().Varint(1, 1).Bytes(2, stack)));
  return kernel.text();
}

Trace Load(const std::vector<std::string>& kernels) {
  Result<Trace> trace =
      LoadBytes(File(Block(kernels, Names({"gpu__time_duration.sum"}))), "test.ncu-rep", {});
  EXPECT_TRUE(trace.ok());
  return std::move(*trace);
}

// "NAME begin..end" of the rows of a kind.
std::vector<std::string> HostRows(const Trace& trace, HostKind kind) {
  std::vector<std::string> rows;
  const HostEvents& host = trace.host();
  for (uint32_t row = 0; row < host.size(); ++row) {
    if (host.kind[row] == kind) {
      rows.push_back(std::string(trace.Text(host.name[row])) + " " +
                     std::to_string(host.ts_ns[row]) + ".." +
                     std::to_string(host.end_ns(HostId{row})));
    }
  }
  return rows;
}

TEST(ReportTraceTest, SizesOfAmdAreWorkItems) {
  CounterReport report;
  report.amd = true;
  for (const int64_t items : {INT64_MAX, int64_t{1024}, int64_t{1025}}) {
    CountedKernel& kernel = report.kernels.emplace_back();
    kernel.name = "k";
    kernel.grid = {items, 1, 1};
    kernel.block = {256, 1, 1};
  }
  const Trace trace = TraceOfReport(report, TraceFormat::kNcuReport, 1, Diagnostics(), 1);
  EXPECT_EQ(trace.kernels().grid_x[0], INT32_MAX);
  EXPECT_EQ(trace.kernels().grid_x[1], 4);
  EXPECT_EQ(trace.kernels().grid_x[2], 5);
}

TEST(ReportTraceTest, KernelsStandOneBehindTheOther) {
  const Trace trace = Load({KernelIn({}), KernelIn({}), KernelIn({})});
  EXPECT_EQ(trace.meta().format, TraceFormat::kNcuReport);
  EXPECT_EQ(trace.meta().vendor, Vendor::kNvidia);
  const DeviceEvents& device = trace.device();
  std::vector<int64_t> begins;
  size_t ranges = 0;
  for (uint32_t row = 0; row < device.size(); ++row) {
    if (device.kind[row] == DeviceKind::kKernel) {
      begins.push_back(device.ts_ns[row]);
      EXPECT_EQ(device.dur_ns[row], 100);
    }
    ranges += device.kind[row] == DeviceKind::kRange ? 1 : 0;
  }
  EXPECT_EQ(begins, (std::vector<int64_t>{0, 100, 200}));
  EXPECT_EQ(ranges, 3U);
  EXPECT_EQ(trace.metrics().size(), 3U);
  EXPECT_EQ(trace.kernels().block_x[0], 32);
  EXPECT_EQ(trace.diagnostics().count(Diag::kMadeUpTimes), 1U);
}

TEST(ReportTraceTest, RangesCoverTheKernelsOfTheirInstance) {
  const Trace trace = Load({KernelIn({{"step", 1}}), KernelIn({{"step", 1}, {"loss", 2}}),
                            KernelIn({{"step", 3}}), KernelIn({})});
  EXPECT_EQ(HostRows(trace, HostKind::kAnnotation),
            (std::vector<std::string>{"step 0..200", "loss 100..200", "step 200..300"}));
}

TEST(ReportTraceTest, TextsOfPyTorchAreOperators) {
  const Trace trace =
      Load({KernelIn({{"forward", 1},
                      {"aten::linear, seq = 4, op_id = 8", 2},
                      {"aten::mm, seq = 5, op_id = 9, sizes = [[2, 3], [3, 4]]", 3}}),
            KernelIn({{"forward", 1}})});
  EXPECT_EQ(HostRows(trace, HostKind::kOp),
            (std::vector<std::string>{"aten::linear 0..100", "aten::mm 0..100"}));
  const uint32_t mm = trace.host().detail[2];  // behind "forward" and the outer operator
  EXPECT_EQ(trace.Text(trace.ops().input_dims[mm]), "[[2, 3], [3, 4]]");
}

TEST(ReportTraceTest, ProcessesHaveTimesOfTheirOwn) {
  const Trace trace = Load({KernelIn({}, 5), KernelIn({}, 6), KernelIn({}, 5)});
  std::map<int64_t, std::vector<int64_t>> begins;
  const DeviceEvents& device = trace.device();
  for (uint32_t row = 0; row < device.size(); ++row) {
    if (device.kind[row] == DeviceKind::kKernel) {
      begins[trace.tracks().process[device.track[row].value]].push_back(device.ts_ns[row]);
    }
  }
  EXPECT_EQ(begins, (std::map<int64_t, std::vector<int64_t>>{{5, {0, 100}}, {6, {0}}}));
}

}  // namespace
}  // namespace borescope::internal
