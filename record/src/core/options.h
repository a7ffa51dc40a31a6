// What the launcher asks from the library, in two environment variables.
#pragma once

#include <cstdint>

#include "core/rule_options.h"

namespace borescope::inject {

inline constexpr uint32_t kMostRanks = 64;

enum class ApiCalls : uint8_t { kNone, kLaunch, kAll };

enum class Children : uint8_t { kAll, kNone, kMatching };

// A GPU of AMD's, as the kernel describes it.
struct RocmGpu {
  uint32_t node;    // of the machine's topology, which counts processors, too
  uint32_t target;  // gfx942 is 90402
  uint32_t compute_units;
  uint32_t warp;
};
inline constexpr uint32_t kMostGpus = 64;

// Calls that are not recorded, besides those that programs make all the time: of CUDA by CUPTI's
// numbers, of others by name.
struct SkippedCalls {
  static constexpr uint32_t kMostNumbers = 1024;
  uint64_t runtime[kMostNumbers / 64] = {};
  uint64_t driver[kMostNumbers / 64] = {};
  char names[512] = {};  // each between commas

  static bool Has(const uint64_t (&numbers)[kMostNumbers / 64], uint32_t number) {
    return number < kMostNumbers && (numbers[number / 64] >> number % 64 & 1U) != 0;
  }
  bool HasName(const char* name) const;
};

inline constexpr uint32_t kMostCounters = 64;
inline constexpr uint32_t kMostCountedLaunches = 1000;

struct Options {
  uint64_t most_bytes = 0;  // of one log; 0: no limit
  uint64_t ring_ns = 0;     // the last part that is kept; 0: all
  uint32_t flush_ms = 100;
  ApiCalls api = ApiCalls::kAll;
  SkippedCalls skipped;
  uint32_t rank_count = 0;  // of the ranks that are recorded; 0: all, and processes without one
  int32_t ranks[kMostRanks] = {};
  bool has_nvtx = true;
  bool has_roctx = true;
  bool has_cuda = true;
  bool has_rocm = false;   // experimental
  uint32_t gpu_count = 0;  // of AMD's that the launcher knows
  RocmGpu gpus[kMostGpus] = {};
  Children children = Children::kAll;
  NameRule children_pattern;  // of names of programs, for kMatching; with *, ? and [...]
  bool has_graph_nodes = false;
  bool has_memory = false;
  bool has_sync = false;
  // Of chosen kernels, by the range profiler of CUPTI; experimental.
  char counters[4096] = {};         // metrics with commas between them; empty: none
  char counters_pattern[256] = {};  // of mangled names; with *, ? and [...]; empty: all
  uint64_t counters_skip = 0;       // so many launches of such kernels come before
  uint32_t counters_count = 100;    // so many are measured, in each process
  bool is_warm = false;  // what devices do is collected once at the start, also of a run that waits
  bool keeps_environment = false;  // of the communication libraries
  RuleOptions rules;
};

// Of a text such as "max-bytes=1000;no-cuda". What is unknown is ignored: the launcher may be
// newer.
Options ParseOptions(const char* text);
// The same into options that hold what is meant without any.
void ReadOptions(const char* text, Options* options);

// Whether a process of this rank is recorded; -1: of none.
bool IsWantedRank(const Options& options, int32_t rank);

}  // namespace borescope::inject
