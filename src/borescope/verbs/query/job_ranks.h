// What a dead job left among the files of a run, for SQL: dumps and memory snapshots by rank, and
// logs.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/diagnostic.h"
#include "borescope/engine/inputs/run_options.h"
#include "borescope/index/trace_index.h"
#include "borescope/postmortem/job_files.h"
#include "borescope/query/job_data.h"
#include "borescope/query/relations/relation.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

class JobRanks {
 public:
  // The dumps, snapshots and texts among the files of a run, which are not read yet. Where there is
  // a dump or a snapshot in a folder, its subfolders are searched, too. Files that cannot be opened
  // are left to who loads traces. Errors as of FindJobFilesOf.
  static Result<JobRanks> Find(const RunOptions& options);

  // Whether there is a dump or a snapshot.
  bool HasData() const { return !dumps_.empty() || !snapshots_.empty(); }
  // Files of which reading failed before it was known what they are. Traces may be among them.
  std::span<const JobFile> unknown() const { return unknown_; }
  // Whether a file of the run is one of these: no trace is there.
  bool Holds(const std::string& path) const;

  // Reads dumps and snapshots, of the ranks that were asked for. What is odd is in `diagnostics`.
  // Stops as stop.h says.
  Result<void> Read(const RunOptions& options, std::vector<Diagnostic>& diagnostics);

  // Whether a log says something, and whether something about a rank that was asked for: read the
  // logs now. REQUIRES: Read.
  bool HasFindings() const;
  bool HasFindingsOf(const NumberRanges& ranks) const;

  // What is odd about logs; empty until they were read.
  const std::vector<Diagnostic>& late() const { return late_->diagnostics; }

  // Gives ranks their data, and adds those of which there is nothing else; in the order of ranks.
  // This has to outlive them, and to stay where it is.
  void AddTo(std::vector<query::RankData>& ranks);

 private:
  std::vector<query::JobSource> ReadSources(const RunOptions& options,
                                            std::vector<Diagnostic>& diagnostics) const;

  // What is known once logs were read.
  struct Late {
    std::vector<Diagnostic> diagnostics;
    bool has_findings = false;  // of any rank
  };

  struct OfRank {
    int64_t rank = 0;  // kMissing: not known; these come first
    std::string first_file;
    std::unique_ptr<query::JobData> data;
  };

  std::vector<JobFile> dumps_;
  std::vector<JobFile> snapshots_;
  std::vector<JobFile> texts_;
  std::vector<JobFile> unknown_;
  UnsearchedPlaces left_out_;
  std::vector<OfRank> ranks_;
  std::shared_ptr<Late> late_ = std::make_shared<Late>();
  // Of ranks without a trace.
  std::unique_ptr<Trace> no_trace_;
  std::unique_ptr<TraceIndex> no_index_;
  std::unique_ptr<Diagnostics> nothing_odd_;
};

}  // namespace borescope::internal
