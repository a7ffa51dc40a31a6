// Identity of real traces of third parties, where they are installed: constants of their own give
// them back, and where not, the verdict says so. The figures were recorded from the first build and
// reviewed; docs/how-it-works/whatif.md has them.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>

#include "borescope/analysis/measures/replay/replay_model.h"
#include "tests/oracle/samples.h"

namespace borescope::internal {
namespace {

using testkit::LoadSample;
using testkit::SamplePath;

struct IdentityRow {
  const char* file;
  double identity;  // percent
  ReplayVerdict verdict;
};
constexpr IdentityRow kIdentities[] = {
    {"kineto/v100_resnet_steps.json.gz", -0.04, ReplayVerdict::kGood},
    {"kineto/dlrm8/rank-0.json.gz", -0.08, ReplayVerdict::kGood},
    {"kineto/dlrm8/rank-1.json.gz", -0.08, ReplayVerdict::kGood},
    {"kineto/dlrm8/rank-2.json.gz", -0.09, ReplayVerdict::kGood},
    {"kineto/dlrm8/rank-3.json.gz", -0.06, ReplayVerdict::kGood},
    {"kineto/dlrm8/rank-4.json.gz", -0.02, ReplayVerdict::kGood},
    {"kineto/dlrm8/rank-5.json.gz", -0.11, ReplayVerdict::kGood},
    {"kineto/dlrm8/rank-6.json.gz", -0.05, ReplayVerdict::kGood},
    {"kineto/dlrm8/rank-7.json.gz", -0.03, ReplayVerdict::kGood},
    {"kineto/mi250_minitoy.json.gz", -0.13, ReplayVerdict::kGood},
    {"nsys/a100_cloverleaf_osrt.sqlite", 0.36, ReplayVerdict::kGood},
    {"kineto/two_ranks/rank-0.json.gz", 0.01, ReplayVerdict::kUntested},
    {"kineto/two_ranks/rank-1.json.gz", 0.01, ReplayVerdict::kUntested},
    {"kineto/nccl_two_gpu.json.gz", 0.00, ReplayVerdict::kUntested},
    {"kineto/b200_eager.json.gz", 0.00, ReplayVerdict::kUntested},
    {"kineto/mi300_normalization.json.gz", 0.00, ReplayVerdict::kUntested},
    {"kineto/mi300_torch_compile.json.gz", -0.08, ReplayVerdict::kGood},
    {"kineto/h100_bert_small.json.gz", -0.01, ReplayVerdict::kUntested},
    {"kineto/mi300_resnet_checkpoint.json.gz", 0.96, ReplayVerdict::kRough},
    {"kineto/compare/base.json.gz", -0.04, ReplayVerdict::kRefused},
    {"kineto/compare/test.json.gz", 0.00, ReplayVerdict::kRefused},
    {"rpd/matmul_result.rpd", -5.65, ReplayVerdict::kRefused},
};

TEST(WhatIfSamples, ConstantsGiveRecordingsBack) {
  int found = 0;
  for (const IdentityRow& row : kIdentities) {
    if (!std::filesystem::exists(SamplePath(row.file))) {
      continue;
    }
    ++found;
    const testkit::Sample sample = LoadSample(row.file);
    const ReplayModel model = MakeReplayModel({0, sample.trace, sample.index}, "");
    const ReplayQuality& quality = model.quality;
    EXPECT_EQ(quality.exact_ns, 0) << row.file;
    EXPECT_NEAR(100 * quality.identity(), row.identity, 0.05) << row.file;
    EXPECT_EQ(quality.verdict, row.verdict) << row.file << ": " << CauseOf(sample.trace, quality);
    // What cannot be vouched for says why.
    EXPECT_EQ(CauseOf(sample.trace, quality).empty(), quality.verdict == ReplayVerdict::kGood)
        << row.file;
  }
  if (found == 0) {
    GTEST_SKIP() << "the sample traces are not installed";
  }
}

}  // namespace
}  // namespace borescope::internal
