#include "borescope/output/digest/digest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "borescope/output/digest/card.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {
namespace {

Table BreakdownTable() {
  Table table{"breakdown", "Where the device time goes", {}};
  table.columns.reserve(5);
  Column& rank = AddInt(table, "rank", Unit::kNone, Role::kKey, "");
  Column& span = AddInt(table, "span_ns", Unit::kNanoseconds, Role::kSum, "");
  Column& busy = AddInt(table, "busy_ns", Unit::kNanoseconds, Role::kSum, "");
  Column& compute = AddInt(table, "compute_ns", Unit::kNanoseconds, Role::kSum, "");
  Column& idle = AddInt(table, "idle_ns", Unit::kNanoseconds, Role::kSum, "");
  compute.hints.tone = Tone::kCompute;
  idle.hints.tone = Tone::kIdle;
  for (int64_t one = 0; one < 2; ++one) {
    Push(rank, one);
    Push(span, int64_t{10'000'000});
    Push(busy, int64_t{4'000'000});
    Push(compute, int64_t{4'000'000});
    Push(idle, int64_t{6'000'000});
  }
  return table;
}

Table VerdictTable(const std::string& finding) {
  Table table{"verdict", "Verdict", {}};
  table.columns.reserve(3);
  Column& name = AddString(table, "finding", Role::kKey, "");
  Column& severity = AddString(table, "severity", Role::kDerived, "");
  Column& evidence = AddString(table, "evidence", Role::kDerived, "");
  Push(name, std::string_view(finding));
  Push(severity, "warning");
  Push(evidence, "idle 12.0 ms of 20.0 ms (60.0 %)");
  return table;
}

Table KernelTable(const std::string& name) {
  Table table{"kernels", "Kernels", {}};
  table.columns.reserve(5);
  Column& names = AddString(table, "name", Role::kKey, "");
  Column& kind = AddString(table, "class", Role::kKey, "");
  Column& count = AddInt(table, "count", Unit::kCount, Role::kSum, "");
  Column& total = AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, "");
  Column& share = AddFloat(table, "share", Unit::kShare, Role::kDerived, "");
  for (const char* end : {"_1", "_2"}) {
    Push(names, std::string_view(name + end));
    Push(kind, "gemm");
    Push(count, int64_t{7});
    Push(total, int64_t{2'000'000});
    Push(share, 0.5);
  }
  return table;
}

Table OverviewTable() {
  Table table{"overview", "Overview", {}};
  table.columns.reserve(4);
  Column& rank = AddInt(table, "rank", Unit::kNone, Role::kKey, "");
  Column& devices = AddString(table, "devices", Role::kDerived, "");
  Column& world = AddInt(table, "world_size", Unit::kNone, Role::kDerived, "");
  Column& span = AddInt(table, "span_ns", Unit::kNanoseconds, Role::kDerived, "");
  for (int64_t one = 0; one < 2; ++one) {
    Push(rank, one);
    Push(devices, "1 x A100");
    Push(world, int64_t{8});
    Push(span, int64_t{10'000'000});
  }
  return table;
}

std::vector<Table> TablesOf(const std::string& name) {
  return {OverviewTable(), VerdictTable("The " + name), BreakdownTable(), KernelTable(name)};
}

ReportDigest DigestOfName(const std::string& name) {
  ReportDigest digest;
  digest.run = MakeDigest(name, TablesOf(name));
  return digest;
}

std::string MarkdownOf(const ReportDigest& digest) {
  StringSink sink;
  EXPECT_TRUE(WriteDigestMarkdown(digest, sink).ok());
  return sink.text();
}

using Fact = std::pair<std::string, std::string>;

TEST(MakeDigest, AddsUpDevices) {
  const Digest digest = MakeDigest("run", TablesOf("k"));
  EXPECT_EQ(digest.facts.at(0), Fact("Devices", "2 x A100"));
  EXPECT_EQ(digest.facts.at(1), Fact("Ranks", "2 of 8"));
  EXPECT_EQ(digest.facts.back(), Fact("Devices busy", "40.0\u00A0%"));
  ASSERT_EQ(digest.parts.size(), 2U);
  EXPECT_EQ(digest.parts[1].label, "idle");
  EXPECT_EQ(digest.parts[1].ns, 12e6);
  EXPECT_EQ(digest.whole_ns, 20e6);
  ASSERT_EQ(digest.kernels.size(), 2U);
  EXPECT_EQ(digest.kernels[1].name, "k_2");
}

TEST(MakeDigest, CountsDevicesOfEachKind) {
  std::vector<Table> tables = TablesOf("k");
  StringValues devices;
  devices.push_back("2 x A100, 1 x H100, PCIe");
  devices.push_back("42");
  tables.front().columns[1].values = std::move(devices);
  EXPECT_EQ(MakeDigest("run", tables).facts.at(0),
            Fact("Devices", "1 x 42; 2 x A100; 1 x H100, PCIe"));
}

// As the finding says it: such time is no part of what shares are of.
TEST(MakeDigest, WhatIsLeftOutHasNoShare) {
  std::vector<Table> tables = TablesOf("k");
  Table left_out{"left_out", "Left out", {}};
  left_out.columns.reserve(2);
  Push(AddInt(left_out, "rank", Unit::kNone, Role::kKey, ""), int64_t{1});
  Push(AddInt(left_out, "before_recording_ns", Unit::kNanoseconds, Role::kSum, ""),
       int64_t{10'000'000});
  tables.push_back(std::move(left_out));
  ReportDigest report;
  report.run = MakeDigest("run", tables);
  const Digest& digest = report.run;
  EXPECT_EQ(digest.facts.back(), Fact("Devices busy", "80.0\u00A0%"));
  ASSERT_EQ(digest.parts.size(), 2U);
  EXPECT_EQ(digest.parts[1].ns, 2e6);
  EXPECT_EQ(digest.whole_ns, 10e6);
  EXPECT_EQ(DigestLeftOut(digest), "10.00\u00A0ms before recording");
  const std::string text = MarkdownOf(report);
  EXPECT_NE(text.find("| idle | 2.000 ms | 20.0 % |"), std::string::npos) << text;
  EXPECT_NE(text.find("Shares are of 10.00 ms; left out: 10.00 ms before recording."),
            std::string::npos)
      << text;
  EXPECT_NE(DrawCard(report).svg.find("10.00\u00A0ms; 10.00\u00A0ms left out"), std::string::npos);
}

TEST(MakeDigest, OfNothingIsEmpty) {
  const Digest digest = MakeDigest("run", {});
  EXPECT_TRUE(digest.facts.empty() && digest.findings.empty() && digest.parts.empty());
  ReportDigest report;
  report.run = digest;
  EXPECT_NE(MarkdownOf(report).find("borescope report INPUT"), std::string::npos);
  EXPECT_NE(DrawCard(report).svg.find("No device work was recorded."), std::string::npos);
}

TEST(DigestDelta, HasAShareOnlyOfWhatWasThere) {
  EXPECT_EQ(DigestDelta({"k", 1e6, 2e6}), "+1.000\u00A0ms (+100.0\u00A0%, 2.00 times more)");
  EXPECT_EQ(DigestDelta({"k", 2e6, 1e6}), "−1.000\u00A0ms (−50.0\u00A0%, 2.00 times less)");
  EXPECT_EQ(DigestDelta({"k", 0, 1e6}), "+1.000\u00A0ms");
  EXPECT_EQ(DigestDelta({"k", 1000, 1'001'000}), "+1.000\u00A0ms");
}

TEST(ComparisonOf, AreThoseOfDevicesTheLargestFirst) {
  Table diff{"diff", "Changes", {}};
  diff.columns.reserve(4);
  Column& side = AddString(diff, "side", Role::kKey, "");
  Column& name = AddString(diff, "name", Role::kKey, "");
  Column& base = AddInt(diff, "base_ns", Unit::kNanoseconds, Role::kSum, "");
  Column& test = AddInt(diff, "test_ns", Unit::kNanoseconds, Role::kSum, "");
  const auto add = [&](const char* on, const char* what, int64_t before, int64_t after) {
    Push(side, on);
    Push(name, what);
    Push(base, before);
    Push(test, after);
  };
  add("device", "same", 5, 5);
  add("host", "host", 0, 100);
  add("device", "small", 5, 6);
  add("device", "large", 50, 6);
  const std::vector<DigestChange> changes = ComparisonOf(std::vector{diff}, 5).changes;
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].name, "large");
  EXPECT_EQ(changes[1].name, "small");
  EXPECT_EQ(ComparisonOf(std::vector{diff}, 1).changes.size(), 1U);
}

TEST(DigestMarkdown, SaysWhereTheTimeGoes) {
  const std::string text = MarkdownOf(DigestOfName("k"));
  EXPECT_NE(text.find("- ⚠️ **The k**: idle 12.0 ms of 20.0 ms (60.0 %)\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("| idle | 12.00 ms | 60.0 % |\n"), std::string::npos) << text;
  EXPECT_NE(text.find("| `k_1` | gemm | 7 | 2.000 ms | 50.0 % |\n"), std::string::npos) << text;
  EXPECT_NE(text.find("nothing odd was found"), std::string::npos) << text;
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 60);
}

// The parts of a step take the place of those of whole runs, and the sentence comes first.
TEST(DigestMarkdown, OfTwoRunsTheAnswerComesFirst) {
  ReportDigest digest = DigestOfName("k");
  digest.against = MakeDigest("other", TablesOf("k"));
  Table time{"diff_time", "2 us against 4 us a step, 2.00 times faster; of the 2 us: all", {}};
  time.columns.reserve(3);
  Column& part = AddString(time, "part", Role::kKey, "");
  Column& base = AddInt(time, "base_ns", Unit::kNanoseconds, Role::kDerived, "");
  Column& test = AddInt(time, "test_ns", Unit::kNanoseconds, Role::kDerived, "");
  const auto add = [&](const char* name, int64_t before, int64_t after) {
    Push(part, name);
    Push(base, before);
    Push(test, after);
  };
  add("step", 4000, 2000);
  add("compute", 3000, 1500);
  add("idle", 1000, 500);
  CompareDigests(ComparisonOf(std::vector{time}, 5), digest);
  EXPECT_EQ(digest.comparison.unit, "step");
  EXPECT_EQ(digest.run.whole_ns, 2000);
  EXPECT_EQ(digest.against->whole_ns, 4000);
  const std::string text = MarkdownOf(digest);
  const size_t answer =
      text.find("**2 µs against 4 µs a step, 2.00 times faster; of the 2 µs: all**");
  const size_t parts = text.find("| Where the device time of a step goes | this run |");
  const size_t findings = text.find("What costs time in this run:");
  EXPECT_LT(answer, parts) << text;
  EXPECT_LT(parts, findings) << text;
  ASSERT_NE(findings, std::string::npos) << text;
  EXPECT_NE(text.find("| compute | 1.500 µs | 75.0 % | 3.000 µs | 75.0 % | −1.500 µs (−50.0 %, "
                      "2.00 times less) |"),
            std::string::npos)
      << text;
}

TEST(DigestMarkdown, AgainstAnotherRunSaysWhatChanged) {
  ReportDigest digest = DigestOfName("k");
  digest.against = MakeDigest("other", TablesOf("k"));
  digest.against->parts.front().ns = 2e6;
  digest.comparison.changes = {{"k_1", 1e6, 2e6}};
  const std::string text = MarkdownOf(digest);
  EXPECT_NE(text.find("### GPU profile of `k` against `other`\n"), std::string::npos) << text;
  EXPECT_NE(text.find("| compute | 8.000 ms | 40.0 % | 2.000 ms | 10.0 % | +6.000 ms (+300.0 %, "
                      "4.00 times more) |"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("| `k_1` | 2.000 ms | 1.000 ms | +1.000 ms (+100.0 %, 2.00 times more) |"),
            std::string::npos)
      << text;
}

const std::string kHostile =
    "@user |`<script>alert(1)</script>\n# [x](https://a) \x1b[31m \xE2\x80\xAE" +
    std::string(3000, 'W');

// No line of the text begins or breaks because of a name, and cells stay in their columns.
TEST(DigestMarkdown, HostileNamesMeanNothing) {
  ReportDigest digest = DigestOfName(kHostile);
  digest.against = MakeDigest(kHostile, TablesOf(kHostile));
  digest.comparison.changes = {{kHostile, 1, 2}};
  digest.diagnostics = {{Severity::kWarning, kHostile, 3, kHostile, kHostile, kHostile}};
  const std::string text = MarkdownOf(digest);
  for (const std::string_view bad :
       {"<script", "@user", "](", "https://a", "\x1b", "\xE2\x80\xAE"}) {
    EXPECT_EQ(text.find(bad), std::string::npos) << bad << " in\n" << text;
  }
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 60);
  EXPECT_LT(text.size(), 20'000U);
}

// Where texts end, by their own measure, and what is drawn lies inside.
TEST(DrawCard, HoldsAnyName) {
  for (const std::string& name : {kHostile, std::string("k"), std::string(100'000, '<')}) {
    ReportDigest digest = DigestOfName(name);
    for (int i = 0; i < 20; ++i) {
      digest.run.findings.push_back(digest.run.findings.front());
      digest.run.kernels.push_back(digest.run.kernels.front());
      digest.run.facts.emplace_back("Fact", name);
    }
    const Picture picture = DrawCard(digest);
    EXPECT_EQ(picture.size.width, 1200);
    EXPECT_EQ(picture.size.height, 630);
    EXPECT_EQ(picture.svg.find("<script"), std::string::npos);
    EXPECT_EQ(picture.svg.find("prefers-color-scheme"), std::string::npos);
    for (size_t at = picture.svg.find(" y=\""); at != std::string::npos;
         at = picture.svg.find(" y=\"", at + 1)) {
      EXPECT_LE(std::atof(picture.svg.c_str() + at + 4), 620) << picture.svg.substr(at, 80);
    }
  }
}

// "slower" ends the line, and is what people look for.
TEST(DrawCard, TheAnswerOfTwoRunsIsWhole) {
  ReportDigest digest = DigestOfName("k");
  digest.against = MakeDigest("other", TablesOf("k"));
  digest.comparison.parts = {{"step", 41e6, 42e6}};
  for (const std::string answer : {"4 ms against 2 ms a step, 2.00 times slower",
                                   "421.178 ms against 411.950 ms a step, 12.77 times slower"}) {
    digest.comparison.sentence = answer + "; within the spread of the steps";
    const std::string svg = DrawCard(digest).svg;
    EXPECT_NE(svg.find(">" + answer + "<"), std::string::npos) << svg;
  }
}

TEST(DrawCard, ShowsBothRunsAndTheChanges) {
  ReportDigest digest = DigestOfName("k");
  digest.against = MakeDigest("other", TablesOf("k"));
  digest.comparison.changes = {{"changed_kernel", 1e6, 2e6}};
  const std::string svg = DrawCard(digest).svg;
  for (const std::string_view said : {">k against other<", ">other run<", ">changed_kernel<",
                                      ">Largest changes of device work<"}) {
    EXPECT_NE(svg.find(said), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace borescope::internal
