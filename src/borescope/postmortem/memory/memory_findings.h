// Memory snapshots in a job's folder: read, replayed, and reported as tables and findings.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/postmortem/findings.h"
#include "borescope/postmortem/job_files.h"
#include "borescope/postmortem/memory/oom.h"
#include "borescope/postmortem/program_line.h"
#include "borescope/postmortem/trace_join.h"

namespace borescope::internal::postmortem {

struct MemoryRequest {
  std::optional<ByteRange> limit = {};  // what the process may reserve, where the user says so
  std::chrono::nanoseconds fix_time = std::chrono::seconds(20);  // for replays of changes, together
  // The table memory_areas, for pages: about so many rows of each device; 0: there is none.
  size_t area_rows = 0;
  // The table memory_map, for pages: at most so many rows of each moment of a device; 0: none.
  size_t map_rows = 0;
  // There is nothing but snapshots: what is in them is said also where nothing failed.
  bool is_alone = false;
  // Called with the stored bytes that were read; may be empty.
  std::function<void(uint64_t done)> progress = {};
};

// What was made of some files: findings, and a row for each file in the order of `files`.
struct MemoryPart {
  SourceFindings found = {};
  std::vector<JobFileRow> files = {};
  // The last allocations of each device with a rank, before its last failure if there is one: what
  // profiles have as well (trace_join.h).
  std::vector<AllocationMark> marks = {};
  bool has_failed = false;  // a file that should have been readable was not
};

// `files` are of the kind kMemorySnapshot. One after the other, as each may be large.
MemoryPart FindMemory(std::span<const JobFile> files, const MemoryRequest& request,
                      const LineFinder& lines);

// The tables that there may be, without rows.
std::vector<Table> MemoryShape();

}  // namespace borescope::internal::postmortem
