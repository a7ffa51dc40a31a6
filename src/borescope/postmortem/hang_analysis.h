// Who keeps a job from going on: a graph of which rank waits for which, from the operations at
// which ranks are; operations in which ranks disagree; and what that means. Pure functions of a
// model of dumps; docs/use/postmortem.md has the rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "borescope/postmortem/findings.h"
#include "borescope/postmortem/hang_model.h"

namespace borescope::internal {

enum class HangKind : uint8_t {
  kMismatchOperation,
  kMismatchSizeOrType,
  kNeverIssued,  // the host did not come to an operation in which others wait
  kDeviceStuck,  // issued by all, finished by some, not by this rank
  kOrder,        // ranks wait for each other in different operations
  kNotStarted,   // issued by all, begun by some, not by the device of this rank
  kNotFinished,  // issued by all, finished by none: which member is at fault nobody can say
  kNoDump,       // others wait for a rank that left nothing, or a dump that ends in the middle
  kCount,
};
std::string_view HangKindName(HangKind kind);  // "never-issued"

// Whether the operations had waited long enough to be a hang.
enum class HangShown : uint8_t { kShown, kAssumed, kNotShown, kCount };
std::string_view HangShownName(HangShown shown);  // "not shown"

// What the host of a rank did that never issued an operation.
enum class HangActivity : uint8_t { kNone, kUnknown, kStopped, kStillIssuing, kCount };
std::string_view HangActivityName(HangActivity activity);  // "still issuing"; empty for kNone

// How it is known where a rank is in an operation.
enum class WhereState : uint8_t { kDone, kOpen, kNotIssued, kNoDump };
enum class WhereBasis : uint8_t {
  kNoDump,    // or one that ends before it
  kRecorded,  // the dump has an entry of it
  kOrder,     // it has later entries of the group, or its ring begins before and has none
  kAligned,   // another rank runs the same program, and has numbers for its records
  kStatus,    // the latest numbers of the group in the dump
  kTime,      // all that it has outstanding was issued later, and most others lack it as well
  kAbsent,    // nothing in the dump speaks of it
};
struct Where {
  WhereState state = WhereState::kNotIssued;
  WhereBasis basis = WhereBasis::kAbsent;
};
Where WhereIs(const HangModel& model, int32_t rank, const HangOperation& operation);

// How a rank that differs goes on, compared with the others.
struct HangShift {
  // -1: it skipped the operation; -2: this one and the next; 1: it has one more; 0: it does
  // neither, or its dump does not show it.
  int32_t count = 0;
  // As many more would look the same, in a program that repeats: nothing shows which of the two it
  // is.
  bool is_either = false;

  friend bool operator==(const HangShift&, const HangShift&) = default;
};

// A difference between the members of one operation.
struct HangMismatch {
  HangOperation operation;
  HangKind kind = HangKind::kMismatchOperation;
  bool is_primary = false;        // no earlier operation of the group could have caused it
  bool has_majority = false;      // most members agree: `ranks` are the others
  std::vector<int32_t> ranks;     // that differ from the majority; all without one
  std::vector<int32_t> others;    // that agree with each other
  std::vector<HangShift> shifts;  // of each of `ranks`; empty where none was looked for
  // Rings of members begin after operations that others have not finished: it is the first that
  // can be compared, and they may have parted before.
  bool is_begin_lost = false;

  // Of one of `ranks`; none for any other one.
  HangShift ShiftOf(int32_t rank) const;
  bool IsShifted() const;  // any of `ranks`
};

struct HangCulprit {
  int32_t rank = 0;
  HangKind kind = HangKind::kNeverIssued;
  bool is_primary = true;
  Certainty certainty = Certainty::kLikely;
  HangShown shown = HangShown::kAssumed;
  HangActivity activity = HangActivity::kNone;
  HangOperation evidence = {};  // in which the others wait, or in which it is stuck
  std::optional<LeftOutTransfer> left_out = {};  // of an order: how it went past the evidence
  size_t waiting = 0;                            // ranks that are at the evidence
  int32_t waiting_rank = -1;                     // one of them: the first that came; -1: none
  int64_t since_ns = 0;                          // when the evidence was issued first; 0: not known
  int64_t waited_ns = 0;          // from then until the last that the dumps know of; at least that
  bool is_shown_by_file = false;  // by the time of a file alone, which waited_ns then goes to
};

struct HangResult {
  std::vector<HangCulprit> culprits;     // the most important finding first, then by rank
  std::vector<HangMismatch> mismatches;  // by group and number
  // For each rank of the model: the ranks it waits for directly, ascending.
  std::vector<std::vector<int32_t>> waits_for;
  // For each rank of the model: how much later than the median of its group it issued an operation
  // that completed, at most; 0 where that is less than a tenth of the timeout.
  std::vector<int64_t> late_ns;
  bool is_anything_outstanding = false;
  // Others wait for ranks, but most dumps of the group are not there, or it may have more members:
  // nobody is named.
  bool is_too_few = false;
};

// When operations were issued, and for how long they waited (hang_times.cc).

// The earliest time at which one of these issued it, by clocks that are not odd; 0: not known.
int64_t Earliest(const HangModel& model, std::span<const int32_t> ranks,
                 const HangOperation& operation);
// The ranks that are at the evidence of a culprit, since when, and whether that was long enough.
void SetTimes(const HangModel& model, HangCulprit& culprit, std::span<const int32_t> waiting);
// The entry whose state an operation has on a rank; nullptr where it has none.
const FlightEntry* LastEntryOf(const HangRank* rank, const HangOperation& operation);

// Longest finding of differences in one group, beside the primary one.
inline constexpr size_t kMostMismatches = 20;

HangResult AnalyseHang(const HangModel& model, int threads);

// The operations of all groups, compared (hang_mismatch.cc).
struct GroupScan {
  std::vector<HangMismatch> mismatches;  // by group and number, then those of transfers
  std::vector<int64_t> late_ns;          // by rank of the model: see HangResult
};
GroupScan ScanGroups(const HangModel& model, int threads);

}  // namespace borescope::internal
