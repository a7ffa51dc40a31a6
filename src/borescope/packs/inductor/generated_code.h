// What TorchInductor wrote into the file of a kernel it generated, for `inductor`: the operators
// and lines of the model that it was made from, and the bytes it moves at least.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/index/names/kernel_class.h"

namespace borescope::internal {

// What the names of kernels that TorchInductor generated say:
// `triton_<category>_fused_<operators>_<number>`.

enum class InductorCategory : uint8_t {
  // Generated.
  kPointwise,
  kReduction,
  kPersistentReduction,
  kTemplate,  // matrix multiplication, convolution or attention chosen by autotuning
  kForeach,
  kSplitScan,
  kTritonOther,  // other names with "triton_": cooperative reductions, names that are not unique
  kTritonUser,   // launched by Triton under a name of the user's own
  // Not generated.
  kGemm,
  kConv,
  kAttention,
  kCollective,
  kCopy,  // memcpys, memsets, kernels that copy
  kAten,  // PyTorch's own kernels of any other class
  kOther,
  kCount
};

// "triton_pointwise", ..., "gemm", ..., "other".
std::string_view InductorCategoryName(InductorCategory category);

// The category of a kernel. `by_triton`: its launch recorded that Triton made it.
InductorCategory InductorCategoryOf(std::string_view kernel, KernelClass kernel_class,
                                    bool by_triton);

// True for the categories whose code TorchInductor wrote.
bool IsGenerated(InductorCategory category);

// The operators in the name of a generated kernel, in order: "triton_red_fused__to_copy_mean_3" ->
// "_to_copy", "mean". Empty if the name lists none. Names of operators can contain "_" themselves,
// so that the longest known operator is used, or else each word.
std::vector<std::string_view> FusedOps(std::string_view kernel);

// The name without the specialisation that Triton 2 appended ("_0d1d2de": argument 0 divisible by
// 16, ...); names that end in anything else stay as they are.
std::string_view WithoutSpecialisation(std::string_view kernel);

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
