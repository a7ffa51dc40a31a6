#include "borescope/ingest/kineto/kineto_roles.h"

#include <algorithm>
#include <iterator>

namespace borescope::internal {
namespace {

struct RoleRow {
  std::string_view category;
  EventRole role;
};

// Every category of kineto_format 6, capitalised ones of 2021-2022 included.
constexpr RoleRow kRoles[] = {
    {"cpu_op", EventRole::kOp},
    {"Operator", EventRole::kOp},
    {"hpu_op", EventRole::kOp},
    {"user_annotation", EventRole::kAnnotation},
    {"python_function", EventRole::kPython},
    {"cuda_runtime", EventRole::kRuntime},
    {"cuda_driver", EventRole::kRuntime},
    {"Runtime", EventRole::kRuntime},
    {"xpu_runtime", EventRole::kRuntime},
    {"xpu_driver", EventRole::kRuntime},
    {"mtia_runtime", EventRole::kRuntime},
    {"privateuse1_runtime", EventRole::kRuntime},
    {"privateuse1_driver", EventRole::kRuntime},
    {"glow_runtime", EventRole::kRuntime},
    {"kernel", EventRole::kKernel},
    {"Kernel", EventRole::kKernel},
    {"mtia_ccp_events", EventRole::kKernel},
    {"gpu_memcpy", EventRole::kMemcpy},
    {"Memcpy", EventRole::kMemcpy},
    {"gpu_memset", EventRole::kMemset},
    {"Memset", EventRole::kMemset},
    {"cuda_sync", EventRole::kSync},
    {"xpu_sync", EventRole::kSync},
    {"gpu_user_annotation", EventRole::kDeviceAnnotation},
    {"cuda_event", EventRole::kDeviceOther},
    {"cuda_profiler_range", EventRole::kProfilerRange},
    {"xpu_scope_profiler", EventRole::kDeviceOther},
    {"graph_event_node", EventRole::kDeviceOther},
    {"graph_host_node", EventRole::kDeviceOther},
    {"collective_comm", EventRole::kDeviceOther},
    {"Trace", EventRole::kProfilerSpan},
};

}  // namespace

EventRole RoleOfCategory(std::string_view category) {
  const auto* row = std::find_if(std::begin(kRoles), std::end(kRoles),
                                 [&](const RoleRow& r) { return r.category == category; });
  return row == std::end(kRoles) ? EventRole::kOther : row->role;
}

}  // namespace borescope::internal
