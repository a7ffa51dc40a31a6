// The folder of a run and the logs in it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/recording/log_format.h"

namespace borescope::internal {

// Makes the folder, for its owner alone. If it exists and holds nothing but a recording, `replaces`
// deletes that first. kIo or kInvalidArgument, with the remedy, otherwise.
Result<void> MakeRunFolder(const std::string& folder, bool replaces);

// A log by its header.
struct LogFile {
  std::string name;  // without the folder
  recording::LogHeader header;
  uint64_t bytes = 0;
  bool is_alive = false;  // its process still runs on this machine

  bool is_sealed() const { return (header.flags & recording::kSealed) != 0; }
  bool is_launchers() const { return (header.flags & recording::kIsLauncher) != 0; }
};

// All logs, sorted by name. Files that are none are ignored. kIo if the folder or a log cannot be
// read.
Result<std::vector<LogFile>> ListLogs(const std::string& folder);

// Notes in logs whose processes have ended on this machine that no more comes. What cannot be
// changed stays as it is.
void SealEnded(const std::string& folder, const std::vector<LogFile>& logs);

}  // namespace borescope::internal
