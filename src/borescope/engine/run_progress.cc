#include "borescope/engine/run_progress.h"

namespace borescope::internal {

Progress ProgressAtStart(std::span<const InputFile> files) {
  Progress whole;
  whole.total_files = files.size();
  for (const InputFile& file : files) {
    whole.total_bytes += file.bytes;
  }
  return whole;
}

RunOptions OptionsOfPart(const RunOptions& options, const Progress& before, const Progress& after) {
  RunOptions part = options;
  if (options.progress) {
    part.progress = [&options, before, after](const Progress& own) {
      options.progress({before.total_bytes + own.done_bytes,
                        before.total_bytes + own.total_bytes + after.total_bytes,
                        before.total_files + own.done_files,
                        before.total_files + own.total_files + after.total_files});
    };
  }
  return part;
}

}  // namespace borescope::internal
