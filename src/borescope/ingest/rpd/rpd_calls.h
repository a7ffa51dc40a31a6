#pragma once

#include <cstdint>
#include <string_view>

namespace borescope::internal {

// Which rows of rocpd_api are no calls of the runtime.

// Whether a row of rocpd_api is a range or mark of the user, by its name; and whether it is the
// tracer's own work.
bool IsMarkerName(std::string_view api_name);
bool IsTracerName(std::string_view api_name);

}  // namespace borescope::internal
