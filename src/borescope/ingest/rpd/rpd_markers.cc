#include "borescope/ingest/rpd/rpd_markers.h"

#include <algorithm>
#include <iterator>

namespace borescope::internal {

bool IsMarkerName(std::string_view api_name) { return api_name == "UserMarker"; }

bool IsTracerName(std::string_view api_name) {
  constexpr std::string_view kNames[] = {"hcc_activity_callback", "rpdflush", "BLOCKING"};
  return std::find(std::begin(kNames), std::end(kNames), api_name) != std::end(kNames) ||
         api_name.ends_with("::writeRows") || api_name.ends_with("::buffer_callback");
}

}  // namespace borescope::internal
