#include "borescope/analysis/measures/graphs/captured_work.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "borescope/analysis/measures/flops/modelled_work.h"
#include "borescope/catalog/pack.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {

namespace {

// 4096 and 256 FLOPs.
const OpArgs kProduct{.dims = "[[8, 16], [16, 16]]", .types = R"(["c10::Half", "c10::Half"])"};
const OpArgs kSum{.dims = "[[16, 16], [16, 16]]", .types = R"(["c10::Half", "c10::Half"])"};
constexpr const char* kGemm = "ampere_h16816gemm_64x64_nn";

// A product and a sum, eagerly at 0, and captured at 1000.
void AddCapture(TestTrace& trace) {
  trace.Op("aten::mm", {0, 100}, kProduct)
      .Launched(kGemm, {10, 10}, {200, 50}, {1})
      .Op("aten::add", {110, 100}, kSum)
      .Launched("add", {120, 10}, {260, 10}, {2})
      .Runtime("cudaStreamBeginCapture", {1000, 10})
      .Op("aten::mm", {1100, 100}, kProduct)
      .Runtime("cudaLaunchKernel", {1110, 10}, 3)
      .Op("aten::add", {1210, 100}, kSum)
      .Runtime("cudaLaunchKernel", {1220, 10}, 4)
      .Runtime("cudaStreamEndCapture", {1400, 10});
}

void AddReplay(TestTrace& trace, int64_t ts_ns, int64_t correlation, const char* first,
               const char* second) {
  trace.Runtime("cudaGraphLaunch", {ts_ns, 10}, correlation)
      .Kernel(first, {ts_ns + 100, 50}, {correlation})
      .Kernel(second, {ts_ns + 200, 10}, {correlation});
}

// "aten::mm 4096: gemm", a line per call.
std::string Calls(TestTrace& trace) {
  const Result<ModelledWork> work = ModelWork(trace.View(), OpModelOptions{});
  EXPECT_TRUE(work.ok());
  std::string text;
  for (const ModelledCall& call : work->calls) {
    text += fmt::format("{} {}:", trace.View().trace.Name(call.op), call.cost().flops());
    for (const DeviceId id : work->WorksOf(call)) {
      text += fmt::format(" {}{}", trace.View().trace.Name(id), work->IsCaptured(id) ? "'" : "");
    }
    text += '\n';
  }
  return text;
}

std::string Roofline(TestTrace& trace, std::string_view table,
                     std::initializer_list<std::string_view> columns) {
  for (const Table& each : Analyse("roofline", {&trace.View()})) {
    if (each.name == table) return Csv(each, columns);
  }
  return "";
}

std::string Statuses(TestTrace& trace) {
  return Roofline(trace, "modelled", {"status", "kernels", "total_ns"});
}

TEST(CapturedLaunches, EveryReplayIsACallOfItsOwn) {
  TestTrace trace;
  AddCapture(trace);
  AddReplay(trace, 2000, 10, kGemm, "add");
  AddReplay(trace, 3000, 11, kGemm, "add");
  const std::string gemm = kGemm;
  EXPECT_EQ(Calls(trace), "aten::mm 4096: " + gemm + "\naten::add 256: add\n" +
                              "aten::mm 4096: " + gemm + "'\naten::add 256: add'\n" +
                              "aten::mm 4096: " + gemm + "'\naten::add 256: add'\n");
  EXPECT_EQ(Statuses(trace), "status,kernels,total_ns\ncaptured,4,120\nmodelled,2,60\n");
  EXPECT_EQ(Roofline(trace, "roofline", {"op", "count", "total_ns", "flops"}),
            "op,count,total_ns,flops\naten::mm,3,150,12288\naten::add,3,30,768\n");
}

TEST(CapturedLaunches, ProfShowsTheCapturedOperator) {
  if (Packs().empty()) GTEST_SKIP() << "a build without packs";
  TestTrace trace;
  AddCapture(trace);
  AddReplay(trace, 2000, 10, kGemm, "add");
  Params params;
  params.values.push_back({.name = "columns", .text = "op,sub,kernel,flops,status"});
  const std::string gemm = kGemm;
  EXPECT_EQ(Csv(Analyse("prof", {&trace.View()}, params).front()),
            "op,sub,kernel,flops,status\nmm,0," + gemm +
                ",4096,modelled\nadd,0,add,256,modelled\n" + "mm,0," + gemm +
                ",4096,captured\nadd,0,add,256,captured\n");
}

// Branches of a graph run side by side.
TEST(CapturedLaunches, NamesDecideWhereTheOrderDiffers) {
  TestTrace trace;
  AddCapture(trace);
  AddReplay(trace, 2000, 10, "add", kGemm);
  const std::string gemm = kGemm;
  EXPECT_EQ(Calls(trace), "aten::mm 4096: " + gemm + "\naten::add 256: add\n" +
                              "aten::mm 4096: " + gemm + "'\naten::add 256: add'\n");
}

TEST(CapturedLaunches, OtherNamesAreOfNoOperator) {
  TestTrace trace;
  AddCapture(trace);
  AddReplay(trace, 2000, 10, kGemm, "add");
  AddReplay(trace, 3000, 11, "other", "add");
  EXPECT_EQ(Statuses(trace), "status,kernels,total_ns\ncaptured,2,60\ngraph,2,60\nmodelled,2,60\n");
}

// Without a kernel of a known name, order alone proves nothing.
TEST(CapturedLaunches, NothingKnownOfTheNamesIsNoMatch) {
  TestTrace trace;
  trace.Runtime("cudaStreamBeginCapture", {1000, 10})
      .Op("aten::mm", {1100, 100}, kProduct)
      .Runtime("cudaLaunchKernel", {1110, 10}, 3)
      .Op("aten::add", {1210, 100}, kSum)
      .Runtime("cudaLaunchKernel", {1220, 10}, 4)
      .Runtime("cudaStreamEndCapture", {1400, 10});
  AddReplay(trace, 2000, 10, kGemm, "add");
  EXPECT_EQ(Statuses(trace), "status,kernels,total_ns\ngraph,2,60\n");
}

TEST(CapturedLaunches, ALaunchBeforeTheCaptureRanAnotherGraph) {
  TestTrace trace;
  AddCapture(trace);
  AddReplay(trace, 500, 10, kGemm, "add");
  EXPECT_EQ(Statuses(trace), "status,kernels,total_ns\ngraph,2,60\nmodelled,2,60\n");
}

TEST(CapturedLaunches, LaunchesOfOneGraphShareItsCapture) {
  TestTrace trace;
  trace.Op("aten::mm", {0, 100}, kProduct).Launched(kGemm, {10, 10}, {200, 50}, {1});
  for (const int64_t at : {1000, 2000}) {
    trace.Runtime("cudaStreamBeginCapture", {at, 10})
        .Op("aten::mm", {at + 100, 100}, kProduct)
        .Runtime("cudaLaunchKernel", {at + 110, 10}, at)
        .Runtime("cudaStreamEndCapture", {at + 400, 10});
  }
  for (const int64_t at : {3000, 4000}) {
    trace.Op("graph", {at, 500}).Runtime("cudaGraphLaunch", {at + 10, 10}, at);
    trace.Kernel(kGemm, {at + 100, 50}, {at});
  }
  const Result<CapturedLaunches> found = FindCapturedLaunches(trace.View());
  ASSERT_TRUE(found.ok());
  // Without handles both launches are of one graph.
  EXPECT_EQ(found->launch_of[1], found->launch_of[2]);
  EXPECT_FALSE(found->launch_of[0].valid());
  EXPECT_NE(found->replay_of[1], found->replay_of[2]);
}

}  // namespace

}  // namespace borescope::internal
