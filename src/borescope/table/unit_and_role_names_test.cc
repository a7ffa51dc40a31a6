#include "borescope/table/unit_and_role_names.h"

#include <gtest/gtest.h>

namespace borescope::internal {
namespace {

TEST(UnitAndRoleNames, EveryUnitHasItsName) {
  EXPECT_EQ(UnitName(Unit::kNone), "");
  EXPECT_EQ(UnitName(Unit::kNanoseconds), "ns");
  EXPECT_EQ(UnitName(Unit::kGigabytesPerSecond), "GB/s");
  EXPECT_EQ(UnitName(Unit::kPercent), "percent");
  EXPECT_EQ(UnitName(Unit::kOfRow), "");
}

TEST(UnitAndRoleNames, EveryRoleHasItsName) {
  EXPECT_EQ(RoleName(Role::kKey), "key");
  EXPECT_EQ(RoleName(Role::kSum), "sum");
  EXPECT_EQ(RoleName(Role::kMin), "min");
  EXPECT_EQ(RoleName(Role::kMax), "max");
  EXPECT_EQ(RoleName(Role::kDerived), "derived");
}

}  // namespace
}  // namespace borescope::internal
