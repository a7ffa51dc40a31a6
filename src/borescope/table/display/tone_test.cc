#include "borescope/table/display/tone.h"

#include <gtest/gtest.h>

namespace borescope::internal {
namespace {

TEST(Tone, EveryOneThatAColumnCanHaveIsFoundByItsName) {
  for (int i = 0; i < static_cast<int>(Tone::kInk); ++i) {
    EXPECT_EQ(FindTone(ToneName(static_cast<Tone>(i))), static_cast<Tone>(i));
  }
  EXPECT_EQ(FindTone(ToneName(Tone::kInk)), std::nullopt);
  EXPECT_EQ(FindTone(""), std::nullopt);
}

}  // namespace
}  // namespace borescope::internal
