// FLOPs of real traces against those of the notes on PyTorch's own counter (inductor.md of the
// samples, 15.3), which a script of its own computed from the shapes.

#include <gtest/gtest.h>

#include <string_view>

#include "borescope/opmodel/op_costs.h"
#include "tests/oracle/samples.h"

namespace borescope::internal {
namespace {

using testkit::LoadSample;
using testkit::Sample;
using testkit::SamplePath;

struct FlopsCase {
  const char* file;
  const char* op;
  uint64_t calls;
  uint64_t matrix_flops;
};

class FlopsOfSamplesTest : public testing::TestWithParam<FlopsCase> {};

TEST_P(FlopsOfSamplesTest, AreThoseOfTheNotes) {
  const FlopsCase& expected = GetParam();
  if (!std::filesystem::exists(SamplePath(expected.file))) {
    GTEST_SKIP() << "no sample " << expected.file;
  }
  const Sample sample = LoadSample(expected.file);
  OpCosts costs(sample.trace, {.causal = CausalMode::kFull});
  uint64_t calls = 0;
  uint64_t flops = 0;
  for (uint32_t row = 0; row < sample.trace.host().size(); ++row) {
    const HostId id{row};
    if (sample.trace.host().kind[row] == HostKind::kOp && sample.trace.Name(id) == expected.op) {
      EXPECT_EQ(costs.Of(id).status, CostStatus::kOk);
      flops += costs.Of(id).matrix_flops;
      ++calls;
    }
  }
  EXPECT_EQ(calls, expected.calls);
  EXPECT_EQ(flops, expected.matrix_flops);
}

INSTANTIATE_TEST_SUITE_P(
    Samples, FlopsOfSamplesTest,
    testing::Values(FlopsCase{"kineto/h100_bert_small.json.gz", "aten::addmm", 26, 8'029'194'240},
                    FlopsCase{"kineto/mi300_torch_compile.json.gz", "aten::mm", 7,
                              4'398'046'511'104},
                    FlopsCase{"kineto/mi300_torch_compile.json.gz",
                              "aten::_flash_attention_forward", 1, 1'099'511'627'776}),
    [](const auto& test) { return "Case" + std::to_string(test.index); });

}  // namespace
}  // namespace borescope::internal
