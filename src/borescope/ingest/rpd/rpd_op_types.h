// The types of device work in an .rpd file, by one table.
#pragma once

#include <string_view>

#include "borescope/trace/tables.h"

namespace borescope::internal {

struct RpdOpType {
  DeviceKind kind = DeviceKind::kKernel;
  bool is_cuda = false;   // written by the CUPTI source: its stream is in sequenceId
  bool is_known = false;  // else a kernel, as a default
};

// `op_type` is the text of rocpd_op.opType_id.
RpdOpType FindRpdOpType(std::string_view op_type);

// "Memcpy HtoD" for a copy whose type does not contain the direction, by the kind that its call
// recorded (cudaMemcpyKind); `name` if neither does.
std::string_view RpdCopyName(std::string_view name, int64_t copy_kind);

}  // namespace borescope::internal
