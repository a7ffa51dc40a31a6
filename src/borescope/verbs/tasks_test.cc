// What the library does beside answering: conversions, links, Chakra's files, pages, servers, SQL.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <stop_token>
#include <string>

#include "borescope/base/io/temporary_folder.h"
#include "borescope/bench_kernel.h"
#include "borescope/catalog/pack.h"
#include "borescope/chakra.h"
#include "borescope/check.h"
#include "borescope/convert.h"
#include "borescope/link.h"
#include "borescope/partial.h"
#include "borescope/run.h"
#include "borescope/schema.h"
#include "borescope/serve.h"

namespace borescope {
namespace {

constexpr std::string_view kTrace = R"({"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":1,"dur":5,"args":{}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":2,"dur":2,
 "args":{"correlation":7}},
{"ph":"X","cat":"kernel","name":"add_kernel","pid":0,"tid":7,"ts":9,"dur":3,
 "args":{"device":0,"stream":7,"correlation":7}}]})";

class Tasks : public testing::Test {
 protected:
  Tasks() { std::ofstream(trace_) << kTrace; }

  std::string At(const std::string& name) const { return folder_.path() + "/" + name; }

  internal::TemporaryFolder folder_ = internal::TemporaryFolder::Make().value();
  std::string trace_ = At("rank-0.json");
};

// What the packs do.
class PackTasks : public Tasks {
 protected:
  void SetUp() override {
    if (internal::Packs().empty()) GTEST_SKIP() << "a build without packs";
  }
};

Output Into(std::string& text) {
  return Output::To([&text](std::string_view bytes) -> Result<void> {
    text += bytes;
    return {};
  });
}

TEST_F(Tasks, ATraceIsConverted) {
  const Result<ConvertReport> report =
      Convert({.inputs = {trace_}, .output = At("out.rpd"), .threads = 1});
  ASSERT_TRUE(report.ok()) << report.error().Sentence();
  EXPECT_EQ(report->files, 1U);
  EXPECT_GT(report->written, 0U);
  EXPECT_TRUE(std::filesystem::exists(At("out.rpd")));
  const Result<ConvertReport> unknown = Convert({.inputs = {trace_}, .output = At("out.xyz")});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, ErrorCode::kInvalidArgument);
  EXPECT_FALSE(Describe().targets.empty());
}

TEST_F(PackTasks, AStoppedTokenEndsWhatLinksAndConverts) {
  std::stop_source stop;
  stop.request_stop();
  LinkOptions link;
  link.stop = stop.get_token();
  EXPECT_EQ(Link(trace_, trace_, At("linked.json"), link).error().code, ErrorCode::kCancelled);
  ChakraConvertOptions convert;
  convert.input = trace_;
  convert.output = At("out.et");
  convert.stop = stop.get_token();
  EXPECT_EQ(ChakraConvert(convert).error().code, ErrorCode::kCancelled);
  ChakraCheckOptions check;
  check.files = {trace_};
  check.stop = stop.get_token();
  EXPECT_EQ(ChakraCheck(check).error().code, ErrorCode::kCancelled);
  EXPECT_FALSE(std::filesystem::exists(At("linked.json")));
  EXPECT_FALSE(std::filesystem::exists(At("out.et")));
}

TEST_F(PackTasks, WhatCannotBeLinkedIsNamed) {
  const Result<Answer> linked = Link(At("absent.json"), trace_, At("linked.json"));
  ASSERT_FALSE(linked.ok());
  EXPECT_EQ(linked.error().code, ErrorCode::kIo);
  EXPECT_EQ(linked.error().file, At("absent.json"));
  EXPECT_FALSE(std::filesystem::exists(At("linked.json")));
}

TEST_F(PackTasks, ChakraFilesAreMadeCheckedDumpedAndDrawn) {
  const Result<uint64_t> made = ChakraGenerate({.folder = At("et"), .npus = 2});
  ASSERT_TRUE(made.ok()) << made.error().Sentence();
  EXPECT_GT(*made, 0U);
  const std::string inputs[] = {At("et")};
  const Result<std::vector<std::string>> files = FindEtFiles(inputs);
  ASSERT_TRUE(files.ok()) << files.error().Sentence();
  EXPECT_EQ(files->size(), *made);
  const Result<ChakraVerdict> verdict = ChakraCheck({.files = {files->front()}});
  ASSERT_TRUE(verdict.ok()) << verdict.error().Sentence();
  EXPECT_FALSE(verdict->answer.tables().empty());
  std::string json;
  ASSERT_TRUE(ChakraDump(files->front(), false, Into(json)).ok());
  EXPECT_EQ(json.front(), '{');
  std::string dot;
  ASSERT_TRUE(ChakraDraw(files->front(), "dot", false, Into(dot)).ok());
  EXPECT_EQ(dot.substr(0, 7), "digraph");
  EXPECT_EQ(ChakraDraw(files->front(), "pdf", false, Into(dot)).error().parameter, "format");
}

TEST_F(PackTasks, AnAbsentKernelIsNamed) {
  const Result<Answer> answer = BenchKernel(At("absent.py"));
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, ErrorCode::kIo);
}

TEST_F(Tasks, AReportIsAPageAndNoInput) {
  const Result<borescope::Run> run = borescope::Run::Open({trace_});
  ASSERT_TRUE(run.ok());
  std::string page;
  const Result<std::vector<FileInfo>> files = run->Report(Into(page));
  ASSERT_TRUE(files.ok()) << files.error().Sentence();
  EXPECT_EQ(files->size(), 1U);
  EXPECT_EQ(page.substr(0, 9), "<!doctype");
  EXPECT_FALSE(run->Report(trace_).ok());
}

TEST_F(Tasks, AReportComparesRunsWhoseFilesHaveTheSameNames) {
  std::string slower(kTrace);
  slower.replace(slower.find("\"ts\":9,\"dur\":3"), 14, "\"ts\":9,\"dur\":8");
  const auto open = [](std::string text) {
    return borescope::Run::Open(
        {Source::Memory("rank-0.json", std::make_shared<const std::string>(std::move(text)))});
  };
  const Result<borescope::Run> run = open(std::string(kTrace));
  const Result<borescope::Run> same = open(std::string(kTrace));
  const Result<borescope::Run> other = open(std::move(slower));
  ASSERT_TRUE(run.ok() && same.ok() && other.ok());
  std::string unchanged;
  std::string changed;
  ASSERT_TRUE(run->Report(Into(unchanged), "report", &*same).ok());
  ASSERT_TRUE(run->Report(Into(changed), "report", &*other).ok());
  EXPECT_NE(unchanged.find(R"("against_span_ns","type":"int")"), std::string::npos);
  EXPECT_EQ(unchanged.find(R"("values":[-5000])"), std::string::npos);
  EXPECT_NE(changed.find(R"("values":[-5000])"), std::string::npos);
}

TEST_F(Tasks, AnAnswerIsRefusedWhereItWouldOverwrite) {
  const Result<borescope::Run> run = borescope::Run::Open({trace_});
  ASSERT_TRUE(run.ok());
  const Result<Answer> answer = run->Ask("breakdown", {"csv", trace_});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, ErrorCode::kInvalidArgument);
  EXPECT_FALSE(run->Map("breakdown", trace_).ok());
  EXPECT_FALSE(run->Ask("breakdown", {"xml", ""}).ok());
  EXPECT_TRUE(CheckQuestion({"breakdown", {{"top", "3"}}}).ok());
  EXPECT_EQ(CheckQuestion({"breakdown", {{"top", "x"}}}).error().parameter, "top");
}

TEST_F(Tasks, PartialsAreFiles) {
  const Result<borescope::Run> run = borescope::Run::Open({trace_});
  ASSERT_TRUE(run.ok());
  const Result<Partial> partial = run->Map("kernels");
  ASSERT_TRUE(partial.ok());
  EXPECT_EQ(partial->num_files(), 1U);
  ASSERT_TRUE(partial->Write(At("a.part")).ok());
  const std::string inputs[] = {At("a.part")};
  const Result<std::vector<Partial>> read = ReadPartials(inputs);
  ASSERT_TRUE(read.ok()) << read.error().Sentence();
  EXPECT_EQ(*read->front().Serialize(), *partial->Serialize());
}

TEST_F(Tasks, StatementsTakeValues) {
  const Result<borescope::Run> run = borescope::Run::Open({trace_});
  ASSERT_TRUE(run.ok());
  Result<QuerySession> session = QuerySession::Open(*run);
  ASSERT_TRUE(session.ok()) << session.error().Sentence();
  const std::string_view sql =
      "SELECT count(*) AS n, :factor * dur_ns AS x FROM kernels WHERE name = ?";
  const Result<Answer> answer =
      session->Ask(sql, {{"", std::string("add_kernel")}, {"factor", int64_t{2}}});
  ASSERT_TRUE(answer.ok()) << answer.error().Sentence();
  Column column;
  ASSERT_TRUE(answer->tables().front().Find("x", &column));
  EXPECT_EQ(column.Int(0), 6'000);
  EXPECT_FALSE(session->Ask(sql, {{"factor", 2.5}}).ok());
  EXPECT_FALSE(session->Ask("SELECT 1", {{"unused", std::monostate()}}).ok());
  EXPECT_FALSE(session->Ask(sql).ok());
  EXPECT_TRUE(IsCompleteStatement("SELECT 1;"));
  EXPECT_FALSE(IsCompleteStatement("SELECT 1"));
  EXPECT_FALSE(QuerySchema()->tables().empty());
}

TEST_F(Tasks, APageIsServedUntilStopped) {
  Result<FileServer> server = FileServer::Open(0);
  ASSERT_TRUE(server.ok()) << server.error().Sentence();
  ASSERT_TRUE(server->OfferPage("<p>page", "page.html").ok());
  EXPECT_NE(server->address().find(std::to_string(server->port())), std::string::npos);
  EXPECT_TRUE(server->is_reachable());
  const std::atomic<bool> stop = true;
  const Result<ServeEnd> end = server->Serve(std::chrono::seconds(60), stop);
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(*end, ServeEnd::kStopped);
  const Result<OfferedTrace> offered = server->OfferTrace({.inputs = {trace_}});
  ASSERT_TRUE(offered.ok()) << offered.error().Sentence();
  EXPECT_TRUE(offered->converted.has_value());
  EXPECT_FALSE(server->is_reachable());
  const Result<OfferedTrace> text = server->OfferTrace({.inputs = {trace_}}, TraceForm::kJson);
  ASSERT_TRUE(text.ok()) << text.error().Sentence();
  EXPECT_FALSE(text->converted.has_value());
}

TEST_F(Tasks, ALivePageWaitsUntilItIsNotAskedFor) {
  Result<FileServer> server = FileServer::Open(0);
  ASSERT_TRUE(server.ok()) << server.error().Sentence();
  ASSERT_TRUE(server->OfferLivePage("report.html", "nothing yet").ok());
  server->UpdatePage("<p>page", {"1 rank"});
  server->UpdateNews({"1 rank, later"});
  const std::atomic<bool> stop = false;
  const Result<ServeEnd> end = server->Serve(std::chrono::milliseconds(10), stop);
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(*end, ServeEnd::kTimeLimit);
}

TEST_F(Tasks, AWatchSeesWhatIsComplete) {
  InputWatch watch({trace_}, std::chrono::milliseconds(0));
  const InputWatch::Settled first = watch.Look();
  EXPECT_EQ(first.paths, std::vector<std::string>{trace_});
  EXPECT_TRUE(first.has_changed);
  EXPECT_FALSE(watch.Look().has_changed);
}

TEST_F(Tasks, CheckSaysWhetherABudgetIsKept) {
  const std::string runs[] = {trace_};
  const std::string budget = At("budget.toml");
  std::ofstream(budget) << "[[budget]]\nname = \"kernels\"\ntable = \"kernels\"\n"
                           "column = \"total_ns\"\nreduce = \"sum\"\nmax = \"3us\"\n";
  CheckOptions options;
  options.budget = budget;
  options.junit = At("junit.xml");
  const Result<CheckReport> kept = Check(runs, options);
  ASSERT_TRUE(kept.ok()) << kept.error().Sentence();
  EXPECT_EQ(kept->status, CheckStatus::kKept);
  EXPECT_EQ(kept->why, "every budget is kept");
  EXPECT_EQ(kept->answer.files().size(), 1U);
  EXPECT_TRUE(std::filesystem::exists(options.junit));
  EXPECT_FALSE(Check({}, options).ok());
  for (const double fail : {std::nan(""), -0.1, 1.5}) {
    options.fail = fail;
    EXPECT_EQ(Check(runs, options).error().code, ErrorCode::kInvalidArgument) << fail;
  }
}

TEST_F(Tasks, AStoppedCheckWritesNothing) {
  const std::string runs[] = {trace_};
  std::stop_source source;
  source.request_stop();
  CheckOptions options;
  options.save_baseline = At("saved.json");
  options.stop = source.get_token();
  const Result<CheckReport> stopped = Check(runs, options);
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, ErrorCode::kCancelled);
  EXPECT_FALSE(std::filesystem::exists(options.save_baseline));
}

}  // namespace
}  // namespace borescope
