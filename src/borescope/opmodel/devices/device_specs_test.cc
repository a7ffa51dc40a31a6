#include "borescope/opmodel/devices/device_specs.h"

#include <gtest/gtest.h>

#include <set>

namespace borescope::internal {
namespace {

struct Case {
  std::string name;
  int64_t multiprocessors;
  int64_t bytes;
  std::string_view row;  // empty: unknown
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class DeviceNameTest : public testing::TestWithParam<Case> {};

TEST_P(DeviceNameTest, IsRecognised) {
  DeviceInfo device;
  device.name = GetParam().name;
  device.multiprocessors = GetParam().multiprocessors;
  device.total_bytes = GetParam().bytes;
  const std::optional<DeviceSpec> spec = FindDeviceSpec(device);
  EXPECT_EQ(spec.has_value() ? spec->name : "", GetParam().row);
}

const Case kDevices[] = {
    // As recorded in real traces.
    {"NVIDIA A100-PG509-200", 108, 42297524224, "A100 40GB"},
    {"NVIDIA H100 80GB HBM3", 132, 85018279936, "H100 SXM5"},
    {"AMD Instinct MI300X", 304, 206141652992, "MI300X"},
    {"AMD Radeon Graphics", 104, 68702699520, "MI250 GCD"},
    {"Tesla V100-SXM2-32GB", 80, 34079637504, "V100 SXM2"},
    // Forms of one name.
    {"Tesla P100-SXM2-16GB", 56, 17071734784, "P100 SXM2"},
    {"Tesla V100-PCIE-16GB", 80, 16945512448, "V100 PCIe"},
    {"Tesla T4", 40, 15843721216, "T4"},
    {"NVIDIA A10", 72, kMissing, "A10"},
    {"NVIDIA A10G", 80, kMissing, "A10G"},
    {"NVIDIA A100-SXM4-80GB", 108, 85031714816, "A100 80GB SXM4"},
    {"NVIDIA A100 80GB PCIe", 108, 85051375616, "A100 80GB PCIe"},
    {"NVIDIA A100-SXM4-40GB", kMissing, kMissing, "A100 40GB"},
    {"NVIDIA H100 PCIe", 114, 85028896768, "H100 PCIe"},
    {"NVIDIA H100 NVL", 132, 99000000000, "H100 NVL"},
    {"NVIDIA H200", 132, 150000000000, "H200 SXM"},
    {"NVIDIA H200 NVL", 132, 150000000000, "H200 NVL"},
    {"NVIDIA GH200 480GB", 132, 101000000000, "GH200 96GB"},
    {"NVIDIA GeForce RTX 4090", 128, kMissing, "RTX 4090"},
    {"NVIDIA RTX A6000", 84, kMissing, "RTX A6000"},
    {"NVIDIA RTX 6000 Ada Generation", 142, kMissing, "RTX 6000 Ada"},
    {"NVIDIA L40S", 142, kMissing, "L40S"},
    {"NVIDIA GB200", 152, kMissing, "GB200"},
    {"AMD Instinct MI250X / MI250", 110, 68702699520, "MI250X GCD"},
    {"gfx942:sramecc+:xnack-", 304, 206141652992, "MI300X"},
    {"gfx942", 304, 274000000000, "MI325X"},
    {"AMD Instinct MI355X", 256, kMissing, "MI355X"},
    // Never a guess.
    {"", kMissing, kMissing, ""},
    {"", 132, 85018279936, ""},
    {"NVIDIA A100-SXM4-40GB MIG 1g.5gb", 14, 5100273664, ""},
    {"NVIDIA A100", kMissing, kMissing, ""},
    {"NVIDIA H100", kMissing, 85018279936, ""},
    {"NVIDIA GeForce RTX 4090 D", 114, kMissing, ""},
    {"NVIDIA GeForce RTX 4090 Laptop GPU", 76, kMissing, ""},
    {"AMD Instinct MI250X / MI250", kMissing, kMissing, ""},
    {"gfx950", 256, 309000000000, ""},
    {"AMD Radeon Graphics", 304, kMissing, ""},
    {"Intel(R) Data Center GPU Max 1550", 448, kMissing, ""},
};
INSTANTIATE_TEST_SUITE_P(Devices, DeviceNameTest, testing::ValuesIn(kDevices));

TEST(DeviceSpecTest, RowsAreNamedOnceSourcedAndFound) {
  std::set<std::string_view> names;
  for (const std::span<const DevicePeaksRow> rows : {NvidiaDeviceRows(), AmdDeviceRows()}) {
    for (const DevicePeaksRow& row : rows) {
      EXPECT_TRUE(names.insert(row.name).second) << row.name;
      EXPECT_NE(row.source.find("20"), std::string_view::npos) << row.name;
      EXPECT_EQ(FindDeviceSpec(row.name)->name, row.name);
    }
  }
  for (const DeviceMatch& match : DeviceMatches()) {
    EXPECT_TRUE(names.contains(match.row)) << match.row;
  }
}

TEST(DeviceSpecTest, PeaksAreDenseAndWhatIsNotPublishedIsMissing) {
  const DeviceSpec h100 = *FindDeviceSpec("H100 SXM5");
  EXPECT_EQ(h100.peak.At(Peak::kBf16Matrix), 989.4);
  EXPECT_EQ(h100.peak.At(Peak::kTf32Matrix), 494.7);
  EXPECT_EQ(h100.peak.At(Peak::kFp4Matrix), std::nullopt);
  EXPECT_EQ(h100.peak.memory_gbps, 3350);
  EXPECT_EQ(h100.sparsity, 2);
  EXPECT_EQ(FindDeviceSpec("V100 SXM2")->peak.At(Peak::kBf16Matrix), std::nullopt);
  EXPECT_EQ(FindDeviceSpec("l4")->peak.memory_gbps, 300);
}

TEST(DeviceSpecTest, TwoDiesAreOneModule) {
  const DeviceSpec die = *FindDeviceSpec("MI250X GCD");
  const DeviceSpec module = *FindDeviceSpec("MI250X");
  EXPECT_EQ(*die.peak.At(Peak::kBf16Matrix) * 2, *module.peak.At(Peak::kBf16Matrix));
  EXPECT_EQ(*die.peak.memory_gbps * 2, *module.peak.memory_gbps);
}

TEST(DeviceSpecTest, FormatsNameTheirPeak) {
  EXPECT_EQ(MatrixPeakOf("bf16"), Peak::kBf16Matrix);
  EXPECT_EQ(MatrixPeakOf("tf32"), Peak::kTf32Matrix);
  EXPECT_EQ(MatrixPeakOf("mx"), std::nullopt);
  EXPECT_EQ(VectorPeakOf("fp32"), Peak::kFp32);
  EXPECT_EQ(VectorPeakOf("tf32"), std::nullopt);
}

TEST(DeviceSpecFileTest, ReadsPeaksAndMeasuredCeilings) {
  const Result<DeviceSpec> spec = ParseDeviceSpec(
      R"({"name": "ours", "tflops": {"bf16_matrix": 1307.4, "fp32": 163}, "memory_gbps": 5300,
          "memory_gb": 192, "sparsity": 2,
          "measured": {"tflops": {"bf16_matrix": 708}, "memory_gbps": 4100}})",
      "spec.json");
  ASSERT_TRUE(spec.ok()) << spec.error().Sentence();
  EXPECT_EQ(spec->name, "ours");
  EXPECT_EQ(spec->source, "spec.json");
  EXPECT_EQ(spec->peak.At(Peak::kBf16Matrix), 1307.4);
  EXPECT_EQ(spec->peak.At(Peak::kFp32), 163);
  EXPECT_EQ(spec->peak.At(Peak::kFp64), std::nullopt);
  EXPECT_EQ(spec->measured.At(Peak::kBf16Matrix), 708);
  EXPECT_EQ(spec->measured.memory_gbps, 4100);
}

std::string ErrorOf(std::string_view json) {
  const Result<DeviceSpec> spec = ParseDeviceSpec(json, "spec.json");
  return spec.ok() ? "" : spec.error().Sentence();
}

TEST(DeviceSpecFileTest, ErrorsSayWhatIsWrong) {
  EXPECT_EQ(ErrorOf("[]"), "spec.json: not a JSON object with the peaks of a device");
  EXPECT_EQ(ErrorOf("{"), "spec.json: not a JSON object with the peaks of a device");
  EXPECT_EQ(ErrorOf("{}"), "spec.json: the key \"name\" is missing; give the device a name");
  EXPECT_EQ(ErrorOf(R"({"name": 3})"), "spec.json: \"name\" must be a text");
  EXPECT_EQ(ErrorOf(R"({"name": "x", "memory_gbps": -1})"),
            "spec.json: \"memory_gbps\" must be a number above 0");
  EXPECT_EQ(ErrorOf(R"({"name": "x", "tflops": 3})"), "spec.json: \"tflops\" must be an object");
  EXPECT_EQ(ErrorOf(R"({"name": "x", "measured": {"name": "y"}})"),
            "spec.json: unknown key \"name\"; use one of tflops, memory_gbps");
  EXPECT_NE(ErrorOf(R"({"name": "x", "tflops": {"bf17": 3}})").find("unknown key \"bf17\""),
            std::string::npos);
}

}  // namespace
}  // namespace borescope::internal
