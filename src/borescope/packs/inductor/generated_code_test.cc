#include "borescope/packs/inductor/generated_code.h"

#include <gtest/gtest.h>

namespace borescope::internal {
namespace {

TEST(InductorCode, TheCommentsAboveAKernelAndItsMeta) {
  const InductorCode code = ParseInductorCode(
      "# kernel path: /tmp/torchinductor_me/ab/cab.py\n"
      "# Topologically Sorted Source Nodes: [x, relu], Original ATen: [aten.add, aten.relu]\n"
      "# Source node to ATen node mapping:\n"
      "@triton_heuristics.pointwise(inductor_meta={'kernel_num_gb': 0.025, 'grid_type': 'G'})\n");
  EXPECT_EQ(code.original_aten, "aten.add, aten.relu");
  EXPECT_EQ(code.source_nodes, "x, relu");
  EXPECT_EQ(code.gigabytes, 0.025);
}

TEST(InductorCode, OtherTextTellsNothing) {
  for (const std::string_view text :
       {"", "Original ATen: [", "Original ATen: [a\n]", "'kernel_num_gb'", "'kernel_num_gb': None",
        "'kernel_num_gb': -1", "'kernel_num_gb': 1e300"}) {
    const InductorCode code = ParseInductorCode(text);
    EXPECT_EQ(code.original_aten, "");
    EXPECT_EQ(code.source_nodes, "");
    EXPECT_FALSE(code.gigabytes.has_value()) << text;
  }
}

}  // namespace
}  // namespace borescope::internal
