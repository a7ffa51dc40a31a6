// What is inside a Partial, and parts of answers as files in a folder.
#pragma once

#include <functional>
#include <string>

#include "borescope/engine/partial/partial_data.h"
#include "borescope/partial.h"
#include "borescope/run.h"

namespace borescope {

struct PartialAccess {
  static Partial Make(internal::PartialData partial);
  static const internal::PartialData& Inside(const Partial& partial);
};

// What is left in a file, and how large it is; an error where the system does not say that.
Result<PartFile> DescribePart(const Partial& partial, const std::string& path, bool was_kept);

// Writes what `map` gives to the file at `path`; it looks as old as the beginning of its map, so
// that a trace which is written meanwhile is newer. The folder of the file is made where it is
// missing.
Result<PartFile> MapToFile(const std::string& path, const std::function<Result<Partial>()>& map);

}  // namespace borescope
