// The formats of traces. A new one needs a value and its name here, and a reader.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace borescope::internal {

enum class TraceFormat : uint8_t {
  kKineto,          // PyTorch profiler
  kMemoryTimeline,  // PyTorch's allocator events only
  kNsys,
  kNvprof,
  kRpd,
  kRocpd,
  kRecording,  // of borescope record
  // Chrome JSON of other profilers.
  kXla,          // JAX and TensorFlow
  kAscend,       // Ascend PyTorch Profiler and msprof
  kOnnxRuntime,  // ONNX Runtime
  kAutograd,     // PyTorch's profiler before Kineto
  // Reports of counters, whose kernels have no place in time.
  kNcuReport,     // Nsight Compute
  kNcuCsv,        // the text of ncu --csv
  kRocprofV3Csv,  // rocprofv3 --pmc
  kCount
};

// Names in `borescope list` and in columns named `format`, in the order of the enum.
inline constexpr auto kFormatNames = std::to_array<std::string_view>(
    {"kineto-json", "pytorch-memory-timeline", "nsys", "nvprof", "rpd", "rocpd", "recording",
     "xla-json", "ascend-json", "onnxruntime-json", "autograd-json", "ncu-report", "ncu-csv",
     "rocprofv3-csv"});
static_assert(kFormatNames.size() == static_cast<size_t>(TraceFormat::kCount));

// Whether PyTorch's own profiler wrote it.
constexpr bool IsOfPyTorchProfiler(TraceFormat format) {
  return format < TraceFormat::kNsys || format == TraceFormat::kAutograd;
}

constexpr std::string_view FormatName(TraceFormat format) {
  return kFormatNames[static_cast<size_t>(format)];
}

// Whether it is a report of counters: kernels, each with what was counted in it, and no timeline.
constexpr bool IsCounterReport(TraceFormat format) {
  return format >= TraceFormat::kNcuReport && format < TraceFormat::kCount;
}

// Nothing if no format has this name.
constexpr std::optional<TraceFormat> FindFormatNamed(std::string_view name) {
  const auto* const found = std::find(kFormatNames.begin(), kFormatNames.end(), name);
  return found == kFormatNames.end()
             ? std::nullopt
             : std::optional(static_cast<TraceFormat>(found - kFormatNames.begin()));
}

}  // namespace borescope::internal
