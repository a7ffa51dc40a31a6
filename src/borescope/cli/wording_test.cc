#include "borescope/cli/wording.h"

#include <gtest/gtest.h>

namespace borescope::cli {
namespace {

TEST(Wording, ParametersAreOptions) {
  EXPECT_EQ(WithOptions("give `sort` and `kernel_wait` to reduce"),
            "give --sort and --kernel-wait to reduce");
  EXPECT_EQ(WithOptions("`a b` and `"), "`a b` and `");
  EXPECT_EQ(WithOptions(""), "");
}

TEST(Wording, AnErrorIsOneLine) {
  EXPECT_EQ(Worded({.message = "'x' is no list", .hint = "write 0,3", .parameter = "rank"}),
            "--rank: 'x' is no list; write 0,3");
  EXPECT_EQ(Worded({.message = "bad", .file = "a.json", .offset = 7}), "a.json: byte 7: bad");
}

}  // namespace
}  // namespace borescope::cli
