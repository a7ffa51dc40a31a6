// What TorchInductor wrote into the file of a kernel it generated, for `inductor`: the operators
// and lines of the model that it was made from, and the bytes it moves at least.
#pragma once

#include <optional>
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

// Adds what the files of Triton kernels say to the kernels that `inductor` mapped, in columns of
// its own: with --inductor-cache, of the files of the same names below that folder (DIR/ab/HASH.py,
// DIR/HASH.py); without it, of none: a trace opens no files. Only regular files called *.py are
// read, the first 4 MiB of each, and none to which a link leads out of the folder.
// REQUIRES: the table of kernels comes first.
Result<Tables> ReadKernelFiles(Tables tables, const Params& params);

// Turns these columns, where they are, into those of the answer: original_aten and source_nodes
// where at least one file could be read, gbps and bandwidth_share where the bytes of a kernel are
// recorded or stand in its file. `time` is the table of times.
void UseKernelFiles(Table& kernels, const Table& time);

}  // namespace borescope::internal
