#include "borescope/engine/answer_shape.h"

#include <gtest/gtest.h>

#include "borescope/catalog/catalog.h"
#include "borescope/engine/analyse_bytes.h"

namespace borescope::internal {

namespace {

// An analysis whose options name what is recorded has to say so (ParamSpec::names_events).
TEST(TableShapes, EveryAnalysisMapsATraceWithoutEvents) {
  for (const AnalysisSpec* spec : Analyses()) {
    for (const Params& params : AllModes(*spec)) {
      const Result<Tables> shape = ShapeOf(*spec, params);
      ASSERT_TRUE(shape.ok()) << spec->name << ": " << shape.error().Sentence();
      EXPECT_EQ(MismatchOf(*shape, *shape, false), "");
    }
  }
}

TEST(TableShapes, WhatDiffersIsNamed) {
  const Tables shape = ShapeOf(*FindAnalysis("kernels"), {}).value();
  const auto mismatch = [&](const auto& change) {
    Tables tables = shape;
    change(tables);
    return MismatchOf(tables, shape, false);
  };
  EXPECT_EQ(mismatch([](Tables& tables) { tables.pop_back(); }),
            "it has 1 tables, and should have 2");
  EXPECT_EQ(mismatch([](Tables& tables) { tables[0].name = "x"; }),
            "a table \"x\" stands where \"kernels\" should");
  EXPECT_EQ(mismatch([](Tables& tables) { tables[0].columns.pop_back(); }),
            "table \"kernels\" has no column \"" + shape[0].columns.back().name + "\" of its kind");
  EXPECT_EQ(mismatch([](Tables& tables) { tables[0].Find("name")->role = Role::kSum; }),
            "table \"kernels\" has no column \"name\" of its kind");
  EXPECT_EQ(
      mismatch([](Tables& tables) { AddFloat(tables[0], "x", Unit::kNone, Role::kDerived, ""); }),
      "table \"kernels\" has a column \"x\" too many");
}

TEST(TableShapes, CountersMayFollow) {
  const Tables shape = ShapeOf(*FindAnalysis("counters"), {}).value();
  Tables tables = shape;
  AddFloat(tables.back(), "sm__cycles.max", Unit::kCount, Role::kDerived, "");
  EXPECT_EQ(MismatchOf(tables, shape, true), "");
  AddInt(tables.back(), "other", Unit::kCount, Role::kDerived, "");
  EXPECT_NE(MismatchOf(tables, shape, true), "");
}

}  // namespace

}  // namespace borescope::internal
