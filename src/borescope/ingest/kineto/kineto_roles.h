// The kind of row for events of a category.
#pragma once

#include <cstdint>
#include <string_view>

namespace borescope::internal {

enum class EventRole : uint8_t {
  kUnknown,  // not looked up yet
  kOp,
  kAnnotation,
  kPython,
  kRuntime,
  kKernel,
  kMemcpy,
  kMemset,
  kSync,
  kDeviceAnnotation,
  kProfilerRange,
  kDeviceOther,
  kProfilerSpan,
  kOther,
};

// kOther for an unknown category; never kUnknown. Any thread.
EventRole RoleOfCategory(std::string_view category);

}  // namespace borescope::internal
