// WaitRun: the calls of all ranks, matched, on clocks that are in line. What `waits` concludes
// from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/measures/collectives.h"
#include "borescope/analysis/measures/matching/match_calls.h"
#include "borescope/analysis/measures/rank_clocks/rank_clocks.h"
#include "borescope/analysis/measures/time/covered_time.h"
#include "borescope/analysis/verbs/waits/blame.h"
#include "borescope/base/result.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {

// What one rank gives to `waits`: all of its calls as for matching (match_calls.h), and beside them
//   ranks    the columns of WaitRankRow
//   calls    dispatch_ns: from the launch, or the end of what its stream ran before, to the begin;
//            the time since the previous call of its group ended (of the first since the recording
//            began) by cause, in kGapColumns; what is left of it is unknown; selected: 1 where the
//            selection has it
//   compute  rank, begin_ns, end_ns: when kernels compute while a call runs
Result<Tables> MapWaits(const RankView& view, const Params& params);

// Whether these are tables of one rank that MapWaits gives.
Result<void> CheckWaitTables(const Tables& tables, const Params& params);

// Columns of `calls`, in the order of LateCause.
inline constexpr std::string_view kGapColumns[] = {
    "compute_ns", "copy_ns", "comm_ns", "data_ns", "host_ns", "sync_ns", "launch_ns", "device_ns"};

struct WaitRankRow {
  int64_t rank = 0;
  int64_t begin_ns = 0;  // of the recording
  std::optional<int64_t> gpu = {};
  int64_t grain_ns = 1;  // that all times are multiples of
  std::optional<int64_t> world_size = {};

  static constexpr ColumnOf<WaitRankRow> kColumns[] = {
      {"rank", &WaitRankRow::rank, Role::kKey, ""},
      {"begin_ns", &WaitRankRow::begin_ns, Unit::kNanoseconds, Role::kDerived, ""},
      {"gpu", &WaitRankRow::gpu, Role::kDerived, ""},
      {"grain_ns", &WaitRankRow::grain_ns, Unit::kNanoseconds, Role::kDerived, ""},
      {"world_size", &WaitRankRow::world_size, Unit::kCount, Role::kDerived, ""}};
};

// The tables of all ranks, by name; those with a row for each call stay as they are.
struct WaitTables {
  // REQUIRES: tables that MapWaits gives, which outlive this.
  explicit WaitTables(const Tables& tables)
      : ranks_table(GetTable(tables, "ranks")),
        ranks(ReadRows<WaitRankRow>(ranks_table)),
        keys(GetTable(tables, "keys")),
        calls(GetTable(tables, "calls")),
        compute(GetTable(tables, "compute")) {}

  const Table& ranks_table;
  std::vector<WaitRankRow> ranks;
  const Table& keys;
  const Table& calls;
  const Table& compute;
};

// A call of one rank. Times are on its own clock, from the base of the rank on.
struct WaitCall {
  uint32_t rank = 0;                    // its place
  uint32_t collective = kNoCollective;  // which one; kNoCollective: found on no other rank
  uint32_t group = 0;
  uint32_t row = 0;  // of table `calls`
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t shift_ns = 0;  // to the clock that all ranks share; of unmatched calls that of the one
                         // before in their group
  WaitParts parts;
  int64_t exposed_skew_ns = 0;  // of parts.skew_ns what is beside no compute of the rank

  int64_t enter_ns() const { return begin_ns + shift_ns; }
  int64_t leave_ns() const { return end_ns + shift_ns; }
};

// A matched collective; its calls are together in WaitRun::calls, by rank.
struct WaitCollective {
  CollectiveKind kind = CollectiveKind::kUnknown;
  size_t first = 0;
  size_t count = 0;
  uint32_t key_row = 0;  // of table `keys`, of its first rank
  uint32_t key = 0;
  int64_t step = kMissing;
  int64_t position = 0;
  int64_t bytes = kMissing;
  // No clocks make it possible: it is not divided, and nobody is blamed.
  bool is_contradicted = false;
  bool is_selected = false;  // on one rank at least: it is summed and shown
  int64_t inside_ns = 0;     // time of all ranks inside
  CommonTime common;
  LastArrival last;
  int64_t skew_ns = 0;
  int64_t common_ns = 0;
  int64_t tail_ns = 0;
  int64_t exposed_skew_ns = 0;
};

struct WaitRun {
  std::vector<int64_t> ranks;    // their numbers, by place
  std::vector<int64_t> base_ns;  // by place
  std::vector<WaitCall> calls;   // of collectives, then those of none
  std::vector<WaitCollective> collectives;
  RankClocks clocks;
  int64_t exit_allowance_ns = 0;
  // More ranks have a collective than its group has: several groups share one name, and which call
  // belongs to which is not known.
  bool has_crowded_groups = false;

  std::span<const WaitCall> CallsOf(const WaitCollective& collective) const {
    return {calls.data() + collective.first, collective.count};
  }
};

// By how much ranks are assumed to leave apart at most: in one node, and across several.
inline constexpr int64_t kExitSkewInNode = 10'000;
inline constexpr int64_t kExitSkewAcross = 50'000;

// Calls matched and clocks put in line; nothing is divided yet. `exit_skew_ns`: below 0 for what
// fits the ranks: two that use a device of one number are on two nodes. O(n log n).
WaitRun MakeWaitRun(const WaitTables& tables, const CollectiveKeys& keys, int64_t exit_skew_ns);

// When each rank computes beside its calls, by place of the rank, as its file has it. O(n).
std::vector<IntervalSums> ComputeBesideCalls(const Table& compute, const WaitRun& run);

// Divides the time inside of all collectives, and finds who was last. O(n log n).
void DivideCollectives(const WaitTables& tables, WaitRun& run);

// Why the last rank of each collective was late, by place of the collective. O(n log n).
std::vector<Lateness> ExplainLateness(const WaitTables& tables, const WaitRun& run);

}  // namespace borescope::internal
