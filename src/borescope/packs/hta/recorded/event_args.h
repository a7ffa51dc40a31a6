// The arguments of events that HolisticTraceAnalysis keeps by default, in the order of the columns
// of its frames.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "borescope/table/table.h"

namespace borescope::internal {

enum class HtaArgType : uint8_t {
  kInt,
  kFloat,
  kValue,  // anything, as JSON text
};

struct HtaArg {
  std::string_view column;
  std::string_view key;  // in "args"
  HtaArgType type = HtaArgType::kInt;
  int64_t default_number = -1;          // of events without it
  std::string_view default_value = {};  // kValue: likewise
  std::string_view doc;
};

std::span<const HtaArg> HtaArgs();

}  // namespace borescope::internal
