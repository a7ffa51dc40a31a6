#include "borescope/ingest/recording/torch_operators.h"

#include <algorithm>
#include <tuple>

namespace borescope::internal {
namespace {

constexpr std::string_view kEvaluate = "autograd::engine::evaluate_function: ";
constexpr std::string_view kAten = "aten::";

// PyTorch writes a node of the backward pass twice: the engine's call of it, and the node itself.
bool RunsBackward(std::string_view name, std::string_view around) {
  if (name.starts_with(kEvaluate)) {
    return true;
  }
  const size_t end = name.find_last_not_of("0123456789");
  const bool is_node =
      end != std::string_view::npos && name.substr(0, end + 1).ends_with("Backward");
  return is_node || (around.starts_with(kEvaluate) && around.substr(kEvaluate.size()) == name);
}

}  // namespace

bool TorchOperators::IsOperator(const OperatorText& op, std::string_view around) {
  const bool is_within_namesake =
      around.starts_with(kAten) && around.substr(kAten.size()) == op.name;  // "detach"
  return op.sequence != kMissing || !op.sizes.empty() || op.name.find("::") < op.name.size() ||
         is_within_namesake || op.name == "record_param_comms";
}

void TorchOperators::Add(const OperatorText& op, uint32_t detail, int64_t ts_ns, uint32_t tid,
                         std::string_view around) {
  if (op.sequence != kMissing) {
    operators_.push_back({op.sequence, ts_ns, tid, detail, RunsBackward(op.name, around)});
  }
}

void TorchOperators::Finish() {
  std::sort(operators_.begin(), operators_.end(), [](const Numbered& a, const Numbered& b) {
    return std::tie(a.sequence, a.ts_ns, a.detail) < std::tie(b.sequence, b.ts_ns, b.detail);
  });
  const Numbered* forward = nullptr;
  for (const Numbered& op : operators_) {
    if (!op.is_backward) {
      forward = &op;
    } else if (forward != nullptr && forward->sequence == op.sequence) {
      trace_.data().ops.forward_thread[op.detail] = forward->tid;
    }
  }
  operators_.clear();
}

}  // namespace borescope::internal
