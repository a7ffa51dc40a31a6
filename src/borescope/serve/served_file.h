// The one file that a server gives, and under which name.
#pragma once

#include <string>
#include <string_view>

#include "borescope/base/io/stored_bytes.h"
#include "borescope/base/result.h"

namespace borescope::internal {

struct ServedFile {
  StoredBytes bytes;
  std::string path;          // "/0f…e3/rank-0.json.gz", from MakeSecretPath
  std::string content_type;  // "application/json"
  // Pages of this origin ("https://ui.perfetto.dev") may read it; empty: no other page may.
  std::string reader;
};

// A path that nobody can guess (128 random bits), which ends in `name`: its letters, digits, dots,
// dashes and underscores, anything else as an underscore, so that no URL needs escapes. kIo where
// the system has no random numbers.
Result<std::string> MakeSecretPath(std::string_view name);

}  // namespace borescope::internal
