#include "borescope/analysis/measures/flops/modelled_work.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

// 4096 FLOPs.
const OpArgs kProduct{.dims = "[[8, 16], [16, 16]]", .types = R"(["c10::Half", "c10::Half"])"};

ModelledWork Modelled(TestTrace& trace) {
  Result<ModelledWork> work = ModelWork(trace.View(), OpModelOptions{});
  EXPECT_TRUE(work.ok());
  return std::move(*work);
}

// 256 FLOPs.
const OpArgs kSum{.dims = "[[16, 16], [16, 16]]", .types = R"(["c10::Half", "c10::Half"])"};

// "mm backward 4096: main* helper", a line per call.
std::string Calls(TestTrace& trace) {
  const ModelledWork work = Modelled(trace);
  const Trace& data = trace.View().trace;
  std::string text;
  for (const ModelledCall& call : work.calls) {
    text += fmt::format("{} {} {}:", data.Name(call.op), WorkDirectionName(call.direction),
                        call.cost().flops());
    for (const DeviceId id : work.WorksOf(call)) {
      const bool is_main = work.info[id.value].role == KernelRole::kMain;
      text += fmt::format(" {}{}", data.Name(id), is_main ? "*" : "");
    }
    text += '\n';
  }
  return text;
}

std::string Statuses(TestTrace& trace) {
  const ModelledWork work = Modelled(trace);
  std::string text;
  for (const WorkInfo& info : work.info) {
    text += fmt::format("{};", WorkStatusName(info.status));
  }
  return text;
}

TEST(ModelledWork, CallOfSeveralKernelsCountsOnce) {
  TestTrace trace;
  trace.Op("aten::mm", {0, 100}, kProduct)
      .Launched("volta_h884gemm_64x64_nn", {10, 10}, {200, 50}, {1})
      .Launched("splitKreduce_kernel", {30, 10}, {250, 90}, {2});
  EXPECT_EQ(Calls(trace), "aten::mm forward 4096: volta_h884gemm_64x64_nn* splitKreduce_kernel\n");
  EXPECT_EQ(Modelled(trace).calls[0].matrix_use, MatrixUse::kYes);
}

TEST(ModelledWork, TypesOfTensorsInListsAreThoseOfTheKernel) {
  TestTrace trace;
  const OpArgs lists{.dims = "[[[8, 16], [4]], [[8, 16], [4]], []]",
                     .types = R"(["TensorList", "TensorList", "Scalar"])"};
  trace.Op("aten::_foreach_add_", {0, 100}, lists)
      .Launched("multi_tensor_apply_kernel<TensorListMetadata<2>, BinaryOpListAlphaFunctor<float>>",
                {10, 10}, {200, 50}, {1});
  const ModelledWork work = Modelled(trace);
  const ModelledCall& call = work.calls[0];
  EXPECT_EQ(call.cost().status, CostStatus::kOk);
  EXPECT_EQ(call.cost().bytes(), 3U * 4 * (128 + 4));
}

TEST(ModelledWork, OfAnUnknownKernelTypesOfListsStayUnknown) {
  TestTrace trace;
  const OpArgs lists{.dims = "[[[8, 16], [8, 16]], []]", .types = R"(["TensorList", "Scalar"])"};
  trace.Op("aten::cat", {0, 100}, lists).Launched("some_copy", {10, 10}, {200, 50}, {1});
  EXPECT_EQ(Modelled(trace).calls[0].cost().status, CostStatus::kUnknownType);
  EXPECT_EQ(Statuses(trace), "unknown cost;");
}

TEST(ModelledWork, BytesAloneAreAModel) {
  TestTrace trace;
  const OpArgs buffers{.dims = "[[8, 16], [8, 16], []]",
                       .types = R"(["float", "float", "Scalar"])"};
  trace.Op("triton_poi_fused_relu_0", {0, 100}, buffers)
      .Launched("triton_poi_fused_relu_0", {10, 10}, {200, 50}, {1});
  EXPECT_EQ(Statuses(trace), "modelled;");
  EXPECT_EQ(Modelled(trace).calls[0].cost().bytes(), 1024U);
}

TEST(ModelledWork, InnermostModelCountsAndCompositeDoesNotBesideIt) {
  TestTrace trace;
  trace.Op("aten::linear", {0, 100}, kProduct)
      .Op("aten::mm", {10, 40}, kProduct)
      .Launched("ampere_sgemm_32x32", {20, 10}, {200, 50}, {1})
      .Launched("bias", {60, 10}, {300, 50}, {2});
  EXPECT_EQ(Calls(trace), "aten::mm forward 4096: ampere_sgemm_32x32*\n");
  EXPECT_EQ(Statuses(trace), "modelled;no model;");
}

TEST(ModelledWork, CompositeCountsWhereNothingBelowItDoes) {
  TestTrace trace;
  trace.Op("aten::linear", {0, 100}, {.dims = "[[8, 16], [16, 16], []]"})
      .Op("my::gemm", {10, 40})
      .Launched("gemm", {20, 10}, {200, 50}, {1});
  EXPECT_EQ(Calls(trace), "aten::linear forward 4096: gemm*\n");
}

TEST(ModelledWork, OtherOperatorsHaveTheLongestKernelAndItsNamesakesAsMain) {
  TestTrace trace;
  trace.Op("aten::add", {0, 100}, kSum)
      .Launched("add", {10, 10}, {200, 50}, {1})
      .Launched("fill", {30, 10}, {250, 5}, {2})
      .Launched("add", {50, 10}, {300, 10}, {3});
  EXPECT_EQ(Calls(trace), "aten::add forward 256: add* fill add*\n");
}

TEST(ModelledWork, KernelsWithoutCallSayWhy) {
  TestTrace trace;
  trace.Op("my::op", {0, 100})
      .Launched("a", {10, 10}, {200, 10}, {1})
      .Launched("b", {110, 10}, {210, 10}, {2})
      .Runtime("cudaGraphLaunch", {120, 10}, 3)
      .Kernel("c", {220, 10}, {3})
      .Kernel("d", {230, 10})
      .Op("aten::mm", {140, 50})
      .Launched("e", {150, 10}, {240, 10}, {5});
  EXPECT_EQ(Statuses(trace), "no model;no operator;graph;no launch;unknown cost;");
}

TEST(ModelledWork, DirectionFollowsWhatStandsAround) {
  TestTrace trace;
  trace.Op("aten::mm", {0, 50}, kProduct)
      .Launched("k1", {10, 10}, {500, 10}, {1})
      .Op("autograd::engine::evaluate_function: CheckpointFunctionBackward", {100, 200})
      .Op("CheckpointFunctionBackward", {100, 200}, {.forward_thread = 1, .sequence = 7})
      .Op("aten::mm", {110, 30}, {.sequence = 8, .dims = kProduct.dims, .types = kProduct.types})
      .Launched("k2", {120, 10}, {510, 10}, {2})
      .Op("aten::mm", {150, 30}, kProduct)
      .Launched("k3", {160, 10}, {520, 10}, {3})
      .Annotation("Optimizer.step#SGD.step", {300, 100})
      .Op("aten::mul", {310, 50}, kSum)
      .Launched("k4", {320, 10}, {530, 10}, {4});
  EXPECT_EQ(Calls(trace),
            "aten::mm forward 4096: k1*\n"
            "aten::mm recompute 4096: k2*\n"
            "aten::mm backward 4096: k3*\n"
            "aten::mul update 256: k4*\n");
}

TEST(ModelledWork, BackwardWithoutShapesTakesThoseOfForward) {
  OpArgs forward = kProduct;
  forward.sequence = 7;
  TestTrace trace;
  trace.Op("aten::mm", {0, 50}, forward)
      .Launched("volta_h884gemm_64x64_nn", {10, 10}, {500, 10}, {1})
      .Op("MmBackward0", {100, 100}, {.forward_thread = 1, .sequence = 7})
      .Launched("volta_h884gemm_64x64_nt", {110, 10}, {520, 10}, {2})
      .Launched("volta_h884gemm_64x64_tn", {130, 10}, {540, 10}, {3})
      .Launched("fill", {150, 10}, {560, 30}, {4});
  EXPECT_EQ(Calls(trace),
            "aten::mm forward 4096: volta_h884gemm_64x64_nn*\n"
            "MmBackward0 backward 8192: volta_h884gemm_64x64_nt* volta_h884gemm_64x64_tn* fill\n");
}

// create_graph=True: autograd records what it runs backward, to run that backward, too.
TEST(ModelledWork, ADifferentiatedBackwardIsNoRecomputation) {
  const auto recorded = [](int64_t number) {
    return OpArgs{.sequence = number, .dims = kProduct.dims, .types = kProduct.types};
  };
  TestTrace trace;
  trace.Op("aten::mm", {0, 50}, recorded(3))
      .Launched("k1", {10, 10}, {500, 10}, {1})
      .Op("MmBackward0", {100, 90}, {.forward_thread = 1, .sequence = 3}, 2)
      .Op("aten::mm", {110, 30}, recorded(8), 2)
      .Runtime("cudaLaunchKernel", {120, 10}, 2, 2)
      .Kernel("k2", {510, 10}, {2})
      .Op("aten::mm", {150, 30}, recorded(9), 2)
      .Runtime("cudaLaunchKernel", {160, 10}, 3, 2)
      .Kernel("k3", {520, 10}, {3})
      .Op("MmBackward0", {300, 90}, {.forward_thread = 2, .sequence = 9}, 2)
      .Op("aten::mm", {310, 30}, kProduct, 2)
      .Runtime("cudaLaunchKernel", {320, 10}, 4, 2)
      .Kernel("k4", {530, 10}, {4});
  EXPECT_EQ(Calls(trace),
            "aten::mm forward 4096: k1*\n"
            "aten::mm backward 4096: k2*\n"
            "aten::mm backward 4096: k3*\n"
            "aten::mm backward 4096: k4*\n");
}

// Differentiation on one thread says nothing about another thread.
TEST(ModelledWork, AThreadRepeatsBesideADifferentiatedOne) {
  const auto recorded = [](int64_t number) {
    return OpArgs{.sequence = number, .dims = kProduct.dims, .types = kProduct.types};
  };
  TestTrace trace;
  trace.Op("MmBackward0", {100, 90}, {.forward_thread = 1, .sequence = 3}, 2)
      .Op("aten::mm", {110, 30}, recorded(8), 2)
      .Runtime("cudaLaunchKernel", {120, 10}, 2, 2)
      .Kernel("k2", {510, 10}, {2})
      .Op("MmBackward0", {300, 90}, {.forward_thread = 2, .sequence = 8}, 2)
      .Op("CheckpointFunctionBackward", {100, 90}, {.forward_thread = 1, .sequence = 5}, 3)
      .Op("aten::mm", {110, 30}, recorded(9), 3)
      .Runtime("cudaLaunchKernel", {120, 10}, 3, 3)
      .Kernel("k3", {530, 10}, {3});
  EXPECT_EQ(Calls(trace), "aten::mm backward 4096: k2*\naten::mm recompute 4096: k3*\n");
}

// A repeated forward is run backward in the same call of the engine.
TEST(ModelledWork, ACheckpointThatRunsBackwardItselfIsRecomputed) {
  TestTrace trace;
  trace.Op("CheckpointFunctionBackward", {100, 300}, {.forward_thread = 1, .sequence = 7}, 2)
      .Op("aten::mm", {110, 30}, {.sequence = 8, .dims = kProduct.dims, .types = kProduct.types}, 2)
      .Runtime("cudaLaunchKernel", {120, 10}, 2, 2)
      .Kernel("k2", {510, 10}, {2})
      .Op("MmBackward0", {200, 90}, {.forward_thread = 2, .sequence = 8}, 2)
      .Op("aten::mm", {210, 30}, kProduct, 2)
      .Runtime("cudaLaunchKernel", {220, 10}, 3, 2)
      .Kernel("k3", {520, 10}, {3});
  EXPECT_EQ(Calls(trace), "aten::mm recompute 4096: k2*\naten::mm backward 4096: k3*\n");
}

// The use of matrix units by a kernel of aten::mm with this name for which these were counted.
MatrixUse UseCounted(std::string_view kernel,
                     std::initializer_list<std::pair<std::string_view, double>> counters) {
  TestTrace trace;
  trace.Op("aten::mm", {0, 100}, kProduct).Launched(kernel, {10, 10}, {200, 50}, {1});
  trace.Range(kernel, {1000, 10}, counters);
  return Modelled(trace).calls[0].matrix_use;
}

constexpr std::string_view kVoltaGemm = "volta_h884gemm_64x64_nn";
constexpr std::string_view kPipe = "sm__inst_executed_pipe_tensor.sum";
constexpr std::string_view kPipeCycles =
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";
constexpr std::string_view kTypeCycles =
    "sm__pipe_tensor_type_hmma_hgmma_qgmma_imma_igmma_bmma_bgmma_cycles_active.avg.pct_of_peak_"
    "sustained_elapsed";
constexpr std::string_view kDmmaCycles =
    "sm__pipe_tensor_op_dmma_cycles_active.avg.pct_of_peak_sustained_elapsed";
constexpr std::string_view kHmma = "sm__inst_executed_pipe_tensor_op_hmma.sum";
constexpr std::string_view kBf16 = "sm__ops_path_tensor_src_bf16_dst_fp32.sum";

TEST(ModelledWork, CountersOfMatrixUnitsDecideOverNames) {
  EXPECT_EQ(UseCounted("my_gemm", {{kHmma, 64}}), MatrixUse::kYes);
  EXPECT_EQ(UseCounted("my_gemm", {{kBf16, 64}}), MatrixUse::kYes);
  EXPECT_EQ(UseCounted("my_gemm", {{kTypeCycles, 1.5}, {kDmmaCycles, 0}}), MatrixUse::kYes);
  EXPECT_EQ(UseCounted("my_gemm", {{"SQ_INSTS_VALU_MFMA_F16", 3}}), MatrixUse::kYes);
  EXPECT_EQ(UseCounted(kVoltaGemm, {{kPipe, 0}}), MatrixUse::kNo);
  EXPECT_EQ(UseCounted(kVoltaGemm, {{kPipe, 7}, {kTypeCycles, 0}, {kDmmaCycles, 0}}),
            MatrixUse::kNo);
}

// On an H100 a copy that transposes runs 524,288 instructions of the pipe, and random numbers keep
// it busy for 1.26 % of the time: neither computes on matrix units.
TEST(ModelledWork, TheTensorPipeIsNoProofOfMatrixUnits) {
  EXPECT_EQ(UseCounted("my_gemm", {{kPipe, 524288}}), MatrixUse::kUnknown);
  EXPECT_EQ(UseCounted("my_gemm", {{kPipeCycles, 1.26}}), MatrixUse::kUnknown);
  EXPECT_EQ(UseCounted("my_gemm", {{kPipeCycles, 1.26}, {kTypeCycles, 0}}), MatrixUse::kUnknown);
}

// What was not counted may have been used: other types, other kinds of instructions.
TEST(ModelledWork, NoOperationsOfOneTypeDoNotMeanNone) {
  EXPECT_EQ(UseCounted(kVoltaGemm, {{kBf16, 0}}), MatrixUse::kYes);
  EXPECT_EQ(UseCounted(kVoltaGemm, {{kDmmaCycles, 0}}), MatrixUse::kYes);
  EXPECT_EQ(UseCounted(kVoltaGemm, {{kHmma, 0}}), MatrixUse::kYes);
  EXPECT_EQ(UseCounted(kVoltaGemm, {{"SQ_INSTS_VALU_MFMA_F16", 0}}), MatrixUse::kYes);
}

}  // namespace
}  // namespace borescope::internal
