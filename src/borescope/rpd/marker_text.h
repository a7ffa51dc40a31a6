// The text of a marker (`UserMarker`) in an .rpd file, as PyTorch's NVTX and ROCTX observer writes
// it for its operators: "aten::mm, seq = 12, op_id = 34, sizes = [[2, 3], []], input_op_ids =
// [(30,0), (0,-1)]". Each part after the name may be missing; any other text is an annotation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "borescope/trace/tables.h"

namespace borescope::internal {

// What `rocpd_api.category` says in files that `convert` writes. The tracer of rocmProfileData
// leaves it empty, and a marker is then what its text looks like.

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

struct MarkerText {
  std::string_view name;
  bool is_operator = false;               // the text says so: it has details, or names of ATen
  int64_t sequence = kMissing;            // "seq"
  int64_t record_function_id = kMissing;  // "op_id"
  std::string_view sizes;                 // "[[2, 3], []]"; empty: not recorded
};

// Views `text`. Takes time proportional to its length.
MarkerText ParseMarker(std::string_view text);

// What ParseMarker reads after a name, "" if nothing is known: ", seq = 12, op_id = 34, sizes = …,
// input_op_ids = []". The number of the call is 0 if it is not known, and no inputs are named:
// rocmProfileData's `rocpd.autograd` reads no texts without them. Sizes that are not lists of
// numbers, which PyTorch never writes, or longer than 16 KiB are left out.
std::string MarkerDetails(const MarkerText& marker);

// Whether two calls hardly have the same details.
inline bool IsOfOneCall(const MarkerText& marker) {
  return marker.sequence >= 0 || marker.record_function_id > 0;
}

// Texts longer than this are stored once, however many calls have them, and so are names: many rows
// of a small file may share a long one.
inline constexpr size_t kLongText = 1024;

// Whether a name cannot begin a text: it is long, or holds what is read as details.
bool NeedsOwnPlace(std::string_view name);

// Ids of rows that are not runtime calls count from 2^31 in each session: markers, ranges and the
// tracer's own work. Calls have the correlation number of the runtime.
inline bool IsMarkerId(int64_t api_id) {
  return (static_cast<uint64_t>(api_id) & 0xffffffffU) > 0x80000000U;
}

}  // namespace borescope::internal
