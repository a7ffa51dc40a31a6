// What TorchInductor wrote into the file of a kernel it generated, for `inductor`: the operators
// and lines of the model that it was made from, and the bytes it moves at least.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

struct InductorCode {
  std::string original_aten = {};        // "aten.add, aten.relu"; empty: not there
  std::string source_nodes = {};         // names in the model's Python: "x, relu"
  std::optional<double> gigabytes = {};  // kernel_num_gb, 1e9 bytes a call
};

// The first 4 MiB of a generated file, which contain the kernel. Nothing where no regular file is;
// kIo where the system cannot say, or reading fails.
Result<std::optional<std::string>> ReadGeneratedCode(const std::string& path);

// What the text says about its first kernel. Any text is fine. Pure.
InductorCode ParseInductorCode(std::string_view code);

// Adds what the files of Triton kernels say to the kernels that `inductor` mapped, in separate
// columns: with --inductor-cache, from the files of the same names below that folder
// (DIR/ab/HASH.py, DIR/HASH.py); without it, no file is opened, whatever a trace names. Only
// regular files named *.py are read, the first 4 MiB of each, and none outside of the folder, even
// if a link leads there. REQUIRES: the table of kernels comes first.
Result<Tables> ReadKernelFiles(Tables tables, const Params& params);

// Turns these columns, if there are any, into those of the answer: original_aten and source_nodes
// if at least one file could be read, gbps and bandwidth_share if the bytes of a kernel are
// recorded or in its file. `time` is the table of times.
void UseKernelFiles(Table& kernels, const Table& time);

}  // namespace borescope::internal
