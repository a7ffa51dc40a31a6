#include "borescope/analysis/measures/counter_join/measured.h"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace borescope::internal {
namespace {

using Counts = std::initializer_list<std::pair<std::string_view, double>>;

// Views in the result are of texts that live as long as the program.
MeasuredKernel MeasureCounts(Counts counts) {
  std::vector<std::string_view> names;
  std::vector<CounterValue> values;
  for (const auto& [name, value] : counts) {
    values.push_back({static_cast<uint32_t>(names.size()), value});
    names.push_back(name);
  }
  return CounterMeanings(names).Measure(values);
}

std::optional<double> TensorOf(Counts counts) { return MeasureCounts(counts).tensor_flops; }
std::optional<double> VectorOf(Counts counts) { return MeasureCounts(counts).vector_flops; }

TEST(Measured, VectorFlopsCountMultiplyAddsTwice) {
  for (const char* one : {"fadd", "fmul", "hadd", "hmul", "dadd", "dmul"}) {
    const std::string name =
        "smsp__sass_thread_inst_executed_op_" + std::string(one) + "_pred_on.sum";
    EXPECT_EQ(VectorOf({{name, 5}}), 5) << name;
  }
  for (const char* one : {"ffma", "hfma", "dfma"}) {
    const std::string name =
        "sm__sass_thread_inst_executed_op_" + std::string(one) + "_pred_on.sum";
    EXPECT_EQ(VectorOf({{name, 5}}), 10) << name;
  }
  // The same instructions, counted in two places.
  EXPECT_EQ(VectorOf({{"sm__sass_thread_inst_executed_op_ffma_pred_on.sum", 3},
                      {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 3}}),
            6);
  for (const char* other :
       {"smsp__sass_thread_inst_executed_op_ffma_pred_on.avg", "gpu__time_duration.sum",
        "smsp__sass_thread_inst_executed_op_integer_pred_on.sum", "sm__inst_executed_pipe_tensor",
        "smsp__sass_thread_inst_executed_op__pred_on.sum", "smsp__sass_thread_inst_executed_op_"}) {
    EXPECT_EQ(VectorOf({{other, 5}}), std::nullopt) << other;
  }
}

TEST(Measured, TensorFlopsOfAWholeAndItsPartsCountOnce) {
  EXPECT_EQ(TensorOf({{"sm__ops_path_tensor_src_fp16.sum", 7}}), 7);
  EXPECT_EQ(TensorOf({{"sm__ops_path_tensor_src_fp16_dst_fp32.sum", 7},
                      {"sm__ops_path_tensor_src_fp16_dst_fp16.sum", 2},
                      {"sm__ops_path_tensor_src_fp16.sum", 9}}),
            9);
  EXPECT_EQ(TensorOf({{"sm__ops_path_tensor_src_fp8.sum", 5},
                      {"sm__ops_path_tensor_src_fp8_dst_fp32.sum", 5}}),
            5);
  EXPECT_EQ(TensorOf({{"sm__ops_path_tensor_src_bf16_dst_fp32.sum", 8},
                      {"sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_on.sum", 3},
                      {"sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_off.sum", 5}}),
            8);
  EXPECT_EQ(TensorOf({{"sm__ops_path_tensor_src_bf16_sparsity_off.sum", 5},
                      {"sm__ops_path_tensor_src_bf16_sparsity_on.sum", 3},
                      {"sm__ops_path_tensor_src_fp4_dst_fp32.sum", 100}}),
            108);
  EXPECT_EQ(TensorOf({{"sm__ops_path_tensor_src_int8.sum", 7}}), std::nullopt);
  EXPECT_EQ(TensorOf({{"sm__ops_path_tensor_src_uint4.sum", 7}}), std::nullopt);
  EXPECT_EQ(TensorOf({{"sm__ops_path_tensor_src_bf16.avg", 7}}), std::nullopt);
}

// rocprofv3's: memory in KiB, operations of matrix units in units of 512.
TEST(Measured, CountersOfAmd) {
  const MeasuredKernel kernel = MeasureCounts({{"FETCH_SIZE", 1064},
                                               {"WRITE_SIZE", 532},
                                               {"SQ_WAVES", 9},
                                               {"SQ_INSTS_VALU_MFMA_MOPS_BF16", 6400},
                                               {"SQ_INSTS_VALU_MFMA_MOPS_F16", 100},
                                               {"SQ_INSTS_VALU_MFMA_MOPS_I8", 7},
                                               {"SQ_INSTS_VALU_MFMA_MOPS_", 7},
                                               {"SQ_INSTS_VALU_MFMA_BF16", 7}});
  EXPECT_EQ(kernel.dram_read, 1064 * 1024);
  EXPECT_EQ(kernel.dram_written, 532 * 1024);
  EXPECT_EQ(kernel.dram_bytes, 1596 * 1024);
  EXPECT_EQ(kernel.tensor_flops, 6500 * 512);
  EXPECT_EQ(kernel.tensor_types, (std::vector<std::string_view>{"bf16", "fp16"}));
  EXPECT_EQ(kernel.uses_matrix_units, true);
  EXPECT_EQ(TensorOf({{"SQ_INSTS_VALU_MFMA_MOPS_I8", 7}}), std::nullopt);
  EXPECT_TRUE(CountsTensorFlops("SQ_INSTS_VALU_MFMA_MOPS_F6F4"));
  EXPECT_TRUE(CountsTensorFlops("sm__ops_path_tensor_src_fp8.sum"));
  EXPECT_FALSE(CountsTensorFlops("SQ_INSTS_VALU_MFMA_MOPS_I8"));
}

// Products of 32 bits are counted by two counters: 0 of one alone says nothing.
TEST(TensorFlops, OfAmdAreKnownOnlyForTypesThatWereCounted) {
  const KernelWork work{MatrixUse::kYes, "", ScalarType::kFloat32};
  const auto flops = [&](Counts counts) { return TensorFlops(MeasureCounts(counts), work).flops; };
  EXPECT_EQ(flops({{"SQ_INSTS_VALU_MFMA_MOPS_F32", 0}}), std::nullopt);
  EXPECT_EQ(flops({{"SQ_INSTS_VALU_MFMA_MOPS_XF32", 0}}), std::nullopt);
  EXPECT_EQ(flops({{"SQ_INSTS_VALU_MFMA_MOPS_BF16", 0}}), std::nullopt);
  EXPECT_EQ(flops({{"SQ_INSTS_VALU_MFMA_MOPS_F32", 0}, {"SQ_INSTS_VALU_MFMA_MOPS_XF32", 0}}), 0);
  EXPECT_EQ(flops({{"SQ_INSTS_VALU_MFMA_MOPS_F32", 3}}), 3 * 512);
}

TEST(Measured, WhatIsNoNumberIsMissing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const MeasuredKernel kernel =
      MeasureCounts({{"sm__ops_path_tensor_src_bf16.sum", nan},
                     {"dram__bytes_read.sum", std::numeric_limits<double>::infinity()},
                     {"dram__bytes_write.sum", 4}});
  EXPECT_EQ(kernel.tensor_flops, std::nullopt);
  EXPECT_EQ(kernel.dram_read, std::nullopt);
  EXPECT_EQ(kernel.dram_bytes, std::nullopt);
  EXPECT_EQ(kernel.dram_written, 4);
}

TEST(Measured, BytesOfMemoryAndCache) {
  EXPECT_EQ(MeasureCounts({{"dram__bytes.sum", 10}}).dram_bytes, 10);
  EXPECT_EQ(MeasureCounts({{"dram__bytes.sum", 10}}).dram_read, std::nullopt);
  EXPECT_EQ(MeasureCounts({{"dram__bytes_read.sum", 3}, {"dram__bytes_write.sum", 4}}).dram_bytes,
            7);
  // What the SMs asked for, rather than both sides of L2.
  EXPECT_EQ(
      MeasureCounts({{"lts__t_sectors_srcunit_tex.sum", 3}, {"lts__t_bytes.sum", 500}}).l2_bytes,
      96);
  EXPECT_EQ(
      MeasureCounts({{"lts__t_bytes.sum", 500}, {"lts__t_sectors_srcunit_tex.sum", 3}}).l2_bytes,
      96);
  EXPECT_EQ(MeasureCounts({{"lts__t_bytes.sum", 500}}).l2_bytes, 500);
}

TEST(Measured, MatrixUnitsAreProvedByProductsAlone) {
  const auto uses = [](Counts counts) { return MeasureCounts(counts).uses_matrix_units; };
  EXPECT_EQ(uses({{"sm__ops_path_tensor_src_bf16.sum", 1}}), true);
  EXPECT_EQ(uses({{"sm__pipe_tensor_type_hgmma_cycles_active.avg", 1}}), true);
  EXPECT_EQ(uses({{"sm__inst_executed_pipe_tensor_op_hmma.sum", 1}}), true);
  // Kernels without products execute instructions of the pipe, too.
  EXPECT_EQ(uses({{"sm__inst_executed_pipe_tensor.sum", 81920}}), std::nullopt);
  EXPECT_EQ(uses({{"sm__pipe_tensor_cycles_active.avg", 3}}), std::nullopt);
  EXPECT_EQ(uses({{"sm__inst_executed_pipe_tensor.sum", 0}}), false);
  EXPECT_EQ(uses({{"sm__ops_path_tensor_src_bf16.sum", 0}}), std::nullopt);
}

TEST(TensorFlops, AreKnownOnlyForTypesThatWereCounted) {
  const MeasuredKernel zero = MeasureCounts(
      {{"sm__ops_path_tensor_src_bf16_dst_fp32.sum", 0}, {"sm__inst_executed_pipe_tensor.sum", 5}});
  const KnownFlops fp16 = TensorFlops(zero, {MatrixUse::kYes, "fp16", ScalarType::kUnknown});
  EXPECT_EQ(fp16.flops, std::nullopt);
  EXPECT_EQ(fp16.not_counted, "fp16");
  EXPECT_EQ(TensorFlops(zero, {MatrixUse::kYes, "bf16", ScalarType::kUnknown}).flops, 0);
  // By the arguments of the call, where the name says nothing.
  EXPECT_EQ(TensorFlops(zero, {MatrixUse::kUnknown, "", ScalarType::kFloat16}).not_counted, "fp16");
  EXPECT_EQ(TensorFlops(zero, {MatrixUse::kUnknown, "", ScalarType::kBFloat16}).flops, 0);
  EXPECT_EQ(TensorFlops(zero, {MatrixUse::kUnknown, "", ScalarType::kUnknown}).not_counted,
            "unknown type");
  EXPECT_EQ(TensorFlops(zero, {MatrixUse::kYes, "int8", ScalarType::kInt8}).flops, 0);
  EXPECT_EQ(TensorFlops(zero, {MatrixUse::kNotMatrix, "", ScalarType::kFloat16}).flops, 0);
  EXPECT_EQ(TensorFlops(zero, {MatrixUse::kNo, "", ScalarType::kFloat32}).flops, 0);
}

TEST(TensorFlops, OperationsAboveZeroAndIdlePipesAreKnown) {
  const KernelWork fp16 = {MatrixUse::kYes, "fp16", ScalarType::kFloat16};
  EXPECT_EQ(TensorFlops(MeasureCounts({{"sm__ops_path_tensor_src_bf16.sum", 9}}), fp16).flops, 9);
  EXPECT_EQ(TensorFlops(MeasureCounts({{"sm__ops_path_tensor_src_bf16.sum", 0},
                                       {"sm__inst_executed_pipe_tensor.sum", 0}}),
                        fp16)
                .flops,
            0);
  const KnownFlops none = TensorFlops(MeasureCounts({{"dram__bytes.sum", 9}}), fp16);
  EXPECT_EQ(none.flops, std::nullopt);
  EXPECT_EQ(none.not_counted, "");
}

std::string LimiterText(double compute, double memory, double waves) {
  const std::optional<Limiter> limiter = LimiterOf(
      MeasureCounts({{"sm__throughput.avg.pct_of_peak_sustained_elapsed", compute},
                     {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", memory},
                     {"launch__waves_per_multiprocessor", waves}}));
  return std::string(LimiterName(limiter.value_or(Limiter::kBalanced)));
}

TEST(Limiters, AreThoseOfTheSpeedOfLight) {
  EXPECT_EQ(LimiterText(81, 20, 2), "near peak");
  EXPECT_EQ(LimiterText(20, 80, 2), "near peak");
  EXPECT_EQ(LimiterText(73, 40, 2), "compute");
  EXPECT_EQ(LimiterText(40, 73, 2), "memory");
  EXPECT_EQ(LimiterText(70, 62, 2), "balanced");
  EXPECT_EQ(LimiterText(48, 59, 2), "latency");
  EXPECT_EQ(LimiterText(48, 59, 0.4), "small grid");
  EXPECT_EQ(LimiterOf(MeasureCounts({{"launch__waves_per_multiprocessor", 2}})), std::nullopt);
}

TEST(Limiters, TheSpeedOfLightIsTheNearerPeak) {
  MeasuredKernel kernel;
  const auto set = [&](Percentage which, std::optional<double> percent) {
    kernel.percent[static_cast<size_t>(which)] = percent;
  };
  EXPECT_FALSE(ShareOfPeak(kernel).has_value());
  set(Percentage::kCompute, 60);
  EXPECT_FALSE(ShareOfPeak(kernel).has_value());
  set(Percentage::kMemory, 30);
  EXPECT_EQ(ShareOfPeak(kernel), 0.6);
  set(Percentage::kMemory, 104);  // tools round, and sample
  EXPECT_EQ(ShareOfPeak(kernel), 1.0);
  set(Percentage::kCompute, -1);
  set(Percentage::kMemory, -1);
  EXPECT_EQ(ShareOfPeak(kernel), 0.0);
}

TEST(Limiters, OccupancyIsLimitedByTheSmallest) {
  EXPECT_EQ(OccupancyLimit(MeasureCounts({{"launch__occupancy_limit_blocks", 32},
                                          {"launch__occupancy_limit_registers", 5},
                                          {"launch__occupancy_limit_barriers", 0},
                                          {"launch__occupancy_limit_warps", 8}})),
            "registers");
  EXPECT_EQ(OccupancyLimit(MeasureCounts({{"launch__occupancy_limit_blocks", 0}})), "");
}

}  // namespace
}  // namespace borescope::internal
