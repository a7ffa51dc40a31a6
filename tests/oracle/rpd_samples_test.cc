// Two recordings of rocmProfileData, published with it, against the numbers that its own views
// give.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/oracle/samples.h"

namespace borescope::internal {
namespace {

struct Expected {
  std::string file;
  int64_t host_begin, host_end, device_begin, device_end;
  int64_t host_sum, device_sum, kernel_sum, copy_sum, copy_call_sum;
  size_t samples;
  std::vector<int64_t> first_ops;  // start and end of the first three
  int64_t known_bytes;
  uint64_t copies_without_size;
};

const Expected kSmall{
    .file = "rpd/matmul_result.rpd",
    .host_begin = 8306017478773569,
    .host_end = 8306020859003155,
    .device_begin = 8306017670485923,
    .device_end = 8306020634556740,
    .host_sum = 457761358,
    .device_sum = 183918056,
    .kernel_sum = 26399795,
    .copy_sum = 157512821,
    .copy_call_sum = 349178381,
    .samples = 15,
    .first_ops = {8306017670485923, 8306017825375030, 8306017826047669, 8306017828336625,
                  8306020565922417, 8306020592134373},
    .known_bytes = 2000000000 + 32000000 + 296,
    .copies_without_size = 0,
};
const Expected kLarge{
    .file = "rpd/matmul_result_large.rpd",
    .host_begin = 8380679962280341,
    .host_end = 8380685357121477,
    .device_begin = 8380680151359787,
    .device_end = 8380685084479169,
    .host_sum = 2387293560,
    .device_sum = 2110631504,
    .kernel_sum = 532986691,
    .copy_sum = 1577639533,
    .copy_call_sum = 2257003015,
    .samples = 62,
    .first_ops = {8380680151359787, 8380681716796413, 8380681718061267, 8380681729843497,
                  8380684506392296, 8380685039194667},
    .known_bytes = 160000000 + 296,
    .copies_without_size = 1,
};

class RpdSamplesTest : public ::testing::TestWithParam<Expected> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(testkit::SamplePath(GetParam().file))) {
      GTEST_SKIP() << "no samples in " << testkit::SamplesFolder();
    }
    sample_ = testkit::LoadSample(GetParam().file);
  }
  const Trace& trace() const { return sample_.trace; }

  testkit::Sample sample_{Trace(TraceData()), {}};
};

template <class Spine>
int64_t Sum(const Spine& spine) {
  int64_t sum = 0;
  for (const int64_t dur_ns : spine.dur_ns) {
    sum += dur_ns;
  }
  return sum;
}

TEST_P(RpdSamplesTest, RowsAndSpans) {
  const Expected& expected = GetParam();
  const HostEvents& host = trace().host();
  const DeviceEvents& device = trace().device();
  EXPECT_EQ(trace().meta().producer, "rocmProfileData, schema v2");
  EXPECT_EQ(host.size(), 125U);
  EXPECT_EQ(device.size(), 85U);
  EXPECT_EQ(trace().kernels().size(), 29U);
  EXPECT_EQ(trace().copies().size(), 55U);
  EXPECT_EQ(trace().copy_calls().size(), 55U);
  EXPECT_EQ(trace().samples().size(), expected.samples);
  EXPECT_EQ(Sum(host), expected.host_sum);
  EXPECT_EQ(Sum(device), expected.device_sum);
  EXPECT_EQ(*std::min_element(host.ts_ns.begin(), host.ts_ns.end()), expected.host_begin);
  EXPECT_EQ(*std::min_element(device.ts_ns.begin(), device.ts_ns.end()), expected.device_begin);
  int64_t host_end = 0;
  int64_t device_end = 0;
  for (uint32_t row = 0; row < host.size(); ++row) {
    host_end = std::max(host_end, host.end_ns(HostId{row}));
  }
  for (uint32_t row = 0; row < device.size(); ++row) {
    device_end = std::max(device_end, device.end_ns(DeviceId{row}));
  }
  EXPECT_EQ(host_end, expected.host_end);
  EXPECT_EQ(device_end, expected.device_end);
}

TEST_P(RpdSamplesTest, DeviceWork) {
  const Expected& expected = GetParam();
  const DeviceEvents& device = trace().device();
  std::map<DeviceKind, int64_t> sums;
  std::map<std::string_view, int> copies;
  std::map<uint32_t, int64_t> copy_calls;  // by launch: duration of the call
  for (uint32_t row = 0; row < device.size(); ++row) {
    EXPECT_TRUE(sample_.index.correlation.launch_of[row].valid());
    EXPECT_EQ(trace().DeviceOf(DeviceId{row}), 2);
    EXPECT_EQ(trace().StreamOf(DeviceId{row}), 0);
    sums[device.kind[row]] += device.dur_ns[row];
    if (device.kind[row] == DeviceKind::kMemcpy) {
      ++copies[trace().Name(DeviceId{row})];
      const uint32_t launch = sample_.index.correlation.launch_of[row].value;
      copy_calls[launch] = trace().host().dur_ns[launch];
    }
  }
  EXPECT_EQ(sums[DeviceKind::kKernel], expected.kernel_sum);
  EXPECT_EQ(sums[DeviceKind::kMemcpy], expected.copy_sum);
  EXPECT_EQ(copies["CopyDeviceToHost"], 53);
  EXPECT_EQ(copies["CopyHostToDevice"], 2);
  int64_t call_sum = 0;
  for (const auto& [launch, dur_ns] : copy_calls) {
    call_sum += dur_ns;
  }
  EXPECT_EQ(call_sum, expected.copy_call_sum);
  std::vector<int64_t> first;
  for (uint32_t row = 0; row < 3; ++row) {
    first.push_back(device.ts_ns[row]);
    first.push_back(device.end_ns(DeviceId{row}));
  }
  EXPECT_EQ(first, expected.first_ops);
  EXPECT_TRUE(trace().Name(DeviceId{2}).starts_with("Cijk_"));
}

TEST_P(RpdSamplesTest, Copies) {
  int64_t bytes = 0;
  for (const int64_t of_copy : trace().copies().bytes) {
    bytes += of_copy == kMissing ? 0 : of_copy;
  }
  EXPECT_EQ(bytes, GetParam().known_bytes);
  EXPECT_EQ(trace().diagnostics().count(Diag::kUnknownCopySize), GetParam().copies_without_size);
  EXPECT_EQ(trace().diagnostics().count(Diag::kSwappedCopyEnds), 1U);
  const CopyCalls& calls = trace().copy_calls();
  for (uint32_t row = 0; row < calls.size(); ++row) {
    EXPECT_EQ(calls.is_sync[row], 0);
    EXPECT_EQ(calls.width[row], kMissing);
    EXPECT_EQ(trace().Text(calls.stream_handle[row]), "0x0");
  }
}

INSTANTIATE_TEST_SUITE_P(Files, RpdSamplesTest, ::testing::Values(kSmall, kLarge),
                         [](const auto& test) { return test.index == 0 ? "small" : "large"; });

TEST(RpdSampleTest, CopiesGoFromTheHostToWhatWasAllocated) {
  if (!std::filesystem::exists(testkit::SamplePath(kSmall.file))) {
    GTEST_SKIP() << "no samples in " << testkit::SamplesFolder();
  }
  const testkit::Sample sample = testkit::LoadSample(kSmall.file);
  const CopyCalls& calls = sample.trace.copy_calls();
  EXPECT_EQ(sample.trace.Text(calls.source[0]), "0x7f4043dc6040");
  EXPECT_EQ(sample.trace.Text(calls.target[0]), "0x7f3ebca00000");  // of a hipMalloc
  const uint32_t gemm = sample.trace.device().detail[2];
  const Kernels& kernels = sample.trace.kernels();
  EXPECT_EQ(kernels.grid_x[gemm], 1792);
  EXPECT_EQ(kernels.grid_y[gemm], 782);
  EXPECT_EQ(kernels.block_x[gemm], 256);
  EXPECT_EQ(sample.trace.Text(kernels.stream_handle[gemm]), "0x0");
}

}  // namespace
}  // namespace borescope::internal
