#include "borescope/ingest/chrome/chrome_trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "borescope/ingest/load.h"

namespace borescope::internal {
namespace {

Trace LoadGood(const std::string& text) {
  Result<Trace> trace = LoadBytes(text, "a.json", {});
  EXPECT_TRUE(trace.ok()) << trace.error().Sentence();
  return std::move(*trace);
}

// "name kind" of each device event, in the order of streams and times.
std::vector<std::string> DeviceKinds(const Trace& trace) {
  constexpr std::string_view kNames[] = {"kernel",     "memcpy", "memset", "sync",
                                         "annotation", "range",  "other"};
  std::vector<std::string> kinds;
  kinds.reserve(trace.device().size());
  for (uint32_t row = 0; row < trace.device().size(); ++row) {
    kinds.push_back(std::string(trace.Name(DeviceId{row})) + " " +
                    std::string(kNames[static_cast<size_t>(trace.device().kind[row])]));
  }
  return kinds;
}

std::vector<std::string> HostNames(const Trace& trace, HostKind kind) {
  std::vector<std::string> names;
  for (uint32_t row = 0; row < trace.host().size(); ++row) {
    if (trace.host().kind[row] == kind) {
      names.emplace_back(trace.Name(HostId{row}));
    }
  }
  return names;
}

using Texts = std::vector<std::string>;

std::string Xla(const std::string& events, const std::string& device = "/device:GPU:0") {
  return R"({"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[)"
         R"({"ph":"M","pid":1,"name":"process_name","args":{"name":")" +
         device + R"("}},{"ph":"M","pid":701,"name":"process_name","args":{"name":"/host:CPU"}},)" +
         events + ",{}]}";
}

std::string Line(int tid, const std::string& name) {
  return R"({"ph":"M","pid":1,"tid":)" + std::to_string(tid) +
         R"(,"name":"thread_name","args":{"name":")" + name + R"("}},)";
}

std::string Work(int tid, const std::string& name, const std::string& args, int ts = 10) {
  return R"({"ph":"X","pid":1,"tid":)" + std::to_string(tid) + R"(,"ts":)" + std::to_string(ts) +
         R"(,"dur":2,"name":")" + name + R"(","args":{)" + args + "}}";
}

TEST(XlaTraceTest, LinesThatRepeatTheStreamsAreNoWork) {
  const Trace trace =
      LoadGood(Xla(Line(14, "Stream #14(Compute)") + Line(70, "XLA Modules") + Line(71, "XLA Ops") +
                   Work(14, "loop_fusion", R"("hlo_op":"fusion.1")") + "," +
                   Work(70, "jit_step", "") + "," + Work(71, "fusion.1", "")));
  EXPECT_EQ(DeviceKinds(trace),
            (Texts{"loop_fusion kernel", "jit_step annotation", "fusion.1 annotation"}));
}

TEST(XlaTraceTest, OfATpuTheOperationsAreTheWork) {
  const Trace trace = LoadGood(Xla(Line(1, "Steps") + Line(2, "XLA Ops") +
                                       Line(3, "Async XLA Ops") + Work(1, "1", "") + "," +
                                       Work(2, "fusion.3", "") + "," + Work(3, "copy-start.4", ""),
                                   "/device:TPU:2"));
  EXPECT_EQ(DeviceKinds(trace), (Texts{"1 annotation", "fusion.3 kernel", "copy-start.4 memcpy"}));
  EXPECT_EQ(trace.DeviceOf(DeviceId{0}), 2);
}

TEST(XlaTraceTest, StrayMemoryOfAnAmdBuildIsNotRecorded) {
  const Trace trace = LoadGood(
      Xla(Work(17, "a.kd",
               R"("kernel_details":"regs:2191489720 static_shared:32462 grid:16,1,1 )"
               R"(block:512,1,1 occ_pct:0")") +
          "," +
          Work(17, "b.kd",
               R"("kernel_details":" grid:16,2,1 block:64,1,1 private_mem:8 group_mem:512")", 20)));
  const Kernels& kernels = trace.kernels();
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels.registers[0], -1);
  EXPECT_EQ(kernels.shared_bytes[0], -1);
  EXPECT_EQ(kernels.occupancy_percent[0], -1);
  EXPECT_EQ(kernels.block_x[0], 512);
  EXPECT_EQ(kernels.grid_y[1], 2);
  EXPECT_EQ(kernels.shared_bytes[1], 512);
  EXPECT_EQ(kernels.private_bytes[1], 8);
}

// One launch of a command buffer, whose kernels name two operations.
TEST(XlaTraceTest, EachOperationOfALaunchIsAnOperator) {
  const std::string of = R"("correlation_id":"5","hlo_module":"jit_f","hlo_op":)";
  const Trace trace = LoadGood(
      Xla(R"({"ph":"X","pid":701,"tid":3,"ts":1,"dur":4,"name":"cuGraphLaunch",)"
          R"("args":{"correlation_id":"5"}},)" +
          Work(14, "k1", of + R"("fusion.1")") + "," + Work(14, "k2", of + R"("fusion.1")", 20) +
          "," + Work(14, "k3", of + R"("dot.2")", 30)));
  EXPECT_EQ(HostNames(trace, HostKind::kOp), (Texts{"fusion.1", "dot.2"}));
  EXPECT_EQ(HostNames(trace, HostKind::kAnnotation), Texts{"jit_f"});
  const DeviceEvents& device = trace.device();
  EXPECT_EQ(device.external_id[0], device.external_id[1]);
  EXPECT_NE(device.external_id[1], device.external_id[2]);
}

std::string Autograd(const std::string& name, const std::string& kernel, int ts, int dur) {
  const std::string times = R"(,"ts":)" + std::to_string(ts);
  const std::string cpu = R"({"name":")" + name + R"(","pid":"CPU functions","tid":1)" + times;
  const std::string gpu = R"({"name":")" + kernel + R"(","pid":"CUDA functions","tid":0)" + times;
  const std::string length = R"(,"dur":)" + std::to_string(dur) + R"(,"args":{}})";
  return cpu + R"(,"ph":"X")" + length + "," + cpu + R"(,"ph":"s","id":1,"cat":"cpu_to_cuda"},)" +
         gpu + R"(,"ph":"f","id":1,"cat":"cpu_to_cuda"},)" + gpu + R"(,"ph":"X")" + length;
}

TEST(AutogradTraceTest, OnlyTheInnermostTimesAreWork) {
  const Trace trace =
      LoadGood("[" + Autograd("linear", "linear", 10, 100) + "," +
               Autograd("matmul", "matmul", 20, 60) + "," + Autograd("mm", "mm", 30, 40) + "]");
  EXPECT_EQ(trace.meta().format, TraceFormat::kAutograd);
  EXPECT_EQ(DeviceKinds(trace), (Texts{"linear annotation", "matmul annotation", "mm kernel"}));
  EXPECT_EQ(HostNames(trace, HostKind::kOp), (Texts{"linear", "matmul", "mm"}));
}

// nvprof recorded kernels, which may overlap those of other streams.
TEST(AutogradTraceTest, KernelsWithNamesOfTheirOwnAreAllWork) {
  const Trace trace = LoadGood("[" + Autograd("mm", "gemm_kernel", 10, 100) + "," +
                               Autograd("add", "add_kernel", 20, 60) + "]");
  EXPECT_EQ(DeviceKinds(trace), (Texts{"gemm_kernel kernel", "add_kernel kernel"}));
}

TEST(OnnxRuntimeTraceTest, HandlesOfStreamsAreNumberedByTheirFirstKernels) {
  const auto kernel = [](const std::string& stream, int ts) {
    return R"({"cat":"Kernel","pid":-1,"tid":-1,"ph":"X","dur":1,"name":"k","args":{"stream":")" +
           stream + R"("},"ts":)" + std::to_string(ts) + "}";
  };
  const Trace trace =
      LoadGood(R"([{"cat":"Session","pid":1,"tid":1,"ph":"X","ts":1,"dur":1,"name":"model_run"},)" +
               kernel("0x7f00beef", 7) + "," + kernel("0x7f00aaaa", 6) + "," +
               kernel("0x7f00beef", 5) + "]");
  EXPECT_EQ(trace.StreamOf(DeviceId{0}), 0);
  EXPECT_EQ(trace.StreamOf(DeviceId{1}), 0);
  EXPECT_EQ(trace.StreamOf(DeviceId{2}), 1);
}

// Runs of a node share its kernels, though the device is late; where they cannot, times decide. The
// order of the events in the file says nothing.
TEST(OnnxRuntimeTraceTest, KernelsAreOfTheirRunsInAnyOrderOfTheFile) {
  const auto node = [](int ts) {
    return R"({"cat":"Node","pid":1,"tid":1,"ph":"X","dur":9,"name":"a_kernel_time","args":)"
           R"({"provider":"CUDAExecutionProvider"},"ts":)" +
           std::to_string(ts) + "}";
  };
  const auto kernel = [](int ts) {
    return R"({"cat":"Kernel","pid":-1,"tid":-1,"ph":"X","dur":5,"name":"k","args":)"
           R"({"stream":"7","parent_name":"a_kernel_time"},"ts":)" +
           std::to_string(ts) + "}";
  };
  struct Case {
    Texts events;
    std::vector<int> runs;  // of the kernels by time: which run of the node
  };
  std::mt19937_64 random(7);
  for (const Case& one : {Case{{node(10), node(20), node(30), kernel(25), kernel(31), kernel(35),
                                kernel(40), kernel(45), kernel(50)},
                               {0, 0, 1, 1, 2, 2}},
                          Case{{node(10), node(20), kernel(12), kernel(21), kernel(25)}, {0, 1, 1}},
                          Case{{node(10), node(20), kernel(5), kernel(25)}, {0, 1}}}) {
    for (int order = 0; order < 20; ++order) {
      Texts events = one.events;
      std::shuffle(events.begin(), events.end(), random);
      std::string text = "[";
      for (const std::string& event : events) {
        text += (text.size() == 1 ? "" : ",") + event;
      }
      const Trace trace = LoadGood(text + "]");
      std::vector<int64_t> starts;  // of operators, by their number
      for (uint32_t row = 0; row < trace.host().size(); ++row) {
        ASSERT_EQ(trace.host().kind[row], HostKind::kOp);
        ASSERT_EQ(trace.ops().external_id[trace.host().detail[row]], row + 1);
        starts.push_back(trace.host().ts_ns[row]);
      }
      ASSERT_TRUE(std::is_sorted(starts.begin(), starts.end()));
      ASSERT_EQ(trace.device().size(), one.runs.size());
      for (uint32_t row = 0; row < trace.device().size(); ++row) {
        EXPECT_EQ(trace.device().external_id[row], one.runs[row] + 1) << text;
      }
    }
  }
}

// A list that was not closed, since the session was not ended.
TEST(OnnxRuntimeTraceTest, AnUnclosedListIsRead) {
  const Trace trace = LoadGood(
      "[\n"
      R"({"cat":"Session","pid":1,"tid":1,"ph":"X","ts":1,"dur":9,"name":"model_run"},)"
      R"({"cat":"Node","pid":1,"tid":1,"ph":"X","ts":2,"dur":3,"name":"a_kernel_time",)"
      R"("args":{"op_name":"Add","input_type_shape":[{"float":[2,3]},{"int64":[]}]}},)");
  EXPECT_EQ(HostNames(trace, HostKind::kOp), Texts{"a"});
  EXPECT_EQ(trace.Text(trace.ops().input_dims[0]), "[[2, 3], []]");
  EXPECT_EQ(trace.Text(trace.ops().input_types[0]), R"(["float", "int64"])");
  EXPECT_EQ(trace.diagnostics().count(Diag::kTruncatedFile), 1U);
}

TEST(AscendTraceTest, PartsOfCollectivesAndWaitsAreNoWork) {
  const auto task = [](const std::string& name, const std::string& type, int ts) {
    return R"({"ph":"X","pid":1056,"tid":2,"ts":"170000000000000)" + std::to_string(ts) +
           R"(.125","dur":0.5,"name":")" + name + R"(","args":{"Task Type":")" + type + R"("}})";
  };
  const Trace trace = LoadGood(
      R"([{"ph":"M","pid":1056,"name":"process_name","args":{"name":"Ascend Hardware"}},)" +
      task("a", "AI_CORE", 1) + "," + task("b", "MIX_AIV", 2) + "," +
      task("MEMCPY_ASYNC", "SDMA_SQE", 3) + "," + task("SDMA", "SDMA", 4) + "," +
      task("EVENT_WAIT", "EVENT_WAIT_SQE", 5) + "]");
  EXPECT_EQ(DeviceKinds(trace), (Texts{"a kernel", "b kernel", "MEMCPY_ASYNC memcpy", "SDMA other",
                                       "EVENT_WAIT other"}));
  EXPECT_EQ(trace.device().ts_ns[0], 1'700'000'000'000'001'125);
  EXPECT_EQ(trace.meta().base_ns, 0);
}

// The first rocprof writes times as texts, too.
TEST(ChromeProducerTest, RocprofsTracesAreNotAscends) {
  const std::string event = R"([{"ph":"X","name":"hipMalloc","pid":2,"tid":7,"ts":"1000.125",)"
                            R"("dur":"5.000","args":{"BeginNs":"1000125","EndNs":"1005125"}}])";
  EXPECT_FALSE(IsAscendTrace(event));
  EXPECT_NE(ForeignChromeOf(event).what.find("rocprof"), std::string_view::npos);
}

// A kernel of it looks like an old one of Kineto's.
TEST(ChromeProducerTest, OnnxRuntimesKernelsMayComeFirst) {
  EXPECT_TRUE(IsOnnxRuntimeTrace(
      R"([{"cat":"Kernel","pid":-1,"tid":-1,"ph":"X","ts":50,"dur":1,"name":"k","args":{}},)"
      R"({"cat":"Session","pid":1,"tid":1,"ph":"X","ts":1,"dur":1,"name":"model_run"}])"));
}

TEST(ChromeProducerTest, KinetosTracesAreNobodyElses) {
  for (const std::string_view text :
       {R"([{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1}])",
        R"({"schemaVersion":1,"traceEvents":[{"cat":"Session","ph":"X","ts":1}]})",
        R"([{"ph":"X","cat":"Kernel","name":"k","ts":1.5},{"cat":"Session","ph":"X","ts":1}])", "",
        "[", "{", R"({"traceEvents":[)", R"([{"ph":)"}) {
    EXPECT_FALSE(IsXlaTrace(text) || IsAscendTrace(text) || IsOnnxRuntimeTrace(text) ||
                 IsAutogradTrace(text))
        << text;
  }
}

}  // namespace
}  // namespace borescope::internal
