// What a post-mortem finds: sentences with their evidence and help, from whichever source, and the
// order in which they are shown. Each source (dumps of the flight recorder, memory snapshots, logs)
// gives SourceFindings: to add one, make these of its files and hand them to the verdict.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/diagnostic.h"
#include "borescope/error.h"
#include "borescope/postmortem/job_files.h"
#include "borescope/table/table.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {

enum class Certainty : uint8_t { kCertain, kLikely, kCannotTell, kCount };
std::string_view CertaintyName(Certainty certainty);  // "cannot tell"

// Causes in the order of the verdict: what comes first explains what follows.
enum class CauseRank : uint8_t {
  kDeath,  // an exception, a signal or a kill
  kOutOfMemory,
  kHang,
  kSystem,   // lines of the kernel and the scheduler
  kGrowth,   // of memory
  kNothing,  // no cause, and what would have shown one
};

// Not named as the findings about a run (analysis/verbs/summary), which are others.
struct JobFinding {
  CauseRank order = CauseRank::kNothing;
  std::string finding;  // one of a fixed list of sentences
  Severity severity = Severity::kInfo;
  Certainty certainty = Certainty::kLikely;
  std::string ranks = {};            // as RankList writes them
  std::string evidence = {};         // sentences with numbers
  std::string where = {};            // lines of the program
  std::string help = {};             // what to do: every finding has one
  std::optional<double> value = {};  // the deciding number
  std::string unit = {};             // of `value`: "ns", "bytes", "count"; empty without one
  bool is_first = false;             // shown to be earlier than all other causes: shown first
  // Of lack of memory by a snapshot: when the request failed, since 1970.
  std::optional<int64_t> failed_unix_ns = {};
};

struct SourceFindings {
  std::vector<JobFinding> findings = {};
  std::vector<Table> tables = {};  // those without rows are left out of the answer
  std::vector<Diagnostic> diagnostics = {};
  // Whether it names a cause of the death or the hang, of severity error; and whether there is one
  // of which it cannot say who is at fault.
  bool has_cause = false;
  bool is_unclear = false;
};

inline constexpr int64_t kMillisecondNs = 1'000'000;
inline constexpr int64_t kSecondNs = 1'000'000'000;

// The text, or nothing for an empty one: for cells that may be missing.
std::optional<std::string> IfAny(std::string text);
// Ascending numbers as "0..7,9,11"; two neighbours are written as such.
std::string RankList(std::span<const int32_t> ranks);
// The ranks that RankList wrote. Empty for any other text.
std::vector<int32_t> ReadRankList(std::string_view list);
// A list as RankList wrote it, for people: of more than ten ranges the first ten, and how many
// ranks they are.
std::string ShownRanks(const std::string& list);
// "rank 9", "ranks 9 and 14", "ranks 0..7 and 9"; of more than ten ranges the first ten, and how
// many ranks they are.
std::string RankWords(std::span<const int32_t> ranks);
// "22:47:17.548 UTC" of nanoseconds since 1970.
std::string ClockTime(int64_t unix_ns);

// The table `postmortem` of findings of all sources: by cause, those of one in the order given.
Table VerdictTable(std::vector<JobFinding> findings);

// A file of the job, as postmortem_files lists it.
struct JobFileRow {
  std::string file = {};
  std::string kind = {};  // "flight-recorder", "memory-snapshot", ...
  std::optional<int64_t> rank = {};
  std::optional<std::string> version = {};
  std::optional<int64_t> records = {};
  std::optional<int64_t> begin_unix_ns = {};
  std::optional<int64_t> end_unix_ns = {};
  int64_t bytes = 0;
  std::string status = {};  // "read", "truncated", "refused", "ignored"

  static constexpr TableNames kTable{"postmortem_files", "Files of the job", 20};
  static constexpr ColumnOf<JobFileRow> kColumns[] = {
      {"file", &JobFileRow::file, Role::kKey, "The file, as it was named or found."},
      {"kind", &JobFileRow::kind, Role::kDerived, "What it is."},
      {"rank", &JobFileRow::rank, Role::kDerived, "Whose it is; missing if that is not known."},
      {"version", &JobFileRow::version, Role::kDerived, "Of its format."},
      {"records", &JobFileRow::records, Unit::kCount, Role::kDerived,
       "Entries of a ring, events of a trace, or lines."},
      {"begin_unix_ns", &JobFileRow::begin_unix_ns, Unit::kNanoseconds, Role::kDerived,
       "Time of its first record, nanoseconds since 1970."},
      {"end_unix_ns", &JobFileRow::end_unix_ns, Unit::kNanoseconds, Role::kDerived,
       "Time of its last record."},
      {"bytes", &JobFileRow::bytes, Unit::kBytes, Role::kDerived, "Size as stored."},
      {"status", &JobFileRow::status, Role::kDerived,
       "read; truncated: up to its end; refused: it could not be read; ignored: it counts for "
       "nothing here."}};
};

// Why a file could not be read, and what to do about it.
std::string WhyUnreadable(const Error& error);

// The row of a file of which nothing but this is known.
JobFileRow RowOf(const JobFile& file, std::string_view status);
// What is said about a dump or a snapshot that was refused.
Diagnostic RefusalOf(const JobFile& file, const Error& error);
// What is said about a file of which reading failed before it was known what it is.
// REQUIRES: it has a failure.
Diagnostic NotRecognised(const JobFile& file);
// What is said about places that were not searched.
std::vector<Diagnostic> DiagnosticsOf(const UnsearchedPlaces& places);

}  // namespace borescope::internal
