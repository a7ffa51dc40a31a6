// A trace as a rocmProfileData database (.rpd), schema 3.
#pragma once

#include <string>

#include "borescope/convert/convert.h"

namespace borescope::internal {

// Writes to `path`, an empty file. Host events become rows of rocpd_api (operators and annotations
// as UserMarker, which hold their name in args), device work rows of rocpd_op, samples of
// rocpd_monitor; for anything else the format has no place. Several traces share their texts, and
// rocpd_metadata has a row for each, "source::N". Errors are of kind kIo or kCorrupt and name
// `path`.
Result<std::unique_ptr<ConvertWriter>> OpenRpd(const std::string& path);
Result<ConvertCounts> WriteRpd(const ConvertInput& input, const std::string& path);

}  // namespace borescope::internal
