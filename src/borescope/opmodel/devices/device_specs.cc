#include "borescope/opmodel/devices/device_specs.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "borescope/json/json_cursor.h"

namespace borescope::internal {

// Peaks as the makers publish them, dense. Each row names its source; a data sheet that gives the
// numbers "with sparsity" only is halved. Peaks of matrix units of GeForce cards are those with
// accumulation in 32 bits, which frameworks ask for; with 16 bits the cards are twice as fast.
//
// To add a device: a row here, and one in kMatches with the name its driver reports.

namespace {

// clang-format off
// vector units: fp64, fp32, fp16, bf16; memory: GB/s, GB; gain of sparsity;
// matrix units: fp64, fp32, tf32, fp16, bf16, fp8, fp4, int8
constexpr DevicePeaksRow kNvidiaRows[] = {
    {"P100 SXM2", "NVIDIA Tesla P100 data sheet, 2016",
       5.3,  10.6,  21.2,     0,    732,  16, 1,
         0,     0,     0,      0,      0,      0,       0,      0},
    {"P100 PCIe", "NVIDIA Tesla P100 PCIe data sheet, 2016",
       4.7,   9.3,  18.7,     0,    732,  16, 1,
         0,     0,     0,      0,      0,      0,       0,      0},
    {"V100 SXM2", "NVIDIA V100 data sheet, 2020",
       7.8,  15.7,  31.4,     0,    900,   0, 1,
         0,     0,     0,    125,      0,      0,       0,      0},
    // The data sheet of the DGX-2 gives the matrix peak only.
    {"V100 SXM3", "NVIDIA DGX-2 data sheet, 2018",
         0,     0,     0,     0,      0,  32, 1,
         0,     0,     0,    125,      0,      0,       0,      0},
    {"V100 PCIe", "NVIDIA V100 data sheet, 2020",
         7,    14,    28,     0,    900,   0, 1,
         0,     0,     0,    112,      0,      0,       0,      0},
    {"V100S PCIe", "NVIDIA V100 data sheet, 2020",
       8.2,  16.4,     0,     0,   1134,  32, 1,
         0,     0,     0,    130,      0,      0,       0,      0},
    {"T4", "NVIDIA T4 data sheet and product brief, 2019",
         0,   8.1,     0,     0,    320,  16, 1,
         0,     0,     0,     65,      0,      0,       0,    130},
    {"A10", "NVIDIA A10 data sheet, 2021",
         0,  31.2,     0,     0,    600,  24, 2,
         0,     0,  62.5,    125,    125,      0,       0,    250},
    {"A10G", "NVIDIA A10G data sheet (AWS), 2021",
         0, 31.52,     0,     0,    600,  24, 2,
         0,     0,    35,     70,     70,      0,       0,    140},
    {"A30", "NVIDIA A30 data sheet, 2021",
       5.2,  10.3,     0,     0,    933,  24, 2,
      10.3,     0,    82,    165,    165,      0,       0,    330},
    {"A40", "NVIDIA A40 data sheet, 2020",
         0,  37.4,     0,     0,    696,  48, 2,
         0,     0,  74.8,  149.7,  149.7,      0,       0,  299.3},
    {"A100 40GB", "NVIDIA A100 data sheet, 2020; architecture white paper, 2020",
       9.7,  19.5,    78,    39,   1555,  40, 2,
      19.5,     0,   156,    312,    312,      0,       0,    624},
    {"A100 80GB SXM4", "NVIDIA A100 data sheet, 2021",
       9.7,  19.5,    78,    39,   2039,  80, 2,
      19.5,     0,   156,    312,    312,      0,       0,    624},
    {"A100 80GB PCIe", "NVIDIA A100 data sheet, 2021",
       9.7,  19.5,    78,    39,   1935,  80, 2,
      19.5,     0,   156,    312,    312,      0,       0,    624},
    {"RTX 3090", "NVIDIA Ampere GA102 white paper, 2021",
         0,  35.6,     0,     0,    936,  24, 2,
         0,     0,  35.6,     71,     71,      0,       0,    284},
    {"RTX A6000", "NVIDIA Ampere GA102 white paper, 2021",
         0,  38.7,     0,     0,    768,  48, 2,
         0,     0,  77.4,  154.8,  154.8,      0,       0,  309.7},
    {"RTX 4090", "NVIDIA Ada GPU architecture white paper, 2022",
         0,  82.6,     0,     0,   1008,  24, 2,
         0,     0,  82.6,  165.2,  165.2,  330.3,       0,  660.6},
    {"RTX 6000 Ada", "NVIDIA Ada professional GPU white paper, 2023",
         0,  91.1,     0,     0,    960,  48, 2,
         0,     0, 182.1,  364.2,  364.2,  728.5,       0,  728.5},
    {"RTX 5090", "NVIDIA RTX Blackwell GPU architecture white paper, 2025",
         0, 104.8,     0,     0,   1792,  32, 2,
         0,     0, 104.8,  209.5,  209.5,    419,    1676,    838},
    {"L4", "NVIDIA L4 data sheet, 2023 (halved: given with sparsity)",
         0,  30.3,     0,     0,    300,  24, 2,
         0,     0,    60,    121,    121,  242.5,       0,  242.5},
    {"L40", "NVIDIA L40 data sheet, 2022",
         0,  90.5,     0,     0,    864,  48, 2,
         0,     0,  90.5, 181.05, 181.05,    362,       0,    362},
    {"L40S", "NVIDIA L40S data sheet, 2023",
         0,  91.6,     0,     0,    864,  48, 2,
         0,     0,   183, 362.05, 362.05,    733,       0,    733},
    {"H100 SXM5", "NVIDIA H100 architecture white paper 1.04, 2023",
      33.5,  66.9, 133.8, 133.8,   3350,  80, 2,
      66.9,     0, 494.7,  989.4,  989.4, 1978.9,       0, 1978.9},
    {"H100 PCIe", "NVIDIA H100 architecture white paper 1.04, 2023",
      25.6,  51.2, 102.4, 102.4,   2000,  80, 2,
      51.2,     0,   378,    756,    756,   1513,       0,   1513},
    {"H100 NVL", "NVIDIA H100 data sheet, 2024 (halved: given with sparsity)",
        30,    60,     0,     0,   3900,  94, 2,
        60,     0, 417.5,  835.5,  835.5, 1670.5,       0, 1670.5},
    {"H200 SXM", "NVIDIA H200 data sheet, 2024 (halved: given with sparsity)",
        34,    67,     0,     0,   4800, 141, 2,
        67,     0, 494.5,  989.5,  989.5,   1979,       0,   1979},
    {"H200 NVL", "NVIDIA H200 data sheet, 2024 (halved: given with sparsity)",
        30,    60,     0,     0,   4800, 141, 2,
        60,     0, 417.5,  835.5,  835.5, 1670.5,       0, 1670.5},
    {"GH200 96GB", "NVIDIA GH200 data sheet, 2023 (halved: given with sparsity)",
        34,    67,     0,     0,   4000,  96, 2,
        67,     0, 494.5,  989.5,  989.5,   1979,       0,   1979},
    {"GH200 144GB", "NVIDIA GH200 data sheet, 2023 (halved: given with sparsity)",
        34,    67,     0,     0,   4900, 144, 2,
        67,     0, 494.5,  989.5,  989.5,   1979,       0,   1979},
    {"B100", "NVIDIA Blackwell architecture technical brief, 2024",
        30,    60,     0,     0,   8000, 192, 2,
        30,     0,   900,   1750,   1750,   3500,    7000,   3500},
    {"B200", "NVIDIA Blackwell architecture technical brief, 2024",
        40,    80,     0,     0,   8000,   0, 2,
        40,     0,  1100,   2250,   2250,   4500,    9000,   4500},
    {"GB200", "NVIDIA Blackwell architecture technical brief, 2024",
        45,    90,     0,     0,   8000,   0, 2,
        45,     0,  1250,   2500,   2500,   5000,   10000,   5000},
    // Published peaks of fp4 and int8 contradict each other.
    {"B300", "NVIDIA HGX B300 specifications, 2025 (halved: given with sparsity)",
         0,    75,     0,     0,   8000, 288, 2,
         0,     0,  1100,   2250,   2250,   4500,       0,      0},
};

constexpr DevicePeaksRow kAmdRows[] = {
    {"MI100", "AMD Instinct MI100 data sheet, 2020",
      11.5,  23.1,     0,     0, 1228.8,  32, 1,
         0,  46.1,     0,  184.6,   92.3,      0,       0,  184.6},
    {"MI210", "AMD Instinct MI210 data sheet, 2022",
      22.6,  22.6,     0,     0, 1638.4,  64, 1,
      45.3,  45.3,     0,    181,    181,      0,       0,    181},
    {"MI250", "AMD Instinct MI250 data sheet, 2021",
      45.3,  45.3,     0,     0, 3276.8, 128, 1,
      90.5,  90.5,     0,  362.1,  362.1,      0,       0,  362.1},
    {"MI250 GCD", "AMD Instinct MI250 data sheet, 2021 (half: one of two dies)",
     22.65, 22.65,     0,     0, 1638.4,  64, 1,
     45.25, 45.25,     0, 181.05, 181.05,      0,       0, 181.05},
    {"MI250X", "AMD Instinct MI250X data sheet, 2021",
      47.9,  47.9,     0,     0, 3276.8, 128, 1,
      95.7,  95.7,     0,    383,    383,      0,       0,    383},
    {"MI250X GCD", "AMD Instinct MI250X data sheet, 2021 (half: one of two dies)",
     23.95, 23.95,     0,     0, 1638.4,  64, 1,
     47.85, 47.85,     0,  191.5,  191.5,      0,       0,  191.5},
    {"MI300A", "AMD Instinct MI300A data sheet, 2023",
      61.3, 122.6,     0,     0,   5300, 128, 2,
     122.6, 122.6, 490.3,  980.6,  980.6, 1961.2,       0, 1961.2},
    {"MI300X", "AMD Instinct MI300X data sheet, 2023",
      81.7, 163.4,     0,     0,   5300, 192, 2,
     163.4, 163.4, 653.7, 1307.4, 1307.4, 2614.9,       0, 2614.9},
    {"MI325X", "AMD Instinct MI325X data sheet, 2024",
      81.7, 163.4,     0,     0,   6000, 256, 2,
     163.4, 163.4, 653.7, 1307.4, 1307.4, 2614.9,       0, 2614.9},
    // No TF32 in hardware any more.
    {"MI350X", "AMD Instinct MI350X data sheet, 2025",
      72.1, 144.2,     0,     0,   8000, 288, 2,
      72.1, 144.2,     0, 2306.9, 2306.9, 4613.7,  9227.5, 4613.7},
    {"MI355X", "AMD Instinct MI355X data sheet, 2025",
      78.6, 157.3,     0,     0,   8000, 288, 2,
      78.6, 157.3,     0, 2516.6, 2516.6, 5033.2, 10066.3, 5033.2},
};
// clang-format on

// Names as drivers report them: "Tesla V100-SXM2-16GB", "NVIDIA A100-SXM4-40GB", "NVIDIA H100 80GB
// HBM3", "AMD Instinct MI300X". Some AMD drivers call everything "AMD Radeon Graphics", and some
// profilers give the architecture ("gfx942") instead.
// clang-format off
constexpr DeviceMatch kMatches[] = {
    {.row = "P100 SXM2", .words = "p100 sxm2", .multiprocessors = 56},
    {.row = "P100 PCIe", .words = "p100 pcie 16gb", .multiprocessors = 56},
    {.row = "V100 SXM2", .words = "v100 sxm2", .multiprocessors = 80},
    {.row = "V100 SXM3", .words = "v100 sxm3", .multiprocessors = 80},
    {.row = "V100 PCIe", .words = "v100 pcie", .multiprocessors = 80},
    {.row = "V100S PCIe", .words = "v100s pcie", .multiprocessors = 80},
    {.row = "T4", .words = "t4", .multiprocessors = 40},
    {.row = "A10", .words = "a10", .multiprocessors = 72},
    {.row = "A10G", .words = "a10g", .multiprocessors = 80},
    {.row = "A30", .words = "a30", .multiprocessors = 56},
    {.row = "A40", .words = "a40", .multiprocessors = 84},
    {.row = "A100 80GB PCIe", .words = "a100 pcie 80gb", .multiprocessors = 108},
    {.row = "A100 80GB PCIe", .words = "a100 80gb pcie", .multiprocessors = 108},
    {.row = "A100 80GB SXM4", .words = "a100 sxm4 80gb", .multiprocessors = 108},
    {.row = "A100 40GB", .words = "a100 40gb", .multiprocessors = 108},
    // Both forms with 40 GB have the same peaks.
    {.row = "A100 40GB", .words = "a100",
     .multiprocessors = 108, .min_gb = 40, .max_gb = 44, .by_numbers = true},
    {.row = "RTX 3090", .words = "rtx 3090", .without = "ti laptop", .multiprocessors = 82},
    {.row = "RTX A6000", .words = "rtx a6000", .multiprocessors = 84},
    {.row = "RTX 4090", .words = "rtx 4090", .without = "d laptop", .multiprocessors = 128},
    {.row = "RTX 6000 Ada", .words = "rtx 6000 ada", .multiprocessors = 142},
    {.row = "RTX 5090", .words = "rtx 5090", .without = "d laptop", .multiprocessors = 170},
    {.row = "L4", .words = "l4", .multiprocessors = 58},
    {.row = "L40", .words = "l40", .multiprocessors = 142},
    {.row = "L40S", .words = "l40s", .multiprocessors = 142},
    {.row = "H100 PCIe", .words = "h100 pcie", .multiprocessors = 114},
    {.row = "H100 NVL", .words = "h100 nvl", .multiprocessors = 132},
    {.row = "H100 SXM5", .words = "h100 80gb hbm3", .multiprocessors = 132},
    {.row = "H100 SXM5", .words = "h100", .without = "pcie nvl",
     .multiprocessors = 132, .min_gb = 80, .max_gb = 87, .by_numbers = true},
    {.row = "H200 NVL", .words = "h200 nvl", .multiprocessors = 132},
    {.row = "H200 SXM", .words = "h200", .multiprocessors = 132},
    {.row = "GH200 96GB", .words = "gh200 480gb", .multiprocessors = 132, .max_gb = 105},
    {.row = "GH200 144GB", .words = "gh200 144g", .multiprocessors = 132},
    {.row = "B100", .words = "b100"},
    {.row = "B200", .words = "b200"},
    {.row = "GB200", .words = "gb200"},
    {.row = "B300", .words = "b300"},
    {.row = "MI100", .words = "mi100", .multiprocessors = 120},
    {.row = "MI210", .words = "mi210", .multiprocessors = 104},
    {.row = "MI250X GCD", .words = "mi250x", .without = "mi250", .multiprocessors = 110},
    {.row = "MI250 GCD", .words = "mi250", .without = "mi250x", .multiprocessors = 104},
    // Reported for either of the two: "AMD Instinct MI250X / MI250".
    {.row = "MI250X GCD", .words = "mi250x mi250", .multiprocessors = 110, .by_numbers = true},
    {.row = "MI250 GCD", .words = "mi250x mi250", .multiprocessors = 104, .by_numbers = true},
    {.row = "MI300A", .words = "mi300a", .multiprocessors = 228},
    {.row = "MI300X", .words = "mi300x", .multiprocessors = 304},
    {.row = "MI325X", .words = "mi325x", .multiprocessors = 304},
    {.row = "MI350X", .words = "mi350x", .multiprocessors = 256},
    {.row = "MI355X", .words = "mi355x", .multiprocessors = 256},
    {.row = "MI100", .words = "gfx908", .multiprocessors = 120, .by_numbers = true},
    {.row = "MI250X GCD", .words = "gfx90a", .multiprocessors = 110, .by_numbers = true},
    // An MI210 is half an MI250.
    {.row = "MI250 GCD", .words = "gfx90a", .multiprocessors = 104, .by_numbers = true},
    {.row = "MI300A", .words = "gfx942", .multiprocessors = 228, .by_numbers = true},
    {.row = "MI300X", .words = "gfx942",
     .multiprocessors = 304, .min_gb = 180, .max_gb = 210, .by_numbers = true},
    {.row = "MI325X", .words = "gfx942",
     .multiprocessors = 304, .min_gb = 250, .max_gb = 280, .by_numbers = true},
    {.row = "MI100", .words = "radeon graphics",
     .multiprocessors = 120, .min_gb = 30, .max_gb = 36, .by_numbers = true},
    {.row = "MI250X GCD", .words = "radeon graphics",
     .multiprocessors = 110, .min_gb = 60, .max_gb = 70, .by_numbers = true},
    {.row = "MI250 GCD", .words = "radeon graphics",
     .multiprocessors = 104, .min_gb = 60, .max_gb = 70, .by_numbers = true},
    {.row = "MI300A", .words = "radeon graphics",
     .multiprocessors = 228, .min_gb = 100, .max_gb = 140, .by_numbers = true},
    {.row = "MI300X", .words = "radeon graphics",
     .multiprocessors = 304, .min_gb = 180, .max_gb = 210, .by_numbers = true},
    {.row = "MI325X", .words = "radeon graphics",
     .multiprocessors = 304, .min_gb = 250, .max_gb = 280, .by_numbers = true},
};
// clang-format on

}  // namespace

std::span<const DevicePeaksRow> NvidiaDeviceRows() { return kNvidiaRows; }
std::span<const DevicePeaksRow> AmdDeviceRows() { return kAmdRows; }

std::span<const DeviceMatch> DeviceMatches() { return kMatches; }

namespace {

struct PeakRow {
  std::string_view name;
  double DevicePeaksRow::* cell;
};

constexpr PeakRow kPeaks[] = {
    {"fp64", &DevicePeaksRow::fp64},
    {"fp32", &DevicePeaksRow::fp32},
    {"fp16", &DevicePeaksRow::fp16},
    {"bf16", &DevicePeaksRow::bf16},
    {"fp64_matrix", &DevicePeaksRow::fp64_matrix},
    {"fp32_matrix", &DevicePeaksRow::fp32_matrix},
    {"tf32_matrix", &DevicePeaksRow::tf32_matrix},
    {"fp16_matrix", &DevicePeaksRow::fp16_matrix},
    {"bf16_matrix", &DevicePeaksRow::bf16_matrix},
    {"fp8_matrix", &DevicePeaksRow::fp8_matrix},
    {"fp4_matrix", &DevicePeaksRow::fp4_matrix},
    {"int8_matrix", &DevicePeaksRow::int8_matrix},
};
static_assert(std::size(kPeaks) == kPeakCount);

std::optional<Peak> PeakNamed(std::string_view name) {
  const auto* row = std::find_if(std::begin(kPeaks), std::end(kPeaks),
                                 [name](const PeakRow& peak) { return peak.name == name; });
  return row == std::end(kPeaks) ? std::nullopt
                                 : std::optional(static_cast<Peak>(row - std::begin(kPeaks)));
}

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool IsWordCharacter(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'); }

// The words of letters and digits in lower case, with a blank before and after each: "Tesla
// V100-SXM2-16GB" -> " tesla v100 sxm2 16gb ".
std::string WordsOf(std::string_view name) {
  std::string words = " ";
  for (const char c : name) {
    const char lower = Lower(c);
    if (IsWordCharacter(lower)) {
      words += lower;
    } else if (words.back() != ' ') {
      words += ' ';
    }
  }
  if (words.back() != ' ') {
    words += ' ';
  }
  return words;
}

bool HasWord(std::string_view words, std::string_view word) {
  return words.find(' ' + std::string(word) + ' ') != std::string_view::npos;
}

// How many of the wanted words are there, and how many are wanted.
struct WordCount {
  size_t found = 0;
  size_t all = 0;
};

WordCount CountWords(std::string_view words, std::string_view wanted) {
  WordCount count;
  while (!wanted.empty()) {
    const size_t end = std::min(wanted.find(' '), wanted.size());
    count.found += HasWord(words, wanted.substr(0, end)) ? 1 : 0;
    ++count.all;
    wanted.remove_prefix(std::min(end + 1, wanted.size()));
  }
  return count;
}

bool FitsName(const DeviceMatch& match, std::string_view words) {
  const WordCount wanted = CountWords(words, match.words);
  return wanted.found == wanted.all && CountWords(words, match.without).found == 0;
}

bool FitsNumbers(const DeviceMatch& match, const DeviceInfo& device) {
  constexpr int64_t kGigabyte = 1'000'000'000;
  const bool any_count = match.multiprocessors == 0;
  const bool count_known = device.multiprocessors != kMissing;
  const bool bytes_known = device.total_bytes != kMissing;
  if (match.by_numbers && !(count_known && bytes_known)) {
    return false;
  }
  if (!any_count && count_known && device.multiprocessors != match.multiprocessors) {
    return false;
  }
  return !bytes_known || (device.total_bytes >= match.min_gb * kGigabyte &&
                          device.total_bytes <= match.max_gb * kGigabyte);
}

std::optional<double> Published(double value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

DeviceSpec SpecOf(const DevicePeaksRow& row) {
  DeviceSpec spec{std::string(row.name), std::string(row.source), {}, {}, {}, row.sparsity};
  for (size_t i = 0; i < kPeakCount; ++i) {
    spec.peak.tflops[i] = Published(row.*kPeaks[i].cell);
  }
  spec.peak.memory_gbps = Published(row.memory_gbps);
  spec.memory_gb = Published(row.memory_gb);
  return spec;
}

}  // namespace

std::string_view PeakName(Peak peak) { return kPeaks[static_cast<size_t>(peak)].name; }

std::optional<Peak> MatrixPeakOf(std::string_view format) {
  return PeakNamed(std::string(format) + "_matrix");
}

std::optional<Peak> VectorPeakOf(std::string_view format) { return PeakNamed(format); }

std::optional<DeviceSpec> FindDeviceSpec(const DeviceInfo& device) {
  const std::string words = WordsOf(device.name);
  for (const DeviceMatch& match : DeviceMatches()) {
    if (FitsName(match, words) && FitsNumbers(match, device)) {
      return FindDeviceSpec(match.row);
    }
  }
  return std::nullopt;
}

std::optional<DeviceSpec> FindDeviceSpec(std::string_view name) {
  const std::string words = WordsOf(name);
  for (const std::span<const DevicePeaksRow> rows : {NvidiaDeviceRows(), AmdDeviceRows()}) {
    for (const DevicePeaksRow& row : rows) {
      if (WordsOf(row.name) == words) {
        return SpecOf(row);
      }
    }
  }
  return std::nullopt;
}

namespace {

using simdjson::dom::element;
using simdjson::dom::object;

constexpr double kMostPositive = 1e12;

// Reads one file; its members only say where an error is.
class DeviceFile {
 public:
  explicit DeviceFile(std::string_view file) : file_(file) {}

  Error Wrong(std::string_view key, std::string_view expected) const {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("\"{}\" must be {}", key, expected),
                 {},
                 std::string(file_)};
  }

  Result<double> Positive(std::string_view key, element value) const {
    double number = 0;
    if (value.get(number) != simdjson::SUCCESS || !(number > 0 && number <= kMostPositive)) {
      return Wrong(key, "a number above 0");
    }
    return number;
  }

  Result<std::string> Text(std::string_view key, element value) const {
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS || text.empty()) {
      return Wrong(key, "a text");
    }
    return std::string(text);
  }

  Result<object> Object(std::string_view key, element value) const {
    object members;
    if (value.get(members) != simdjson::SUCCESS) {
      return Wrong(key, "an object");
    }
    return members;
  }

  Error Unknown(std::string_view key, std::string_view known) const {
    return Error{ErrorCode::kInvalidArgument, fmt::format("unknown key \"{}\"", key),
                 fmt::format("use one of {}", known), std::string(file_)};
  }

  std::string_view file() const { return file_; }

 private:
  std::string_view file_;
};

std::optional<Peak> PeakOfKey(std::string_view key) {
  for (size_t i = 0; i < kPeakCount; ++i) {
    if (PeakName(static_cast<Peak>(i)) == key) {
      return static_cast<Peak>(i);
    }
  }
  return std::nullopt;
}

std::string KnownPeaks() {
  std::string known;
  for (size_t i = 0; i < kPeakCount; ++i) {
    known += (i == 0 ? "" : ", ");
    known += PeakName(static_cast<Peak>(i));
  }
  return known;
}

Result<void> ReadPeaks(const DeviceFile& reader, element value, Ceilings& ceilings) {
  BS_ASSIGN(const object members, reader.Object("tflops", value));
  for (const auto& [key, number] : members) {
    const std::optional<Peak> peak = PeakOfKey(key);
    if (!peak.has_value()) {
      return reader.Unknown(key, KnownPeaks());
    }
    BS_ASSIGN(ceilings.tflops[static_cast<size_t>(*peak)], reader.Positive(key, number));
  }
  return {};
}

// True when the key is one of a set of ceilings, which was read.
Result<bool> ReadCeiling(const DeviceFile& reader, std::string_view key, element value,
                         Ceilings& ceilings) {
  if (key == "tflops") {
    BS_TRY(ReadPeaks(reader, value, ceilings));
    return true;
  }
  if (key == "memory_gbps") {
    BS_ASSIGN(ceilings.memory_gbps, reader.Positive(key, value));
    return true;
  }
  return false;
}

Result<void> ReadMeasured(const DeviceFile& reader, element value, Ceilings& ceilings) {
  BS_ASSIGN(const object members, reader.Object("measured", value));
  for (const auto& [key, member] : members) {
    BS_ASSIGN(const bool known, ReadCeiling(reader, key, member, ceilings));
    if (!known) {
      return reader.Unknown(key, "tflops, memory_gbps");
    }
  }
  return {};
}

Result<void> ReadMember(const DeviceFile& reader, std::string_view key, element value,
                        DeviceSpec& spec) {
  BS_ASSIGN(const bool is_ceiling, ReadCeiling(reader, key, value, spec.peak));
  if (is_ceiling) {
    return {};
  }
  if (key == "name") {
    BS_ASSIGN(spec.name, reader.Text(key, value));
  } else if (key == "source") {
    BS_ASSIGN(spec.source, reader.Text(key, value));
  } else if (key == "memory_gb") {
    BS_ASSIGN(spec.memory_gb, reader.Positive(key, value));
  } else if (key == "sparsity") {
    BS_ASSIGN(spec.sparsity, reader.Positive(key, value));
  } else if (key == "measured") {
    return ReadMeasured(reader, value, spec.measured);
  } else {
    return reader.Unknown(key, "name, source, tflops, memory_gbps, memory_gb, sparsity, measured");
  }
  return {};
}

}  // namespace

Result<DeviceSpec> ParseDeviceSpec(std::string_view json, std::string_view file) {
  const DeviceFile reader(file);
  simdjson::dom::parser parser;
  element document;
  object members;
  if (ParseDocument(parser, json, document) != simdjson::SUCCESS ||
      document.get(members) != simdjson::SUCCESS) {
    return Error{ErrorCode::kInvalidArgument,
                 "not a JSON object with the peaks of a device",
                 {},
                 std::string(file)};
  }
  DeviceSpec spec;
  spec.source = std::string(file);
  for (const auto& [key, value] : members) {
    BS_TRY(ReadMember(reader, key, value, spec));
  }
  if (spec.name.empty()) {
    return Error{ErrorCode::kInvalidArgument, "the key \"name\" is missing",
                 "give the device a name", std::string(file)};
  }
  return spec;
}

}  // namespace borescope::internal
