// Dumps of the flight recorder in a job's folder: read, given to ranks, analysed and reported.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/postmortem/findings.h"
#include "borescope/postmortem/job_files.h"
#include "borescope/postmortem/program_line.h"

namespace borescope::internal {

struct HangRequest {
  int32_t world = 0;  // number of ranks; 0: what the dumps say
  int threads = 1;
  // Called with the stored bytes that were read, never from two threads at once; may be empty.
  std::function<void(uint64_t done)> progress = {};
  // Whether diagnostics are about that rank; empty: about all. The findings are of the whole job.
  std::function<bool(int64_t rank)> says_of = {};

  bool SaysOf(int64_t rank) const { return !says_of || says_of(rank); }
};

// What was made of some files: findings, and a row for each file in the order of `files`.
struct HangPart {
  SourceFindings found;
  std::vector<JobFileRow> files;
  bool has_failed = false;  // a file that should have been readable was not
};

// `files` are of the kind kFlightRecorder.
Result<HangPart> FindHang(std::span<const JobFile> files, const HangRequest& request,
                          const LineFinder& lines);

}  // namespace borescope::internal
