// What `rocpd_api.category` says in files that `convert` writes. The tracer of rocmProfileData
// leaves it empty, and a marker is then what its text looks like.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "borescope/trace/tables.h"

namespace borescope::internal {

struct RpdCategory {
  HostKind kind = HostKind::kOther;
  // Of an operator, as Ops::forward_thread: above 0 in the backward pass. The texts of markers have
  // no place for it.
  int64_t forward_thread = kMissing;

  friend bool operator==(const RpdCategory&, const RpdCategory&) = default;
};

// "cpu_op", "cpu_op, fwd_thread = 1", "user_annotation", ...
std::string TextOf(const RpdCategory& category);

// The inverse; nothing for texts of others.
std::optional<RpdCategory> ParseRpdCategory(std::string_view text);

}  // namespace borescope::internal
