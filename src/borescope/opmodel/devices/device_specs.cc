#include "borescope/opmodel/devices/device_specs.h"

#include <algorithm>
#include <iterator>

#include "borescope/opmodel/devices/device_table.h"

namespace borescope::internal {
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

// Words of letters and digits in small letters, with a blank before and behind each:
// "Tesla V100-SXM2-16GB" -> " tesla v100 sxm2 16gb ".
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

// How many of the wanted words, with blanks between them, are there; `all` counts them.
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

}  // namespace borescope::internal
