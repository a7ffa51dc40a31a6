#include "borescope/opmodel/op_costs.h"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

#include "borescope/trace/testing/trace_maker.h"

namespace borescope {
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

TEST(OpCostsTest, WithoutArgumentsThereIsNoCost) {
  TraceMaker maker;
  maker.Host(HostKind::kOp, "aten::mm", 1, {0, 1});
  maker.Host(HostKind::kRuntime, "aten::mm", 1, {5, 1});
  const Trace trace = std::move(maker).Finish();
  OpCosts costs(trace);
  EXPECT_EQ(costs.Of(HostId{0}).status, CostStatus::kMissingShapes);
  EXPECT_EQ(costs.Of(HostId{1}).status, CostStatus::kUnknownOp);
}

}  // namespace
}  // namespace borescope
