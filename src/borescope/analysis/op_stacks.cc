#include "borescope/analysis/op_stacks.h"

#include <fmt/format.h>

#include <algorithm>

namespace borescope {
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

std::vector<HostId> OpsAround(const RankView& view, HostId id) {
  std::vector<HostId> ops;
  while (id.valid() && ops.size() < kDeepest) {
    id = view.index.tree.parent[id.value];
    if (id.valid() && view.trace.host().kind[id.value] == HostKind::kOp) {
      ops.push_back(id);
    }
  }
  std::reverse(ops.begin(), ops.end());
  return ops;
}

std::string NamesAsJson(const Trace& trace, const std::vector<HostId>& rows) {
  std::string out = "[";
  for (const HostId row : rows) {
    out.append(out.size() == 1 ? "" : ", ").append(JsonString(trace.Name(row)));
  }
  return out += "]";
}

}  // namespace borescope
