// PartialData: the answers of some ranks of a run, mapped and not yet reduced, with everything that
// reducing them needs. It can be written (partial_bytes.h), carried to another machine, joined with
// others of the same question (join_partials.h) and reduced as if one process had mapped all files.
//
// A plain value: copy, move and read it from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/base/diagnostics.h"
#include "borescope/base/result.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/engine/inputs/shards.h"
#include "borescope/engine/map_files.h"

namespace borescope::internal {

// The version of the format. A higher minor version can be read, another major version cannot.
inline constexpr uint16_t kPartialMajor = 2;
inline constexpr uint16_t kPartialMinor = 0;

// What every file is asked. Partials of different questions are not joined.
struct MappedQuestion {
  std::vector<const AnalysisSpec*> verbs;
  Params params;       // complete and checked; without run_faults
  NumberRanges ranks;  // empty = all
  // The question of the report (catalog/report_sections.h): verbs without a selection answer for
  // the whole recording, files that the traces name are not read (Pipeline::read_files), and
  // several verbs may have a table of one name.
  bool for_report = false;
  // A question of a check (verbs/check/parts_of_runs.h): its files say which run each is of.
  bool for_check = false;
};

// What a check has to know of a file beside its answers.
struct CheckedFile {
  uint32_t run = 0;      // place of its run among those that were named
  std::string run_name;  // as it was named
  RecordedWindow window;
  // Size and digest of its content: files with both equal are copies of one recording.
  uint64_t bytes = 0;
  uint64_t digest = 0;
};

// What RankPart keeps of a file, without trace, index and drafts, and without times that differ
// from run to run.
struct PartialFile {
  std::string path;  // as FileInfo::path
  bool from_directory = false;
  RankClaim claim;
  int64_t rank = 0;  // provisional: which rank it is becomes clear when all files are known
  uint64_t file_bytes = 0;
  uint64_t text_bytes = 0;
  uint64_t events = 0;
  int64_t begin_ns = 0;
  Diagnostics diagnostics;
  std::optional<Error> load_error;
  bool skipped = false;  // there is a load_error, and the file is none of the run
  std::optional<SelectionMembers> unknown;
  std::vector<Outcome> outcomes;  // one per verb; none where there is a load_error
  GraphRoles graphs;
  std::optional<CheckedFile> checked;  // where the question is of a check
};

struct PartialData {
  uint16_t major = kPartialMajor;
  uint16_t minor = kPartialMinor;
  std::string program_version;  // of the Borescope that wrote it
  MappedQuestion question;
  std::vector<PartialFile> files;  // in the natural order of their paths, each path once
  std::vector<ShardMark> shards;   // ascending, each once; empty where the run was not divided
  // Answers of the same files to further questions, each without parts and further ones of its own.
  std::vector<PartialData> further = {};
  std::string name;  // what messages call it; no part of its bytes
};

}  // namespace borescope::internal
