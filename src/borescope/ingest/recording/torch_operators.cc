#include "borescope/ingest/recording/torch_operators.h"

#include <algorithm>
#include <tuple>

namespace borescope::internal {
namespace {

constexpr std::string_view kEvaluate = "autograd::engine::evaluate_function: ";
constexpr std::string_view kAten = "aten::";

// Whether the engine's call is around the node of this name.
bool IsCallOf(std::string_view around, std::string_view name) {
  return around.starts_with(kEvaluate) && around.substr(kEvaluate.size()) == name;
}

// Old versions of PyTorch write nodes alone.
bool IsNode(std::string_view name) {
  const size_t end = name.find_last_not_of("0123456789");
  return end != std::string_view::npos && name.substr(0, end + 1).ends_with("Backward");
}

}  // namespace

bool TorchOperators::IsOperator(const OperatorText& op, std::string_view around) {
  const bool is_within_namesake =
      around.starts_with(kAten) && around.substr(kAten.size()) == op.name;  // "detach"
  return op.sequence != kMissing || !op.sizes.empty() || op.name.find("::") < op.name.size() ||
         is_within_namesake || op.name == "record_param_comms";
}

void TorchOperators::Add(const OperatorText& op, uint32_t detail, int64_t ts_ns, uint32_t tid,
                         const Around& around) {
  if (op.sequence == kMissing) {
    return;
  }
  const bool is_called = around.detail != kNoDetail && IsCallOf(around.name, op.name);
  operators_.push_back({op.sequence, ts_ns, tid, detail, is_called || IsNode(op.name)});
  if (is_called) {
    trace_.data().ops.sequence[around.detail] = op.sequence;
    operators_.push_back({op.sequence, ts_ns, tid, around.detail, true});
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
