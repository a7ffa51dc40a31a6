#include "borescope/table/display/view.h"

#include <gtest/gtest.h>

namespace borescope::internal {

namespace {

TEST(UnitAndRoleNames, EveryUnitHasItsName) {
  EXPECT_EQ(UnitName(Unit::kNone), "");
  EXPECT_EQ(UnitName(Unit::kNanoseconds), "ns");
  EXPECT_EQ(UnitName(Unit::kGigabytesPerSecond), "GB/s");
  EXPECT_EQ(UnitName(Unit::kPercent), "percent");
  EXPECT_EQ(UnitName(Unit::kOfRow), "row");
}

TEST(UnitAndRoleNames, EveryRoleHasItsName) {
  EXPECT_EQ(RoleName(Role::kKey), "key");
  EXPECT_EQ(RoleName(Role::kSum), "sum");
  EXPECT_EQ(RoleName(Role::kMin), "min");
  EXPECT_EQ(RoleName(Role::kMax), "max");
  EXPECT_EQ(RoleName(Role::kDerived), "derived");
}

TEST(UnitAndRoleNames, EveryNameIsFoundAgain) {
  for (int i = 0; i <= static_cast<int>(Unit::kOfRow); ++i) {
    EXPECT_EQ(FindUnit(UnitName(static_cast<Unit>(i))), static_cast<Unit>(i));
  }
  for (int i = 0; i <= static_cast<int>(Role::kDerived); ++i) {
    EXPECT_EQ(FindRole(RoleName(static_cast<Role>(i))), static_cast<Role>(i));
  }
  EXPECT_EQ(FindUnit("parsec"), std::nullopt);
  EXPECT_EQ(FindRole(""), std::nullopt);
}

}  // namespace

}  // namespace borescope::internal
