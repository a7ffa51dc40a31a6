// What the program did at a moment, by a profile of the same rank that lies beside the dumps and
// snapshots: its step, annotation, module and operator then. Matched by rank and time; where
// allocations of a memory snapshot are in the profile as well, by these.
//
// Pure functions but for reading the profiles: safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "borescope/postmortem/findings.h"
#include "borescope/postmortem/job_files.h"
#include "borescope/table/typed_rows.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// A moment of a rank of which something is asked.
struct JobMoment {
  int32_t rank = 0;
  std::string what;  // "out of memory", "newest operation"
  int64_t unix_ns = 0;
};

// A block that a snapshot says was allocated.
struct AllocationMark {
  int32_t rank = 0;
  int32_t device = 0;
  uint64_t address = 0;
  uint64_t bytes = 0;  // of the block
  int64_t unix_ns = 0;
};

struct MomentRow {
  int64_t rank = 0;
  std::string moment = {};
  int64_t unix_ns = 0;
  std::string profile = {};
  std::string match = {};
  std::optional<std::string> step = {};
  std::optional<std::string> annotation = {};
  std::optional<std::string> module = {};
  std::optional<std::string> operator_name = {};

  static constexpr TableNames kTable{"postmortem_profiles", "What ranks did, by their profiles",
                                     10};
  static constexpr ColumnOf<MomentRow> kColumns[] = {
      {"rank", &MomentRow::rank, Role::kKey, "The rank."},
      {"moment", &MomentRow::moment, Role::kKey,
       "out of memory: the last request that failed; newest operation: when it issued the newest "
       "operation in its dump."},
      {"unix_ns", &MomentRow::unix_ns, Unit::kNanoseconds, Role::kDerived,
       "When, nanoseconds since 1970."},
      {"profile", &MomentRow::profile, Role::kDerived, "The profile of that rank."},
      {"match", &MomentRow::match, Role::kDerived,
       "allocations: the clock of the profile is set by allocations that both have; time: it is "
       "taken as it is; or why it is not known."},
      {"step", &MomentRow::step, Role::kDerived, "ProfilerStep#N that was running."},
      {"annotation", &MomentRow::annotation, Role::kDerived, "Innermost range of the program."},
      {"module", &MomentRow::module, Role::kDerived, "Innermost nn.Module."},
      {"operator", &MomentRow::operator_name, Role::kDerived, "Innermost operator."}};
};

// How much later the clock of the snapshot is than that of the profile, by allocations that both
// have: the median difference of those of equal device, address and size, if at least three and
// most of them are within a millisecond of it. Nothing otherwise.
std::optional<int64_t> ClockDifference(const Trace& trace, int32_t rank,
                                       std::span<const AllocationMark> marks);

// The row of a moment. `difference`: as above, or nothing.
MomentRow MomentIn(const Trace& trace, const JobMoment& moment, std::optional<int64_t> difference);

// What was found at all times of which a profile is there. At most kMostProfiles are read, those
// that are asked about first.
inline constexpr size_t kMostProfiles = 8;
struct MomentPart {
  std::vector<MomentRow> rows;
  std::vector<Diagnostic> diagnostics;
  std::vector<std::string> read;  // files
};
MomentPart FindMoments(std::span<const JobFile> files, std::span<const JobMoment> moments,
                       std::span<const AllocationMark> marks, int threads);

}  // namespace borescope::internal
