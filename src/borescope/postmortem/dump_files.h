// Dumps of the flight recorder in a job's folder: read, and given to ranks. Reads files.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "borescope/diagnostic.h"
#include "borescope/ingest/flight_recorder/flight_dump.h"
#include "borescope/postmortem/findings.h"
#include "borescope/postmortem/job_files.h"

namespace borescope::internal {

// A dump, and what is known of its file. The rank is that of the file's name, if that can be.
struct DumpFile {
  const JobFile* file = nullptr;
  JobFileRow row;  // of an older attempt, or where another one of its rank counts: "ignored"
  std::optional<FlightDump> dump = {};     // nothing if it was refused
  std::optional<Diagnostic> refusal = {};  // why it was

  bool Counts() const { return dump.has_value() && row.status != "ignored"; }
};

struct DumpFiles {
  std::vector<DumpFile> files;  // in the order given
  std::vector<Diagnostic> diagnostics;
  // The numbers in their names are places on nodes: node0/trace_0, node1/trace_0.
  bool are_names_local = false;
  bool has_failed = false;  // one that should have been readable was not
};

// `files` are of the kind kFlightRecorder, and outlive what is returned. `progress` is called with
// the stored bytes that were read, never from two threads at once; it may be empty.
DumpFiles ReadDumpFiles(std::span<const JobFile> files, int threads,
                        const std::function<void(uint64_t done)>& progress = {});

}  // namespace borescope::internal
