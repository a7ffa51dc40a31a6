// What a job that hung, died or ran out of memory left behind, and why it did
// (docs/use/postmortem.md).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "borescope/answer.h"
#include "borescope/error.h"
#include "borescope/export.h"
#include "borescope/progress.h"
#include "borescope/run.h"
#include "borescope/scrub.h"

namespace borescope {

struct PostmortemOptions {
  int world = 0;                 // number of ranks, where no file says so; 0: as they say
  std::string skip_frames = {};  // a regular expression of files whose frames are never the line
  // Memory that the process may reserve, "1.58GiB" or bytes, where no file says so; empty: unknown.
  std::string limit = {};
  int fix_time = 20;               // seconds for replays of what would have helped
  std::string rank = {};           // only rows of these ranks: "0", "0,3", "2..5"; empty: all
  std::string sort = {};           // the column that every table that has it is sorted by
  std::optional<size_t> top = {};  // rows of each table; nothing: all
  // A page of it for a browser is written to this file, which is none of the inputs; empty: none.
  std::string html = {};
  // Texts of the answer and the page without what may say who, where and with which secrets;
  // nothing: as found. New names are for recordings alone.
  std::optional<ScrubOptions> scrub = {};
  int threads = 0;            // 0: one per processor
  uint64_t memory_limit = 0;  // as OpenOptions::memory_limit
  ProgressCallback progress = {};
  StopToken stop = {};  // ends with kCancelled once it is requested
};

struct PostmortemReport {
  Answer answer;            // tables `postmortem`, `hang_...`, `oom` and more; diagnostics
  bool has_cause = false;   // a cause was found
  bool is_unclear = false;  // nothing was, or who is at fault nobody can say
  bool has_failed = false;  // a file that should have been readable was not
};

// Reads what `paths` hold, files and folders of one job. Tables without rows are left out, but for
// the first two. Errors: kInvalidArgument for options; kIo where a path leads to nothing, or `html`
// cannot be written; kUnsupportedFormat where nothing is readable. Thread-safe.
BORESCOPE_EXPORT Result<PostmortemReport> Postmortem(std::span<const std::string> paths,
                                                     const PostmortemOptions& options = {});

// All tables that there may be, without rows, as DescribeAnswer has those of verbs.
BORESCOPE_EXPORT Answer DescribePostmortem();

}  // namespace borescope
