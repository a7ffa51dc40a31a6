#include "borescope/analysis/measures/stacks/op_stacks.h"

#include <fmt/format.h>

#include <algorithm>

#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

constexpr size_t kDeepest = 256;

std::string JsonString(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  return out += '"';
}

}  // namespace

OpStacks::OpStacks(const RankView& view)
    : op_above_(view.trace.host().all_size()), top_op_(view.trace.host().all_size()) {
  for (uint32_t row = 0; row < op_above_.size(); ++row) {
    CheckStopAt(row);
    const HostId parent = view.index.tree.parent[row];
    if (parent.valid()) {
      const bool is_op = view.trace.host().kind[parent.value] == HostKind::kOp;
      op_above_[row] = is_op ? parent : op_above_[parent.value];
      const HostId top = top_op_[parent.value];
      top_op_[row] = top.valid() ? top : op_above_[row];
    }
  }
}

std::vector<HostId> OpStacks::Around(HostId id) const {
  std::vector<HostId> ops;
  while (id.valid() && ops.size() < kDeepest) {
    id = op_above_[id.value];
    if (id.valid()) {
      ops.push_back(id);
    }
  }
  std::reverse(ops.begin(), ops.end());
  return ops;
}

std::string NamesAsJson(const Trace& trace, const std::vector<HostId>& rows) {
  std::string out = "[";
  for (const HostId row : rows) {
    out += out.size() == 1 ? "" : ", ";
    const std::string_view name = trace.Name(row);
    const std::string json = name.size() < kMostJsonBytes ? JsonString(name) : "";
    if (json.empty() || out.size() + json.size() > kMostJsonBytes) {
      out += "\"…\"";
      break;
    }
    out += json;
  }
  return out += "]";
}

}  // namespace borescope::internal
