// CounterReport: what a tool that replays kernels (Nsight Compute, rocprofv3) counted for each
// kernel of a program, in a run of its own. It has no timeline: its kernels are known by name,
// size, ranges and order, by which they are matched with the kernels of a trace of the same
// program.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace borescope::internal {

// Whether the tool did something to the caches or clocks of the device while it counted.
enum class CounterSetting : uint8_t { kUnknown, kNo, kYes };

// A whole number that a double does not hold, and 64 bits with a sign do; else nothing.
inline std::optional<int64_t> ExactWhole(uint64_t number) {
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  const bool is_held =
      number > kMost || static_cast<uint64_t>(static_cast<double>(number)) == number;
  return is_held ? std::nullopt : std::optional(static_cast<int64_t>(number));
}

// One metric of the report, which its kernels refer to by index.
struct CounterMetric {
  std::string name;  // as the tool calls it: "dram__bytes_read.sum"
  std::string unit;  // "byte", "ns", "%"; empty: none
};

// One kernel that was counted.
struct CountedKernel {
  struct Value {
    uint32_t metric = 0;  // index into CounterReport::metrics
    double value = 0;     // finite
    // Half a unit of the last digit that the file gives, in the unit of the metric; 0: exact.
    double rounded_by = 0;
    // A whole number that `value`, a double, does not hold.
    std::optional<int64_t> exact = {};
  };
  struct Text {
    uint32_t metric = 0;
    std::string text;
  };
  // What a rule of the tool says about the kernel.
  struct Advice {
    std::string rule = {};   // "SOLBottleneck"
    std::string title = {};  // "High Compute Throughput"; may be empty
    std::string text = {};
    // The numbers that the rule looked at, as it has them, by the names of metrics.
    std::vector<std::pair<std::string, double>> focus = {};
    double speedup_percent = -1;  // as the tool estimates; -1: it does not
    bool is_of_part = false;  // the speedup is of the part of the kernel's time that it is about
  };

  // The name as a trace records it (demangled as __cxa_demangle does), if the file has whole names;
  // else as the file has it.
  std::string name;
  std::string function;               // without namespace, template arguments and parameters
  std::array<int64_t, 3> grid = {};   // blocks; for AMD work-items in all, 1, 1
  std::array<int64_t, 3> block = {};  // threads; for AMD the size of a workgroup in all, 1, 1
  std::vector<std::string> ranges;    // that were open at the launch, outermost first
  // Of each of `ranges` a number, the same in all kernels of one instance; empty: not recorded.
  std::vector<uint64_t> range_numbers;
  int64_t pid = 0;
  int64_t device = 0;
  int64_t context = 0;
  int64_t stream = 0;
  // When it ran under the tool, which slows it down; kept apart from metrics, which may lack it.
  int64_t ts_ns = -1;               // on a clock of the machine; -1: not recorded
  int64_t dur_ns = -1;              // gpu__time_duration.sum for Nsight Compute; -1: not recorded
  std::vector<Value> values;        // by metric; what was not measured is not among them
  std::vector<Text> texts;          // metrics whose value is a text, by metric
  std::vector<Advice> advice = {};  // in the order of the rules
};

// A plain value; once read it is not changed, so that any number of threads may use it.
struct CounterReport {
  std::string file;     // as the user named it
  std::string tool;     // "Nsight Compute 2025.3.1", "rocprofv3", as far as the file says
  std::string program;  // the file name of the program that was profiled; empty: unknown
  std::string device;   // the model of the device; empty: unknown
  std::vector<CounterMetric> metrics;
  std::vector<CountedKernel> kernels;  // in the order of their launches within a process and device
  bool whole_names = true;  // whether `name` can equal the name in a trace letter for letter
  bool amd = false;         // sizes of grids and blocks are totals, see above
  CounterSetting caches_flushed = CounterSetting::kUnknown;  // before each kernel
  CounterSetting clocks_held = CounterSetting::kUnknown;     // at their base frequency
  // Metrics that were asked for and that some kernels have no value of, with the number of these.
  std::vector<std::pair<uint32_t, uint64_t>> without_value;
  std::string replay_mode;      // "application"; empty: the default, or unknown
  std::string graph_profiling;  // "node"; empty: the default, or unknown
  int64_t started_s = -1;       // when the tool was started, Unix time; -1: unknown
  // What the file holds about machine and program that is not kept, with how often.
  std::vector<std::pair<std::string, uint64_t>> sensitive;
};

}  // namespace borescope::internal
