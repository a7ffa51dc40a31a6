// Whether two recordings are copies of one, also where only one of them is here.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "borescope/base/result.h"

namespace borescope::internal {

struct ContentDigest {
  uint64_t bytes = 0;
  uint64_t digest = 0;  // FNV-1a of 64 bits: the same on every machine

  bool operator==(const ContentDigest&) const = default;
};

// Of the files of one recording, one after the other. kIo where one of them cannot be read.
Result<ContentDigest> DigestOfFiles(std::span<const std::string> paths);

}  // namespace borescope::internal
