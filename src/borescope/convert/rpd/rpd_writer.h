// A trace as a rocmProfileData database (.rpd), schema 3.
#pragma once

#include <string>

#include "borescope/convert/convert.h"

namespace borescope::internal {

// Writes to `path`, an empty file. Host events become rows of rocpd_api (operators and annotations
// as UserMarker, with their name in args), device work rows of rocpd_op, samples rows of
// rocpd_monitor; the format cannot represent anything else. Several traces share their texts, and
// rocpd_metadata has a row for each, "source::N". Errors are of kind kIo or kCorrupt and name
// `path`.
Result<std::unique_ptr<ConvertWriter>> OpenRpd(const std::string& path);
Result<ConvertCounts> WriteRpd(const ConvertInput& input, const std::string& path);

}  // namespace borescope::internal
