// The logs and error files in a job's folder: recognised, read, and given to ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/postmortem/findings.h"
#include "borescope/postmortem/job_files.h"
#include "borescope/postmortem/logs/log_scan.h"
#include "borescope/postmortem/program_line.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {

struct LogFindingRow {
  std::optional<int64_t> rank = {};
  std::string file = {};
  std::optional<int64_t> line = {};
  std::string kind = {};
  std::string text = {};
  std::optional<std::string> program_line = {};
  std::optional<int64_t> pid = {};
  bool consequence = false;
  int64_t count = 1;
  std::optional<int64_t> unix_ns = {};

  static constexpr TableNames kTable{"log_findings", "What logs and error files say", 20};
  static constexpr ColumnOf<LogFindingRow> kColumns[] = {
      {"rank", &LogFindingRow::rank, Role::kKey, "Of whom it speaks; missing if not known."},
      {"file", &LogFindingRow::file, Role::kKey, "The log or the error file."},
      {"line", &LogFindingRow::line, Role::kKey, "Line in the log, from 1."},
      {"kind", &LogFindingRow::kind, Role::kDerived,
       "exception, out of memory, fatal error, exit, timeout, progress, ras, nccl warning, stack, "
       "xid, machine, no start, host memory, cancelled or task failed: "
       "docs/use/postmortem-logs.md."},
      {"text", &LogFindingRow::text, Role::kDerived,
       "What matched, in one line; passwords, tokens, accounts and URLs are left out."},
      {"program_line", &LogFindingRow::program_line, Role::kDerived,
       "The innermost line of the user's program in its stack."},
      {"pid", &LogFindingRow::pid, Role::kDerived, "The process."},
      {"consequence", &LogFindingRow::consequence, Role::kDerived,
       "Whether it only reports the failure of another rank, or follows from it."},
      {"count", &LogFindingRow::count, Unit::kCount, Role::kDerived, "Of equal ones in the file."},
      {"unix_ns", &LogFindingRow::unix_ns, Unit::kNanoseconds, Role::kDerived,
       "When, since 1970; missing where the log has no time with its zone."}};
};

struct LogRequest {
  int threads = 1;
  // Called with the stored bytes of files that were read, never from two threads at once.
  std::function<void(uint64_t done)> progress = {};
};

// Events of one job, with the file of each.
struct JobEvent : LogEvent {
  std::string file = {};
};

// How a log ends.
struct EndOfLog {
  std::string file = {};
  std::optional<int32_t> rank = {};  // whose log it is
  // Its last line that is not empty and no event, without secrets; 0 and empty if there is none.
  int64_t line = 0;
  std::string text = {};
  // The times of the first and the last line that have one; 0: not known. Those of the year are
  // without their zone, as YearNsOf gives them.
  int64_t first_unix_ns = 0;
  int64_t first_year_ns = 0;
  int64_t last_unix_ns = 0;
  int64_t last_year_ns = 0;
  bool has_finished = false;  // its last lines say that the training ended well
  // A line that says that the program tries again after lack of memory, if more lines follow; or 0.
  int64_t retry_line = 0;
};

struct LogPart {
  std::vector<JobEvent> events;     // by file and line
  std::vector<EndOfLog> ends = {};  // of logs of the newest attempt, by file
  std::vector<Table> tables;        // log_findings
  std::vector<Diagnostic> diagnostics;
  std::vector<JobFileRow> files;  // those that are logs or error files
};

// Of `files`, those of the kind kOther are looked at: the others are no text. A text is a log if
// something in it matches, or if its name ends in .log, .out, .err or .txt. Of texts with other
// names only the first 64 MiB are looked at.
LogPart FindLogs(std::span<const JobFile> files, const LogRequest& request,
                 const LineFinder& lines);

}  // namespace borescope::internal
