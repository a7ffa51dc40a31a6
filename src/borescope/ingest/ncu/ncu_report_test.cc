#include "borescope/ingest/ncu/ncu_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "borescope/ingest/ncu/counter_reports.h"
#include "borescope/ingest/ncu/report_test_writer.h"

namespace borescope::internal {
namespace {

using ncu_test::Block;
using ncu_test::File;
using ncu_test::Kernel;
using ncu_test::Message;
using ncu_test::Metric;
using ncu_test::Names;

// The smallest file with everything that is read, byte by byte.
constexpr std::string_view kSmallest =
    "4e56520002000000080734000000080010001a1e5a1c6e6375202d2d63616368652d636f6e74726f6c206e6f6e6520"
    "617070220028"
    "00320a084d1201681a03617070670000000800100122520a166770755f5f74696d655f6475726174696f6e2e73756d"
    "0a1c6c61756e63685f5f7265676973746572735f7065725f7468726561640a1a61736b65645f6275745f6e6f745f6d"
    "656173757265642e73756d289e01320a084d1201681a036170709a000000084d10052a095f5a336164645066693203"
    "6164643a1161646428666c6f6174202a2c20696e742952060802100118015a060820100118016a0f08001209190000"
    "00000070974020006a120801120228101a080a0228001202281020007080e2cfaa06aa01280a14080012103c646566"
    "61756c7420646f6d61696e3e1210084d120c08001a080a04737465701809b00101b80107ca010408001000";

std::string Smallest() {
  std::string bytes;
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (size_t i = 0; i + 1 < kSmallest.size(); i += 2) {
    bytes += static_cast<char>(digit(kSmallest[i]) * 16 + digit(kSmallest[i + 1]));
  }
  return bytes;
}

struct Read {
  std::optional<CounterReport> report;
  std::optional<Error> error;
  Diagnostics diagnostics;
};

Read ReadBytes(const std::string& bytes) {
  Read read;
  Result<CounterReport> report = ReadCounterReportBytes(bytes, "test.ncu-rep", read.diagnostics);
  if (report.ok()) {
    read.report = std::move(*report);
  } else {
    read.error = report.error();
  }
  return read;
}

uint64_t Odd(const Diagnostics& diagnostics) {
  uint64_t count = 0;
  for (size_t i = 0; i < static_cast<size_t>(Diag::kCount); ++i) {
    count += diagnostics.count(static_cast<Diag>(i));
  }
  return count;
}

TEST(NcuReportTest, SmallestFile) {
  const std::string bytes = Smallest();
  ASSERT_EQ(bytes.size(), 331U);
  const Read read = ReadBytes(bytes);
  ASSERT_TRUE(read.report.has_value());
  const CounterReport& report = *read.report;
  EXPECT_EQ(report.tool, "Nsight Compute");
  EXPECT_EQ(report.program, "app");
  EXPECT_EQ(report.caches_flushed, CounterSetting::kNo);
  EXPECT_EQ(report.clocks_held, CounterSetting::kNo);
  EXPECT_TRUE(report.whole_names);
  ASSERT_EQ(report.metrics.size(), 3U);
  EXPECT_EQ(report.metrics[0].unit, "ns");
  EXPECT_EQ(report.metrics[1].unit, "register/thread");
  ASSERT_EQ(report.kernels.size(), 1U);
  const CountedKernel& kernel = report.kernels.front();
  EXPECT_EQ(kernel.name, "add(float*, int)");
  EXPECT_EQ(kernel.function, "add");
  EXPECT_EQ(kernel.grid, (std::array<int64_t, 3>{2, 1, 1}));
  EXPECT_EQ(kernel.block, (std::array<int64_t, 3>{32, 1, 1}));
  EXPECT_EQ(kernel.pid, 77);
  EXPECT_EQ(kernel.context, 1);
  EXPECT_EQ(kernel.stream, 7);
  EXPECT_EQ(kernel.ranges, std::vector<std::string>{"step"});
  EXPECT_EQ(kernel.range_numbers, std::vector<uint64_t>{9});
  EXPECT_EQ(kernel.dur_ns, 1500);
  ASSERT_EQ(kernel.values.size(), 2U);
  EXPECT_EQ(kernel.values[0].value, 1500);
  EXPECT_EQ(kernel.values[1].value, 16);
  ASSERT_EQ(report.without_value.size(), 1U);
  EXPECT_EQ(report.metrics[report.without_value[0].first].name, "asked_but_not_measured.sum");
  EXPECT_EQ(report.without_value[0].second, 1U);
  EXPECT_EQ(read.diagnostics.count(Diag::kMetricWithoutValue), 1U);
  EXPECT_EQ(Odd(read.diagnostics), 1U);
}

TEST(NcuReportTest, CutAtEveryByte) {
  const std::string bytes = Smallest();
  for (size_t size = 0; size < bytes.size(); ++size) {
    const Read read = ReadBytes(bytes.substr(0, size));
    if (read.report.has_value()) {
      EXPECT_LE(read.report->kernels.size(), 1U);
      const bool is_between_blocks = size == 10 || size == 66;
      EXPECT_EQ(read.diagnostics.count(Diag::kTruncatedReport), is_between_blocks ? 0U : 1U)
          << size;
    } else {
      EXPECT_FALSE(read.error->cause.empty()) << size;
    }
  }
}

// What is gone since the file was opened cannot be read, as on a disk that fails. A report that was
// cut off before is read as far as it goes, which this is not.
TEST(NcuReportTest, AFileThatCannotBeReadIsNotCutOff) {
  const std::string path = ::testing::TempDir() + "/shorter.ncu-rep";
  std::ofstream(path, std::ios::binary) << Smallest();
  Result<StoredBytes> stored = StoredBytes::OfFile(path);
  ASSERT_TRUE(stored.ok());
  const size_t left = Smallest().size() / 2;
  std::filesystem::resize_file(path, left);
  Diagnostics diagnostics;
  const Result<CounterReport> report =
      ReadNcuReport(*OpenForward(std::move(*stored)), path, diagnostics);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, ErrorCode::kIo);
  EXPECT_EQ(report.error().file, path);
  std::filesystem::remove(path);
}

TEST(NcuReportTest, DamageAtEveryByte) {
  for (size_t at = 0; at < Smallest().size(); ++at) {
    for (const int byte : {0x00, 0x7f, 0x80, 0xff}) {
      std::string bytes = Smallest();
      bytes[at] = static_cast<char>(byte);
      const Read read = ReadBytes(bytes);
      EXPECT_NE(read.report.has_value(), read.error.has_value());
    }
  }
}

TEST(NcuReportTest, KindsOfValues) {
  Message kernel = Kernel("_Z3addPfi");
  kernel.Bytes(13, Metric(0, Message().Float(2, 0.5F)))
      .Bytes(13, Metric(1, Message().Varint(4, 4'000'000'000)))
      .Bytes(13, Metric(2, Message().Varint(5, uint64_t{1} << 52)))
      .Bytes(13, Metric(3, Message().Bytes(1, "all")))
      .Bytes(13, Metric(4, Message()))
      .Bytes(13, Metric(5, Message().Double(3, std::nan(""))))
      .Bytes(13, Metric(6, Message().Double(3, std::numeric_limits<double>::infinity())));
  const Read read =
      ReadBytes(File(Block({kernel.text()}, Names({"a", "b", "c", "d", "e", "f", "g"}))));
  ASSERT_TRUE(read.report.has_value());
  const CountedKernel& one = read.report->kernels.at(0);
  ASSERT_EQ(one.values.size(), 3U);
  EXPECT_EQ(one.values[0].value, 0.5);
  EXPECT_EQ(one.values[1].value, 4e9);
  EXPECT_EQ(one.values[2].value, 4503599627370496.0);
  ASSERT_EQ(one.texts.size(), 1U);
  EXPECT_EQ(one.texts[0].text, "all");
  EXPECT_EQ(read.diagnostics.count(Diag::kNonFiniteNumber), 2U);
  EXPECT_EQ(read.diagnostics.count(Diag::kMetricWithoutValue), 3U);
}

TEST(NcuReportTest, WholeNumbersThatADoubleDoesNotHoldAreKept) {
  constexpr uint64_t kHeld = uint64_t{1} << 53;
  Message kernel = Kernel("_Z3addPfi");
  kernel.Bytes(13, Metric(0, Message().Varint(5, kHeld)))
      .Bytes(13, Metric(1, Message().Varint(5, kHeld + 1)))
      .Bytes(13, Metric(2, Message().Varint(5, std::numeric_limits<uint64_t>::max())))
      .Bytes(13, Metric(3, Message().Double(3, 9e15)));
  const Read read = ReadBytes(File(Block({kernel.text()}, Names({"a", "b", "c", "d"}))));
  ASSERT_TRUE(read.report.has_value());
  const CountedKernel& one = read.report->kernels.at(0);
  ASSERT_EQ(one.values.size(), 4U);
  EXPECT_FALSE(one.values[0].exact.has_value());
  EXPECT_EQ(one.values[1].exact, 9007199254740993);
  EXPECT_EQ(one.values[1].value, 9007199254740992.0);
  EXPECT_FALSE(one.values[2].exact.has_value());  // more than a number with a sign holds
  EXPECT_FALSE(one.values[3].exact.has_value());
}

// A rule may say nothing, or several things; what is no number is left out.
TEST(NcuReportTest, RulesOfTheTool) {
  const auto focus = [](std::string_view metric, double value) {
    return Message().Varint(1, 1).Bytes(2, metric).Double(3, value);
  };
  const Message words =
      Message().Bytes(1, "Compute is more heavily utilized.").Varint(2, 4).Bytes(4, "High Compute");
  const Message first = Message()
                            .Bytes(1, words)
                            .Bytes(8, focus("sm__throughput", 14.5))
                            .Bytes(8, focus("other", std::nan("")))
                            .Bytes(10, Message().Varint(1, 2).Double(2, 50));
  const Message second = Message()
                             .Bytes(1, Message().Bytes(1, "Warps wait."))
                             .Bytes(10, Message().Varint(1, 1).Double(2, 19));
  const Message wrong = Message()
                            .Bytes(1, Message().Bytes(1, "Too much."))
                            .Bytes(10, Message().Varint(1, 1).Double(2, 1e300));
  Message kernel = Kernel("_Z3addPfi");
  kernel
      .Bytes(19, Message()
                     .Bytes(1, "SOLBottleneck")
                     .Bytes(2, "Bottleneck")
                     .Bytes(3, Message().Bytes(1, first).Bytes(1, second).Bytes(1, wrong)))
      .Bytes(19, Message().Bytes(1, "Memory").Bytes(3, Message().Bytes(1, Message())))
      .Bytes(19, Message().Bytes(1, "Compute"));
  const Read read = ReadBytes(File(Block({kernel.text()})));
  ASSERT_TRUE(read.report.has_value());
  const std::vector<CountedKernel::Advice>& advice = read.report->kernels.at(0).advice;
  ASSERT_EQ(advice.size(), 3U);
  EXPECT_EQ(advice[0].rule, "SOLBottleneck");
  EXPECT_EQ(advice[0].title, "High Compute");
  EXPECT_EQ(advice[0].text, "Compute is more heavily utilized.");
  ASSERT_EQ(advice[0].focus.size(), 1U);
  EXPECT_EQ(advice[0].focus[0], (std::pair<std::string, double>("sm__throughput", 14.5)));
  EXPECT_EQ(advice[0].speedup_percent, 50);
  EXPECT_FALSE(advice[0].is_of_part);
  EXPECT_EQ(advice[1].text, "Warps wait.");
  EXPECT_TRUE(advice[1].is_of_part);
  EXPECT_EQ(advice[2].speedup_percent, -1);
  EXPECT_EQ(Odd(read.diagnostics), 0U);
}

TEST(NcuReportTest, NamesOfLaterBlocksGoOn) {
  Message first = Kernel("one");
  first.Bytes(13, Metric(0, Message().Varint(5, 1)));
  Message second = Kernel("two");
  second.Bytes(13, Metric(1, Message().Varint(5, 2)));
  const Read read =
      ReadBytes(File(Block({first.text()}, Names({"a"})) + Block({second.text()}, Names({"b"}))));
  ASSERT_TRUE(read.report.has_value());
  ASSERT_EQ(read.report->kernels.size(), 2U);
  EXPECT_EQ(read.report->metrics[read.report->kernels[1].values.at(0).metric].name, "b");
}

TEST(NcuReportTest, CodeOfDevicesIsPassedOver) {
  const std::string code(5000, '\xff');
  const Read read = ReadBytes(File(Block({Kernel("_Z3addPfi").text()}, {}, {code, code})));
  ASSERT_TRUE(read.report.has_value());
  EXPECT_EQ(read.report->kernels.size(), 1U);
  EXPECT_EQ(Odd(read.diagnostics), 0U);
}

TEST(NcuReportTest, RangesOfDomainsNestByTheirNumbers) {
  const Message domain = Message().Varint(1, 1).Bytes(2, "NCCL");
  const auto stack = [](uint64_t of, std::string_view text, uint64_t number) {
    return Message().Varint(1, of).Bytes(3, Message().Bytes(1, text).Varint(3, number));
  };
  const Message thread =
      Message().Varint(1, 5).Bytes(2, stack(1, "outer", 3)).Bytes(2, stack(0, "inner", 4));
  const Message idle = Message().Varint(1, 6).Bytes(2, Message().Varint(1, 0));
  Message kernel = Kernel("k");
  kernel.Bytes(21, Message().Bytes(1, domain).Bytes(2, thread).Bytes(2, idle));
  const Read read = ReadBytes(File(Block({kernel.text()})));
  ASSERT_TRUE(read.report.has_value());
  EXPECT_EQ(read.report->kernels[0].ranges, (std::vector<std::string>{"NCCL:outer", "inner"}));

  Message both = Kernel("k");
  both.Bytes(21, Message().Bytes(2, thread).Bytes(2, thread));
  const Read unknown = ReadBytes(File(Block({both.text()})));
  ASSERT_TRUE(unknown.report.has_value());
  EXPECT_TRUE(unknown.report->kernels[0].ranges.empty());
  EXPECT_EQ(unknown.diagnostics.count(Diag::kNvtxThreadUnknown), 1U);
}

TEST(NcuReportTest, LabelsEnd) {
  const std::string name(2000, 'd');
  Message stack = Message().Varint(1, 1);
  for (uint64_t i = 0; i < 5000; ++i) {
    stack.Bytes(3, Message().Bytes(1, "r").Varint(3, i));
  }
  Message kernel = Kernel("k");
  kernel.Bytes(21, Message()
                       .Bytes(1, Message().Varint(1, 1).Bytes(2, name))
                       .Bytes(2, Message().Varint(1, 5).Bytes(2, stack)));
  const Read read = ReadBytes(File(Block({kernel.text()})));
  ASSERT_TRUE(read.report.has_value());
  EXPECT_EQ(read.report->kernels[0].ranges, std::vector<std::string>(4096, "r"));
}

TEST(NcuReportTest, WhatWasDoneToCachesAndClocks) {
  const auto settings = [](std::string_view line) {
    return *ReadBytes(File(Block({}, Message().Bytes(3, Message().Bytes(11, line))))).report;
  };
  const CounterReport by_default = settings("ncu -o x python train.py");
  EXPECT_EQ(by_default.caches_flushed, CounterSetting::kYes);
  EXPECT_EQ(by_default.clocks_held, CounterSetting::kYes);
  const CounterReport chosen =
      settings("ncu --cache-control=none --clock-control none --replay-mode application python");
  EXPECT_EQ(chosen.caches_flushed, CounterSetting::kNo);
  EXPECT_EQ(chosen.clocks_held, CounterSetting::kNo);
  EXPECT_EQ(chosen.replay_mode, "application");
  EXPECT_EQ(ReadBytes(File(Block({}))).report->caches_flushed, CounterSetting::kUnknown);
}

TEST(NcuReportTest, SecretsAreCountedNotKept) {
  const Message session =
      Message().Bytes(4, "192.0.2.2").Bytes(9, "TOKEN=secret").Bytes(11, "ncu secret");
  const Message process = Message().Varint(1, 1).Bytes(2, "host-1").Bytes(3, "/opt/tool/app");
  Message kernel = Kernel("k");
  kernel.Bytes(28, "/opt/tool/train.py");
  const Read read =
      ReadBytes(File(Block({kernel.text()}, Message().Bytes(3, session).Bytes(6, process)) +
                     Block({}, Message().Bytes(6, process))));
  ASSERT_TRUE(read.report.has_value());
  EXPECT_EQ(read.report->program, "app");
  const std::vector<std::pair<std::string, uint64_t>> expected = {{"network addresses", 1},
                                                                  {"program and environment", 1},
                                                                  {"command line", 1},
                                                                  {"host name", 1},
                                                                  {"call stack", 1}};
  EXPECT_EQ(read.report->sensitive, expected);
}

TEST(NcuReportTest, UnknownVersions) {
  const std::string block = Block({Kernel("k").text()});
  const Read read = ReadBytes(File(block, 8));
  ASSERT_TRUE(read.report.has_value());
  EXPECT_EQ(read.report->kernels.size(), 1U);
  EXPECT_EQ(read.diagnostics.count(Diag::kUnknownReportVersion), 1U);
  const Read none = ReadBytes(File("", 8));
  ASSERT_TRUE(none.error.has_value());
  EXPECT_EQ(none.error->code, ErrorCode::kUnsupportedFormat);
}

TEST(NcuReportTest, AWrongPayloadSizeIsTrusted) {
  const std::string entry = ncu_test::Sized(Kernel("k").text());
  const std::string good = Block({Kernel("later").text()});
  // Two results are announced, of which the payload holds one and five other bytes.
  const std::string header = Message().Varint(2, 2).Varint(5, entry.size() + 5).text();
  const Read read =
      ReadBytes(File(ncu_test::Sized(header) + entry + std::string(5, '\x01') + good));
  ASSERT_TRUE(read.report.has_value());
  ASSERT_EQ(read.report->kernels.size(), 2U);
  EXPECT_EQ(read.report->kernels[1].name, "later");
  EXPECT_EQ(read.diagnostics.count(Diag::kDamagedBlock), 1U);
}

TEST(NcuReportTest, MetricsWithoutName) {
  Message kernel = Kernel("k");
  kernel.Bytes(13, Metric(7, Message().Varint(5, 1)));
  const Read read = ReadBytes(File(Block({kernel.text()}, Names({"a"}))));
  ASSERT_TRUE(read.report.has_value());
  EXPECT_TRUE(read.report->kernels[0].values.empty());
  EXPECT_EQ(read.diagnostics.count(Diag::kUnnamedMetric), 1U);
}

TEST(NcuReportTest, DamagedMessagesEndAlone) {
  for (const uint32_t type : {3U, 4U, 6U, 7U}) {
    Message kernel = Kernel("first");
    kernel.Key(40, type);
    const Read read = ReadBytes(File(Block({kernel.text(), Kernel("second").text()})));
    ASSERT_TRUE(read.report.has_value());
    ASSERT_EQ(read.report->kernels.size(), 2U);
    EXPECT_EQ(read.report->kernels[1].name, "second");
    EXPECT_EQ(read.diagnostics.count(Diag::kDamagedMessage), 1U) << type;
  }
}

TEST(NcuReportTest, FieldsOfAnotherTypeArePassedOver) {
  Message kernel = Kernel("k");
  kernel.Double(23, 1).Bytes(22, "x").Varint(13, 3).Float(99, 1).Bytes(98, "unknown");
  const Read read = ReadBytes(File(Block({kernel.text()})));
  ASSERT_TRUE(read.report.has_value());
  ASSERT_EQ(read.report->kernels.size(), 1U);
  EXPECT_EQ(read.report->kernels[0].stream, 0);
  EXPECT_EQ(read.report->kernels[0].context, 0);
  EXPECT_EQ(read.diagnostics.count(Diag::kDamagedMessage), 0U);
}

TEST(NcuReportTest, RangeResultsAreCounted) {
  const std::string payload = ncu_test::Sized("range");
  const std::string header = Message().Varint(7, 1).Varint(5, payload.size()).text();
  const Read read = ReadBytes(File(ncu_test::Sized(header) + payload));
  ASSERT_TRUE(read.report.has_value());
  EXPECT_EQ(read.diagnostics.count(Diag::kUnreadRangeResults), 1U);
  EXPECT_EQ(read.diagnostics.count(Diag::kDamagedBlock), 0U);
  // A header may claim more than there are.
  const std::string claims = Message().Varint(7, 1'000'000).Varint(5, payload.size()).text();
  const Read claimed = ReadBytes(File(ncu_test::Sized(claims) + payload));
  ASSERT_TRUE(claimed.report.has_value());
  EXPECT_EQ(claimed.diagnostics.count(Diag::kUnreadRangeResults), 1U);
}

TEST(NcuReportTest, MoreThanAnyReportHas) {
  std::string names;
  for (int i = 0; i < 1'000'001; ++i) {
    names.append("\x0a\x00", 2);
  }
  const Read read = ReadBytes(File(Block({}, Message().Bytes(4, names))));
  ASSERT_TRUE(read.error.has_value());
  EXPECT_EQ(read.error->code, ErrorCode::kCorrupt);
  Message kernel;
  for (int i = 0; i < 100'001; ++i) {
    kernel.Bytes(13, "");
  }
  const Read metrics = ReadBytes(File(Block({kernel.text()})));
  ASSERT_TRUE(metrics.error.has_value());
  EXPECT_EQ(metrics.error->code, ErrorCode::kCorrupt);
}

TEST(NcuReportTest, HugeSizesTakeNoMemory) {
  std::string bytes = File("");
  bytes += "\xff\xff\xff\xff";
  const Read read = ReadBytes(bytes);
  ASSERT_TRUE(read.report.has_value());
  EXPECT_EQ(read.diagnostics.count(Diag::kTruncatedReport), 1U);
}

}  // namespace
}  // namespace borescope::internal
