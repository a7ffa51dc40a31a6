#include "borescope/analysis/measures/stacks/op_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "borescope/base/each_row.h"
#include "borescope/base/stop.h"
#include "borescope/trace/trace.h"

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
  for (const uint32_t row : EachRow(op_above_.size())) {
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

namespace {

// A function without parameters and template arguments, but with its return type: "cudaError
// cudaMalloc".
std::string_view HeadOf(std::string_view function) {
  const size_t end = function.find_first_of("(<");
  return end == 0 || end == std::string_view::npos ? function : function.substr(0, end);
}

bool IsOfImplementation(std::string_view function) {
  std::string_view name = HeadOf(function);
  name.remove_prefix(name.find_last_of(' ') + 1);  // npos + 1 is 0
  return name.empty() || name.starts_with("[") || name.starts_with("_") ||
         name.starts_with("std::");
}

bool IsLetterOrDigit(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

}  // namespace

bool IsNameOf(std::string_view function, std::string_view call) {
  const std::string_view head = HeadOf(function);
  const size_t begin = call.empty() ? std::string_view::npos : head.find(call);
  if (begin == std::string_view::npos) {
    return false;
  }
  const size_t end = begin + call.size();
  return (begin == 0 || !IsLetterOrDigit(head[begin - 1])) &&
         (end == head.size() || (!IsLetterOrDigit(head[end]) && head[end] != '_'));
}

StringId CallerOf(const Trace& trace, HostId call, HostId inside) {
  const StackFrames& frames = trace.stack_frames();
  const auto is_of_call = [&](uint32_t frame) {
    return IsNameOf(trace.Text(frames.name[frame]), trace.Name(call));
  };
  const uint32_t innermost = StackOfCall(trace, inside);
  uint32_t frame = innermost;
  while (frame != kNoDetail && !is_of_call(frame)) {
    frame = frames.parent[frame];
  }
  if (frame == kNoDetail && call.value == inside.value) {
    frame = innermost;  // the stack begins outside of the call
  }
  while (frame != kNoDetail &&
         (is_of_call(frame) || IsOfImplementation(trace.Text(frames.name[frame])))) {
    frame = frames.parent[frame];
  }
  return frame == kNoDetail ? StringId() : frames.name[frame];
}

StringId CallerOf(const Trace& trace, HostId call, uint32_t end) {
  if (trace.call_stacks().size() == 0) {
    return {};
  }
  for (uint32_t row = call.value; row < end; ++row) {
    if (const StringId caller = CallerOf(trace, call, HostId{row}); caller.valid()) {
      return caller;
    }
  }
  return {};
}

}  // namespace borescope::internal
