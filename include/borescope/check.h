// Whether runs keep their budgets, and whether they are slower than a baseline (docs/use/check.md).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "borescope/answer.h"
#include "borescope/error.h"
#include "borescope/export.h"
#include "borescope/partial.h"
#include "borescope/progress.h"
#include "borescope/question.h"
#include "borescope/run.h"

namespace borescope {

// kCannotTell: too few runs to say whether something changed. kVoid: the recordings are not as good
// as the budget file asks for, so that no number counts.
enum class CheckStatus : uint8_t { kKept, kBroken, kCannotTell, kVoid };
BORESCOPE_EXPORT std::string CheckStatusName(CheckStatus status);  // "cannot tell"

struct CheckOptions {
  std::string budget = {};  // file in TOML; empty: none
  // Runs to compare with, each a file, a folder or a glob; or what `save_baseline` wrote, or a
  // folder of that.
  std::vector<std::string> baseline = {};
  // Runs of one unchanged program, likewise: how much runs differ, where there are too few.
  std::vector<std::string> history = {};
  double fail = 0.03;   // a change of time that matters, as a part of the baseline
  bool all = false;     // every class and kernel decides, not the time of the step alone
  bool force = false;   // compare runs on other devices, or with another amount of work
  bool strict = false;  // in the reports, what cannot be said is a failure
  // Files to write, each complete or not at all; empty: none.
  std::string save_baseline = {};
  std::string junit = {};
  std::string sarif = {};  // 2.1.0
  std::string markdown = {};
  std::string html = {};                   // a page for a browser, as that of Run::Report
  Question question = "check";             // with the parameters that select, and `plain_step`
  std::vector<std::string> captures = {};  // as OpenOptions::captures
  int threads = 0;                         // 0: one per processor
  uint64_t memory_limit = 0;               // as OpenOptions::memory_limit
  ProgressCallback progress = {};
  StopToken stop = {};  // ends with kCancelled, and without outputs, once it is requested
};

struct CheckReport {
  CheckStatus status = CheckStatus::kKept;
  std::string why;  // in a sentence
  Answer
      answer;  // tables `check`, `check_runs`, `checks`, `gate`; files and diagnostics of all runs
};

// Checks `runs`, each a file, a folder or a glob, and one execution of the program; or parts of
// such (MapCheck), whose selection must be the one given here. Errors: kInvalidArgument for
// options, for budget files (with the line), and for runs that are not comparable; kMissingData
// where a run does not hold what is asked; those of Run::Ask. Thread-safe.
BORESCOPE_EXPORT Result<CheckReport> Check(std::span<const std::string> runs,
                                           const CheckOptions& options = {});

// The answers that a check needs about some files of `runs`, written to a file as a part: Check
// reads parts in the place of recordings, and gives the same result. Of `options` it takes `budget`
// (whose budgets may be of tables alone), the parameters that select, `captures`, `threads`,
// `memory_limit`, `progress` and `stop`. Errors as those of Check about these, and of Run::Map.
struct CheckMapOptions {
  std::optional<Shard> shard = {};  // only this part of the files of all runs; nothing: all
  // A file; or, with a slash at its end or where it is there, a folder, in which the file is called
  // as by Run::MapInto and kept likewise.
  std::string output = {};
  bool again = false;  // also where a part is kept
};
BORESCOPE_EXPORT Result<PartFile> MapCheck(std::span<const std::string> runs,
                                           const CheckOptions& options, const CheckMapOptions& map);

// The tables of CheckReport::answer without rows, as DescribeAnswer has those of verbs.
BORESCOPE_EXPORT Answer DescribeCheck();

}  // namespace borescope
