// Clocks of the files that `convert` joins, by the collectives that their ranks did together.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/convert.h"
#include "borescope/engine/inputs/input_files.h"

namespace borescope::internal {

struct FileAlignment {
  AlignedFile report;
  // To be added to its times for those of the clock of the rank `reference`. Files of one
  // `clock_name` have one clock as recorded, and keep it.
  int64_t offset_ns = 0;
  std::string clock_name;
  bool is_known = false;
  int64_t moved_ns =
      0;  // by how much its clock moves in the recording, which one offset cannot fix
};

// By path. kMissingData where no collective is in two of the files.
Result<std::map<std::string, FileAlignment>> AlignFiles(const std::vector<InputFile>& files,
                                                        const ConvertOptions& options);

}  // namespace borescope::internal
