// Real traces of third parties against numbers of the notes on their format (kineto_format.md of
// the samples, 14.3 to 14.5) that the table of expected numbers does not hold.

#include "tests/oracle/samples.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <optional>
#include <tuple>

namespace borescope::internal {
namespace {

using testkit::ForEachWork;
using testkit::LoadSample;
using testkit::Sample;
using testkit::SamplePath;
using testkit::SamplesFolder;

// The sample, or nothing where it is not installed.
std::optional<Sample> FindSample(const std::string& file) {
  if (!std::filesystem::exists(SamplePath(file))) {
    return std::nullopt;
  }
  return LoadSample(file);
}

struct Attribution {
  int64_t linked = 0;
  int64_t without_op = 0;
  std::map<std::string, int64_t> time_ns;  // of device work, by operator
};

Attribution AttributionOf(const Sample& sample) {
  Attribution result;
  ForEachWork(sample.trace, [&](DeviceId id) {
    const HostId op = sample.index.correlation.op_of[id.value];
    ++(op.valid() ? result.linked : result.without_op);
    if (op.valid()) {
      result.time_ns[std::string(sample.trace.Name(op))] += sample.trace.device().dur_ns[id.value];
    }
  });
  return result;
}

struct AttributionCase {
  const char* file;
  int64_t linked;
  int64_t without_op;
};

class OperatorsOfOldFilesTest : public testing::TestWithParam<AttributionCase> {};

TEST_P(OperatorsOfOldFilesTest, AreFoundByNesting) {
  const std::optional<Sample> sample = FindSample(GetParam().file);
  if (!sample.has_value()) {
    GTEST_SKIP() << "no sample " << GetParam().file;
  }
  const Attribution attribution = AttributionOf(*sample);
  EXPECT_EQ(attribution.linked, GetParam().linked);
  EXPECT_EQ(attribution.without_op, GetParam().without_op);
}

INSTANTIATE_TEST_SUITE_P(
    Samples, OperatorsOfOldFilesTest,
    testing::Values(AttributionCase{"kineto/simple_add.json.gz", 98, 0},
                    AttributionCase{"kineto/two_ranks/rank-0.json.gz", 1188, 16},
                    AttributionCase{"kineto/two_ranks/rank-1.json.gz", 1138, 16},
                    AttributionCase{"kineto/cuda_event_sync.json.gz", 4, 1},
                    AttributionCase{"kineto/dlrm8/rank-0.json.gz", 261, 0},
                    AttributionCase{"kineto/dlrm8/rank-1.json.gz", 262, 64},
                    AttributionCase{"kineto/dlrm8/rank-3.json.gz", 273, 64}),
    [](const auto& test) { return "Case" + std::to_string(test.index); });

TEST(SampleNumbersTest, TimeOfTheCopyOperator) {
  const std::optional<Sample> sample = FindSample("kineto/simple_add.json.gz");
  if (!sample.has_value()) {
    GTEST_SKIP() << "no samples in " << SamplesFolder();
  }
  EXPECT_EQ(AttributionOf(*sample).time_ns.at("aten::copy_"), 39'080'000);
}

TEST(SampleNumbersTest, AllocatorEvents) {
  const std::optional<Sample> sample = FindSample("kineto/h100_bert_small.json.gz");
  if (!sample.has_value()) {
    GTEST_SKIP() << "no samples in " << SamplesFolder();
  }
  const MemoryEvents& memory = sample->trace.memory();
  int64_t on_device = 0;
  int64_t allocated = 0;
  int64_t freed = 0;
  int64_t peak_allocated = 0;
  int64_t peak_reserved = 0;
  for (uint32_t row = 0; row < memory.size(); ++row) {
    if (memory.device_type[row] != 0) {
      ++on_device;
      (memory.bytes[row] > 0 ? allocated : freed) += memory.bytes[row];
      peak_allocated = std::max(peak_allocated, memory.total_allocated[row]);
      peak_reserved = std::max(peak_reserved, memory.total_reserved[row]);
    }
  }
  EXPECT_EQ(memory.size(), 236U);
  EXPECT_EQ(on_device, 218);
  EXPECT_EQ(allocated, 47'460'864);
  EXPECT_EQ(freed, -allocated);
  EXPECT_EQ(peak_allocated, 101'305'344);
  EXPECT_EQ(peak_reserved, 121'634'816);
  EXPECT_TRUE(std::is_sorted(memory.ts_ns.begin(), memory.ts_ns.end()));
}

// (collective, dtype, group size) -> kernels, time, elements in.
using CollectiveKey = std::tuple<std::string, std::string, int64_t>;
using CollectiveSums = std::map<CollectiveKey, std::array<int64_t, 3>>;

CollectiveSums CollectiveKernels(const Trace& trace) {
  CollectiveSums sums;
  const Collectives& rows = trace.collectives();
  ForEachWork(trace, [&](DeviceId id) {
    const uint32_t detail = trace.device().detail[id.value];
    if (trace.device().kind[id.value] != DeviceKind::kKernel ||
        trace.kernels().collective[detail] == kNoDetail) {
      return;
    }
    const uint32_t row = trace.kernels().collective[detail];
    auto& [kernels, time_ns, elements] =
        sums[{std::string(trace.Text(rows.collective[row])),
              std::string(trace.Text(rows.dtype[row])), rows.group_size[row]}];
    ++kernels;
    time_ns += trace.device().dur_ns[id.value];
    elements += rows.in_elems[row];
  });
  return sums;
}

TEST(SampleNumbersTest, Collectives) {
  const std::optional<Sample> sample = FindSample("kineto/nccl_two_gpu.json.gz");
  if (!sample.has_value()) {
    GTEST_SKIP() << "no samples in " << SamplesFolder();
  }
  const CollectiveSums want = {{{"allreduce", "Float", 2}, {15, 46'762'159, 76'671'096}},
                               {{"broadcast", "Float", 2}, {3, 91'007, 159'360}},
                               {{"broadcast", "Long", 2}, {3, 23'327, 159}}};
  EXPECT_EQ(CollectiveKernels(sample->trace), want);
  int64_t by_class = 0;
  int64_t time_ns = 0;
  ForEachWork(sample->trace, [&](DeviceId id) {
    if (sample->index.ClassOf(sample->trace, id) == KernelClass::kCollective) {
      ++by_class;
      time_ns += sample->trace.device().dur_ns[id.value];
    }
  });
  EXPECT_EQ(by_class, 21);
  EXPECT_EQ(time_ns, 46'876'493);
}

}  // namespace
}  // namespace borescope::internal
