// What conversions take and report, from outside in and back. Internal to api/.
#pragma once

#include <span>
#include <string>

#include "borescope/convert.h"
#include "borescope/verbs/convert/convert_run.h"

namespace borescope {

// Without an output.
internal::ConvertOptions InsideConvert(std::span<const std::string> inputs,
                                       const ConvertOptions& options);
ConvertReport PublicReport(const internal::ConvertReport& report);

}  // namespace borescope
