// What the benchmark harness of a kernel that TorchInductor generated prints, and the name of the
// kernel in its file. Pure functions; any text is fine.
//
//   stand-alone   0.123ms    0.456GB    3707.32GB/s
//   by config     0.123ms  <TAB>0.456 GB <TAB> 3707.32GB/s   32 regs    0 spills     1024 shared
//                 mem @ XBLOCK: 1024, num_warps: 4
//
// A name, a category and a key may come before them, and escape sequences that colour the line. A
// config that was compiled but not timed, because it spills too many registers, has "infms".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace borescope::internal {

struct BenchLine {
  std::optional<double> ms = {};                    // missing: the config was not timed
  std::optional<double> gigabytes = {};             // moved at least, 1e9 bytes
  std::optional<double> gigabytes_per_second = {};  // as printed
  std::optional<int64_t> registers = {};            // per thread
  std::optional<int64_t> spills = {};
  std::optional<int64_t> shared_bytes = {};
  std::string config = {};  // after " @ "; empty: none
};

// The lines with a time, in order; all others do not come from the harness.
std::vector<BenchLine> ParseBenchOutput(std::string_view text);

// The function after the first "@triton.jit" of the file; empty if there is none.
std::string TritonKernelIn(std::string_view code);

}  // namespace borescope::internal
