// The text of a marker in an .rpd file. Frameworks mark their operators: "aten::mm, seq = 12,
// op_id = 34, sizes = [[2, 3], []], input_op_ids = [...]"; any other text is an annotation.
#pragma once

#include <cstdint>
#include <string_view>

#include "borescope/trace/tables.h"

namespace borescope::internal {

struct MarkerText {
  std::string_view name;
  bool is_operator = false;
  int64_t sequence = kMissing;            // "seq"
  int64_t record_function_id = kMissing;  // "op_id"
  std::string_view sizes;                 // "[[2, 3], []]"; empty: not recorded
};

// Views `text`.
MarkerText ParseMarker(std::string_view text);

// Whether a row of rocpd_api is a range or mark of the user, by its name; and whether it is the
// tracer's own work.
bool IsMarkerName(std::string_view api_name);
bool IsTracerName(std::string_view api_name);

// Ids of rows that are not runtime calls count from 2^31 in each session: markers, ranges and the
// tracer's own work. Calls have the correlation number of the runtime.
inline bool IsMarkerId(int64_t api_id) {
  return (static_cast<uint64_t>(api_id) & 0xffffffffU) > 0x80000000U;
}

}  // namespace borescope::internal
