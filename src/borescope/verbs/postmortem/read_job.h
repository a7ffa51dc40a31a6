// Reads the files of a job for a post-mortem: dumps, snapshots, logs and error files, and what the
// profiles that lie beside them say about the times of the findings.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "borescope/analysis/core/params.h"
#include "borescope/base/result.h"
#include "borescope/postmortem.h"
#include "borescope/postmortem/findings.h"
#include "borescope/postmortem/memory/oom.h"
#include "borescope/postmortem/trace_join.h"
#include "borescope/scrub/scrubber.h"

namespace borescope::internal {

struct PostmortemRequest {
  std::vector<std::string> paths;
  PostmortemOptions options;
  NumberRanges ranks;
  std::shared_ptr<Scrubber> scrubber = nullptr;  // nothing: texts stay
};

// What was made of the files of a job.
struct JobContents {
  std::vector<SourceFindings> sources;
  std::vector<AllocationMark> marks;
  std::vector<JobFileRow> files;
  bool has_failed = false;
};

// Rows of a table that the page draws, which has one for each of thousands of ranks.
inline constexpr size_t kMostDrawnRows = 10'000;

// The memory that `text` allows the process; nothing where it is empty, an error where it is no
// size.
Result<std::optional<postmortem::ByteRange>> LimitOf(const std::string& text);

// What the files of the job say, without a file that the page of this request is written over. An
// error where none of them could be read.
Result<JobContents> ReadContents(const PostmortemRequest& request);

}  // namespace borescope::internal
