// How a report calls what the analysis of a hang is about: operations, lines of the program, and
// how long ranks waited. Shared by its tables (hang_tables.cc), the evidence of its findings
// (hang_evidence.cc) and the findings (hang_report.cc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/postmortem/hang_analysis.h"
#include "borescope/postmortem/hang_model.h"
#include "borescope/postmortem/program_line.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// What a rank issued of an operation.
struct Issue {
  const HangRank* rank = nullptr;
  const FlightEntry* entry = nullptr;  // the first one of it
  const FlightEntry* last = nullptr;   // whose state it has
};

// Culprits of one kind at one operation.
struct Together {
  const HangCulprit* first = nullptr;
  std::vector<int32_t> ranks;
};

// Pure functions of a model and what was found in it, which outlive it.
class HangWords {
 public:
  HangWords(const HangModel& of_model, const HangResult& of_result, const LineFinder& finder);

  Issue IssueOf(int32_t rank, const HangOperation& operation) const;
  // The issue of any rank of these.
  Issue AnyIssue(const HangOperation& operation, std::span<const int32_t> ranks) const;
  std::string NameOf(const HangOperation& operation) const;
  // As the rank calls it: the two ends of a transfer have names of their own, and members of a
  // group that disagree called different ones.
  std::string NameOf(const HangOperation& operation, int32_t rank) const;
  int64_t NumberOf(const HangOperation& operation) const;
  std::string GroupName(const HangOperation& operation) const;
  std::string GroupWords(const HangOperation& operation) const;
  // "all_to_all 45265 of EXPERT_MODEL_PARALLEL_GROUP (8 members)", of a transfer as one of `ranks`
  // calls it: where there are several, these are its two ends.
  std::string Words(const HangOperation& operation, std::span<const int32_t> ranks) const;
  // Whether it is a recv from anybody to whom nobody has an outstanding send.
  bool IsUnsent(const HangOperation& operation) const;
  std::span<const int32_t> AtHead(const HangOperation& operation) const;
  std::string LineOf(const HangRank& rank, const FlightEntry& entry) const;
  std::string LastLine(int32_t rank) const;
  std::string LineAt(int32_t rank, const HangOperation& operation) const;
  std::string Since(const HangCulprit& culprit) const;
  // The difference that explains the hang in an operation; nullptr where there is none.
  const HangMismatch* PrimaryIn(const HangOperation& operation) const;
  // How it goes on after the operation in which it differs; none for other kinds.
  HangShift ShiftOf(const HangCulprit& culprit) const;

  const HangModel& model;
  const HangResult& result;
  const LineFinder& lines;
  std::map<HangOperation, std::vector<int32_t>> at_head;  // ranks that are there
  std::vector<std::vector<int32_t>> waiting_for;          // by rank: who waits for it directly

 private:
  std::map<HangOperation, const HangMismatch*> primary_;
};

// "3 ranks wait", "1 rank waits"
std::string CountWords(size_t count, std::string_view one, std::string_view many);
// "1.234 s", "600 s"
std::string WaitWords(int64_t ns);
std::optional<int64_t> IfNotZero(int64_t value);
// What distinguishes the call of a rank: "all_reduce of 16 to 16 Float"; of several that were
// launched together, "3 times reduce_scatter in one launch, of 1200 to 300 Float in all".
// REQUIRES: it issued it.
std::string Signature(const Issue& issue);
// How long the evidence waited. Where a hang is assumed, what is known of it says nothing.
std::optional<int64_t> WaitedOf(const HangCulprit& culprit);

// The tables hang_culprits, hang_mismatches, hang_ranks and hang_operations (hang_tables.cc).
std::vector<Table> HangTables(const HangWords& hang);

// Sentences about culprits of one kind (hang_evidence.cc), and the lines of the program.
std::string EvidenceOf(const HangWords& hang, const Together& group);
std::string WhereOf(const HangWords& hang, const Together& group);
// Whether a dump of these ranks is there, which then ends in the middle.
bool AnyCut(const HangWords& hang, const Together& group);

}  // namespace borescope::internal
