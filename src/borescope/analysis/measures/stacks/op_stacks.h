// The operators around a host row, as columns show them.
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
  // Linear in the host rows.
  explicit OpStacks(const RankView& view);

  // The innermost and the outermost operator around `id`; invalid if there is none, or no `id`.
  HostId Innermost(HostId id) const { return id.valid() ? op_above_[id.value] : HostId{}; }
  HostId Outermost(HostId id) const { return id.valid() ? top_op_[id.value] : HostId{}; }

  // The operators around `id`, outermost first; none for an invalid id. Of stacks deeper than any
  // framework makes them, the innermost 256.
  std::vector<HostId> Around(HostId id) const;

 private:
  std::vector<HostId> op_above_;  // per host row: the nearest operator around it
  std::vector<HostId> top_op_;    // per host row: the outermost one
};

inline constexpr size_t kMostJsonBytes = 4096;

// The names of rows as a JSON array: ["aten::conv2d", "aten::convolution"]. "…" stands for the
// names from the first one on that makes it longer than kMostJsonBytes.
std::string NamesAsJson(const Trace& trace, const std::vector<HostId>& rows);

// Which function made a call, by the stack recorded with it.

// The function from which a call was made: the innermost frame that is outside of the call itself
// and is neither unnamed ("[libcuda.so]"), nor of the C++ library, nor of those whose names are
// reserved for implementations (with a leading underscore). `inside` is the call whose stack it is,
// `call` itself or one inside it, whose stack counts only if the name of `call` is in it. Invalid
// if there is none.
StringId CallerOf(const Trace& trace, HostId call, HostId inside);

// The same, from the first stack of the call and of those inside it, which end before row `end`.
StringId CallerOf(const Trace& trace, HostId call, uint32_t end);

// "write" is in "__write" and "int write<char>(void*)", but not in "rewrite".
bool IsNameOf(std::string_view function, std::string_view call);

// Host and device time per operator; see ops.cc for the definitions.

// The name under which device work without an operator is listed.
inline constexpr std::string_view kNoOperator = "(no operator)";

}  // namespace borescope::internal
