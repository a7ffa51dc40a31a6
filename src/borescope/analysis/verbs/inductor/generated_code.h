// What TorchInductor wrote into the file of a kernel it generated, for `inductor`: the operators
// and lines of the model behind it, and the bytes it moves at least.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

struct InductorCode {
  std::string original_aten = {};        // "aten.add, aten.relu"; empty: not told
  std::string source_nodes = {};         // names in the model's Python: "x, relu"
  std::optional<double> gigabytes = {};  // kernel_num_gb, 1e9 bytes a call
};

// The beginning of a generated file, which is where the kernel is: 4 MiB. Nothing where there is no
// regular file that can be read.
std::optional<std::string> ReadGeneratedCode(const std::string& path);

// Of the first kernel in the text, which may be anything. Pure.
InductorCode ParseInductorCode(std::string_view code);

// Adds what the files of Triton kernels say to the table of kernels of `inductor`, if one of
// `specs` made it: those recorded or, with --inductor-cache, those of the same names below that
// folder (DIR/ab/HASH.py, DIR/HASH.py). Columns original_aten and source_nodes appear where at
// least one file could be read; only regular files called *.py are, the first 4 MiB of each.
// Columns gbps and bandwidth_share appear where the bytes of a kernel are recorded or stand in its
// file.
void AddInductorCode(std::span<const AnalysisSpec* const> specs, const Params& params,
                     Tables& tables);

}  // namespace borescope::internal
