#include "borescope/opmodel/op_costs.h"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

#include "borescope/testing/trace_maker.h"

namespace borescope::internal {
namespace {

using testkit::TraceMaker;

void Call(TraceMaker& maker, std::string_view name, int64_t ts_ns, std::string_view dims,
          std::string_view types) {
  maker.Op(name, 1, {ts_ns, 1});
  Ops& ops = maker.part().data.ops;
  ops.input_dims.back() = maker.part().Intern(dims);
  ops.input_types.back() = maker.part().Intern(types);
}

TEST(OpCostsTest, EqualCallsHaveOneCost) {
  TraceMaker maker;
  constexpr std::string_view kTypes = R"(["float", "float"])";
  Call(maker, "aten::mm", 0, "[[2, 3], [3, 4]]", kTypes);
  Call(maker, "aten::mm", 5, "[[2, 3], [3, 4]]", kTypes);
  Call(maker, "aten::mm", 9, "[[2, 3], [3, 5]]", kTypes);
  Call(maker, "my::op", 12, "[[2, 3], [3, 5]]", kTypes);
  const Trace trace = std::move(maker).Finish();
  OpCosts costs(trace);
  EXPECT_EQ(&costs.Of(HostId{0}), &costs.Of(HostId{1}));
  EXPECT_EQ(costs.Of(HostId{0}).matrix_flops, 48U);
  EXPECT_EQ(costs.Of(HostId{2}).matrix_flops, 60U);
  EXPECT_EQ(costs.Of(HostId{3}).status, CostStatus::kUnknownOp);
  EXPECT_EQ(costs.ModelOf(HostId{3}), nullptr);
  EXPECT_EQ(costs.ModelOf(HostId{0}), FindOpModel("aten::mm"));
}

TEST(OpCostsTest, CallsInTurnKeepTheirOwnCosts) {
  TraceMaker maker;
  constexpr std::string_view kTypes = R"(["float", "float"])";
  Call(maker, "aten::mm", 0, "[[2, 3], [3, 4]]", kTypes);
  Call(maker, "aten::mm", 5, "[[2, 3], [3, 5]]", kTypes);
  Call(maker, "aten::cat", 9, "[[[2, 3], [2, 3]], []]", R"(["TensorList", "Scalar"])");
  const Trace trace = std::move(maker).Finish();
  OpCosts costs(trace);
  const OpCost* const first = &costs.Of(HostId{0});
  EXPECT_EQ(costs.Of(HostId{1}).matrix_flops, 60U);
  EXPECT_EQ(&costs.Of(HostId{0}), first);
  const uint64_t bytes = costs.Of(HostId{2}, ScalarType::kFloat16).bytes();
  EXPECT_GT(bytes, 0U);
  EXPECT_EQ(costs.Of(HostId{2}, ScalarType::kFloat32).bytes(), 2 * bytes);
  EXPECT_EQ(costs.Of(HostId{2}, ScalarType::kFloat16).bytes(), bytes);
}

TEST(OpCostsTest, WithoutArgumentsThereIsNoCost) {
  TraceMaker maker;
  maker.Host(HostKind::kOp, "aten::mm", 1, {0, 1});
  maker.Host(HostKind::kRuntime, "aten::mm", 1, {5, 1});
  const Trace trace = std::move(maker).Finish();
  OpCosts costs(trace);
  EXPECT_EQ(costs.Of(HostId{0}).status, CostStatus::kMissingShapes);
  EXPECT_EQ(costs.Of(HostId{1}).status, CostStatus::kUnknownOp);
}

// Bytes and FLOPs of a launch of a generated kernel with one tensor of 400 bytes.
OpCost RecordedCost(int64_t bytes, int64_t flops) {
  TraceMaker maker;
  Call(maker, "triton_poi_fused_index_add_0", 0, "[[10, 10]]", R"(["float"])");
  TracePart& part = maker.part();
  part.data.ops.triton.back() = 0;
  part.data.triton.backend.push_back(part.Intern("triton"));
  part.data.triton.kernel_file.push_back(part.Intern("a.py"));
  part.data.triton.bytes.push_back(bytes);
  part.data.triton.flops.push_back(flops);
  const Trace trace = std::move(maker).Finish();
  return OpCosts(trace).Of(HostId{0});
}

TEST(OpCostsTest, RecordedWorkOfAGeneratedKernelWins) {
  EXPECT_EQ(RecordedCost(kMissing, kMissing).status,
            CostStatus::kDependsOnData);  // parts of buffers
  EXPECT_EQ(RecordedCost(120, kMissing).status, CostStatus::kBytesOnly);
  EXPECT_EQ(RecordedCost(120, 0).status, CostStatus::kBytesOnly);
  EXPECT_EQ(RecordedCost(120, kMissing).bytes(), 120U);
  EXPECT_EQ(RecordedCost(int64_t{1} << 40, 70).bytes(), uint64_t{1} << 40);
  EXPECT_EQ(RecordedCost(120, 70).main_flops(), 70U);
  EXPECT_EQ(RecordedCost(120, 70).status, CostStatus::kOk);
}

TEST(OpCostsTest, SizesOfACollectiveStandBesideItsArguments) {
  TraceMaker maker;
  Call(maker, "record_param_comms", 0, "[[]]", R"(["TensorList"])");
  Call(maker, "record_param_comms", 5, "[[]]", R"(["TensorList"])");
  TracePart& part = maker.part();
  part.data.ops.collective.front() = 0;
  Collectives& sizes = part.data.collectives;
  sizes.collective.push_back(part.Intern("_allgather_base"));
  sizes.dtype.push_back(part.Intern("BFloat16"));
  sizes.group.emplace_back();
  sizes.group_desc.emplace_back();
  sizes.ranks.emplace_back();
  sizes.in_elems.push_back(1000);
  sizes.out_elems.push_back(8000);
  sizes.group_size.push_back(8);
  sizes.sequence.push_back(kMissing);
  const Trace trace = std::move(maker).Finish();
  OpCosts costs(trace);
  const OpCost& cost = costs.Of(HostId{0});
  EXPECT_EQ(cost.status, CostStatus::kOk);
  EXPECT_EQ(cost.read_bytes, 2000U);
  EXPECT_EQ(cost.written_bytes, 16000U);
  EXPECT_EQ(cost.flops(), 0U);
  EXPECT_EQ(costs.Of(HostId{1}).status, CostStatus::kMissingShapes);
}

}  // namespace
}  // namespace borescope::internal
