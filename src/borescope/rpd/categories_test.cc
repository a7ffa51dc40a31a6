#include "borescope/rpd/categories.h"

#include <gtest/gtest.h>

#include <limits>

namespace borescope::internal {
namespace {

TEST(RpdCategory, ReadsBackWhatItWrote) {
  for (const HostKind kind : {HostKind::kPython, HostKind::kAnnotation, HostKind::kOp,
                              HostKind::kRuntime, HostKind::kOther}) {
    EXPECT_EQ(ParseRpdCategory(TextOf({kind})), RpdCategory{kind});
  }
  for (const int64_t thread :
       {int64_t{0}, int64_t{1}, int64_t{-3}, std::numeric_limits<int64_t>::max()}) {
    const RpdCategory category{HostKind::kOp, thread};
    EXPECT_EQ(ParseRpdCategory(TextOf(category)), category) << thread;
  }
}

TEST(RpdCategory, SaysWhatKinetoSays) {
  EXPECT_EQ(TextOf({HostKind::kOp}), "cpu_op");
  EXPECT_EQ(TextOf({HostKind::kOp, 1}), "cpu_op, fwd_thread = 1");
  EXPECT_EQ(TextOf({HostKind::kAnnotation, 1}), "user_annotation");
}

TEST(RpdCategory, TakesNoOther) {
  EXPECT_EQ(ParseRpdCategory(""), std::nullopt);
  EXPECT_EQ(ParseRpdCategory("hip"), std::nullopt);
  EXPECT_EQ(ParseRpdCategory("cpu_op "), std::nullopt);
  EXPECT_EQ(ParseRpdCategory("cpu_op, fwd_thread = x"), (RpdCategory{HostKind::kOp, kMissing}));
}

}  // namespace
}  // namespace borescope::internal
