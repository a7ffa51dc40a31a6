#include "borescope/ingest/rpd/rpd_op_types.h"

#include <algorithm>
#include <iterator>

namespace borescope::internal {
namespace {

struct TypeRow {
  std::string_view start;  // of the type
  DeviceKind kind;
  bool is_cuda;
};

// The first prefix that matches decides.
constexpr TypeRow kTypes[] = {
    {"KernelExecution", DeviceKind::kKernel, false},
    {"Task", DeviceKind::kKernel, false},  // node of a graph
    {"KERNEL_DISPATCH", DeviceKind::kKernel, false},
    {"ConcurrentKernel", DeviceKind::kKernel, true},
    {"Kernel", DeviceKind::kKernel, true},
    {"Copy", DeviceKind::kMemcpy, false},
    {"MEMORY_COPY", DeviceKind::kMemcpy, false},
    {"Memcpy", DeviceKind::kMemcpy, true},
    {"FillBuffer", DeviceKind::kMemset, false},
    {"Memset", DeviceKind::kMemset, true},
};

}  // namespace

RpdOpType FindRpdOpType(std::string_view op_type) {
  const auto* row = std::find_if(std::begin(kTypes), std::end(kTypes), [&](const TypeRow& type) {
    return op_type.starts_with(type.start);
  });
  return row == std::end(kTypes) ? RpdOpType() : RpdOpType{row->kind, row->is_cuda, true};
}

std::string_view RpdCopyName(std::string_view name, int64_t copy_kind) {
  constexpr std::string_view kNames[] = {"Memcpy HtoH", "Memcpy HtoD", "Memcpy DtoH",
                                         "Memcpy DtoD"};
  const bool tells = name != "Memcpy" || copy_kind < 0 || copy_kind >= std::ssize(kNames);
  return tells ? name : kNames[copy_kind];
}

}  // namespace borescope::internal
