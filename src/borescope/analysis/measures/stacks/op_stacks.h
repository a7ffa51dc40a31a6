// The operators around a host row, and the function that made a call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/base/id.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// Safe from any thread. The view must outlive it.
class OpStacks {
 public:
  // O(host rows).
  explicit OpStacks(const RankView& view);

  // The innermost and the outermost operator around `id`; invalid if there is none, or `id` is
  // invalid.
  HostId Innermost(HostId id) const { return id.valid() ? op_above_[id.value] : HostId{}; }
  HostId Outermost(HostId id) const { return id.valid() ? top_op_[id.value] : HostId{}; }

  // The operators around `id`, outermost first; none for an invalid id. The innermost 256 of stacks
  // that are deeper than any framework makes them.
  std::vector<HostId> Around(HostId id) const;

 private:
  std::vector<HostId> op_above_;  // per host row: the nearest operator around it
  std::vector<HostId> top_op_;    // per host row: the outermost one
};

inline constexpr size_t kMostJsonBytes = 4096;

// The names of rows as a JSON array: ["aten::conv2d", "aten::convolution"]. "…" replaces the first
// name that would make it longer than kMostJsonBytes, and all after it.
std::string NamesAsJson(const Trace& trace, const std::vector<HostId>& rows);

// The function from which a call was made, by a stack recorded with it: the innermost frame outside
// of the call itself that has a name (not "[libcuda.so]"), and is neither of the C++ library nor
// reserved for implementations (with a leading underscore). `inside`: the call with the stack,
// which is `call` itself or one inside it; the latter's stack counts only if it contains the name
// of `call`. Invalid if there is none.
StringId CallerOf(const Trace& trace, HostId call, HostId inside);

// The same, from the first stack of the call and of those inside it, which end before row `end`.
StringId CallerOf(const Trace& trace, HostId call, uint32_t end);

// "write" is in "__write" and "int write<char>(void*)", but not in "rewrite".
bool IsNameOf(std::string_view function, std::string_view call);

// The name under which device work without an operator is listed.
inline constexpr std::string_view kNoOperator = "(no operator)";

}  // namespace borescope::internal
