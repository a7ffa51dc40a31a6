// Parses the text of an NVTX range. PyTorch's emit_nvtx() writes its operators as ranges "aten::mm,
// seq = 5, op_id = 9, sizes = [[64, 32], []]", and XLA, the compiler of JAX, the modules and
// operations that it runs as "XlaModule:#hlo_module=jit_step,program_id=5#" and
// "Thunk:#name=jit(step)/dot_general,hlo_op=fusion.2,unique_hlo_op_id=9#"; all other texts are
// names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "borescope/trace/trace_builder.h"

namespace borescope::internal {

struct OperatorText {
  std::string_view name;        // "aten::mm"
  int64_t sequence = kMissing;  // autograd sequence number
  int64_t op_id = kMissing;     // PyTorch's number of the call, since 1.12; no rf_id
  std::string_view sizes;       // shapes of the inputs, "[[64, 32], []]"; empty if not recorded
};

// The operator that a text describes, or nothing if it is not a PyTorch operator.
std::optional<OperatorText> ParseOperatorText(std::string_view text);

// A range of XLA: either an operation, or something that is none.
struct XlaText {
  // A module that runs, "jit_step", or what the compiler does: "XlaPass:dce",
  // "XlaCompile:jit_step". Empty for an operation.
  std::string annotation;
  std::string_view operation;  // "fusion.2", unique in its module
  std::string_view scope;  // where the program asked for it, "jit(step)/dot_general"; may be empty
};

// What a range of XLA is about, or nothing for any other text. Numbers of programs are left out, so
// that the same work has the same name. Takes time proportional to the length of texts that begin
// so.
std::optional<XlaText> ParseXlaText(std::string_view text);

// Adds the detail of an operator and returns its row.
uint32_t AddOperator(TracePart& part, const OperatorText& op);

}  // namespace borescope::internal
