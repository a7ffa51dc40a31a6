// What the dumps of a job say together: which groups there were, which operations each rank issued
// in them and has not finished, and at which of them each rank is. Pure functions of dumps;
// docs/use/postmortem.md has the terms.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/ingest/flight_recorder/flight_dump.h"

namespace borescope::internal {

// The dump of a rank. It outlives what is made of it.
struct RankDump {
  int32_t rank = 0;
  const FlightDump* dump = nullptr;
  int64_t modified_ns = 0;  // of the file, Unix time; 0: not known
};

// Which parts of an operation its members have to agree on.
struct ComparedParts {
  bool input_sizes = true;
  bool output_sizes = true;
  bool input_types = true;
  bool output_types = true;
};

// A group of ranks. Two groups of one name that have other members are two groups.
struct HangGroup {
  std::string name;
  std::string description;
  std::vector<int32_t> members;  // global ranks, ascending
  bool is_inferred = false;      // the members are the ranks that recorded something in it
  bool is_guessed = false;       // all ranks of a job of which nothing says how many it has
  // What entries of it there are in any dump.
  bool has_p2p = false;
  bool has_coalesced_p2p = false;  // launches of transfers with an entry that closes them
  bool has_plain_p2p = false;      // transfers without
  bool has_collective = false;
  // What all entries of it hold: versions before 2.2 have no types. What one lacks is no
  // difference.
  ComparedParts recorded = {};
};

// An operation, the same for all its members: a collective by its number in its group, or the
// i-th outstanding transfer from one rank to another.
struct HangOperation {
  static constexpr int32_t kAnyRank = -1;  // the source of a recv from anybody

  uint32_t group = 0;
  bool is_p2p = false;
  int32_t number = 0;  // the sequence number; of a transfer, which of the outstanding ones it is
  int32_t from = 0;    // global ranks of a transfer
  int32_t to = 0;

  friend auto operator<=>(const HangOperation&, const HangOperation&) = default;
};

// What one rank issued of a collective: entries that share a number are one operation.
struct IssuedOperation {
  uint32_t group = 0;
  int32_t number = 0;
  uint32_t first_entry = 0;  // among the entries of its dump
  uint32_t last_entry = 0;   // whose state it has
  uint64_t signature = 0;    // equal for equal operations; of this process alone
  bool is_outstanding = false;
};

// A transfer that a rank issued and has not finished.
struct IssuedTransfer {
  HangOperation operation;
  uint32_t entry = 0;
  uint32_t last_entry = 0;   // of its launch
  bool is_doubtful = false;  // it may as well have finished in a launch whose end was left out
};

struct HangRank {
  static constexpr uint32_t kNoEntry = UINT32_MAX;

  int32_t rank = 0;
  const FlightDump* dump = nullptr;
  int64_t modified_ns = 0;
  std::vector<uint32_t> group_of;           // by FlightDump::named_groups
  std::vector<IssuedOperation> operations;  // by group and number
  std::vector<IssuedTransfer> transfers;    // by operation
  // How many transfers between two ranks of a group it finished; only where its dump has all of
  // its transfers in that group.
  std::map<HangOperation, int32_t> finished_transfers;
  std::set<HangOperation> left_over;  // pairs of which it has entries of launches that ended
  std::vector<HangOperation> head;    // several where transfers were launched together
  uint32_t head_entry = kNoEntry;     // the first of them; kNoEntry: it left the ring
  size_t outstanding = 0;             // entries
  // Its dump ends in the middle, before anything outstanding, or what it lacks may have been that:
  // as if there were none, but for what it recorded.
  bool IsUnknown() const { return head.empty() && !dump->IsWhole(); }
  bool has_all_records = false;            // since it began
  std::vector<uint32_t> all_transfers_in;  // groups whose first transfer its dump has; ascending
  bool is_active_only = false;             // the dump has no completed entry
  bool is_ring_full = false;               // as far as its size shows it
  bool may_lack_older = false;             // outstanding entries may have left the ring
  int64_t newest_created_ns = 0;           // by the common clock; 0: no entry
  // By how much its clock is ahead of that of most ranks, where their dumps show it; negative:
  // behind. FindClocks.
  int64_t clock_ahead_ns = 0;
  // Its times cannot be those of the others: its clock is wrong, or it is of another attempt.
  bool has_odd_clock = false;
  // Others finished collectives after those that it issued, or saw end, though nobody finishes
  // these without it: its dump is older than theirs, or it no longer saw work end
  // (hang_attempts.cc).
  bool is_behind = false;
  // Others issued work more than its timeout after its newest: its dump may be older than theirs.
  bool is_apart = false;

  // Whether its dump has all transfers that it issued in a group.
  bool HasAllTransfers(uint32_t group) const {
    return has_all_records ||
           std::binary_search(all_transfers_in.begin(), all_transfers_in.end(), group);
  }
  // Whether what it is at left its ring: the latest number of the group shows it.
  bool IsHeadLost() const { return !head.empty() && head_entry == kNoEntry; }
  // Whether what it is at may have left its ring, and nothing shows what it was.
  bool IsHeadDoubtful() const { return may_lack_older && !IsHeadLost(); }

  const IssuedOperation* Find(const HangOperation& operation) const;
  const IssuedTransfer* FindTransfer(const HangOperation& operation) const;
  // The operations it has entries of in a group, by number.
  std::span<const IssuedOperation> InGroup(uint32_t group) const;
};

// Of a collective at which some rank is: how many members recorded it, and when the last of
// them issued it.
struct HeadFacts {
  size_t recorded = 0;
  int64_t last_created_ns = 0;
};

struct HangModel {
  int32_t world = 0;                         // ranks 0 to world - 1
  bool is_world_known = false;               // else there may be more
  bool is_world_told = false;                // by the user or by lists of members
  std::vector<HangGroup> groups;             // by name (as a number where it is one) and members
  std::vector<HangRank> ranks;               // those with a dump, ascending
  std::map<HangOperation, HeadFacts> heads;  // collectives
  std::vector<int32_t> by_rank;              // index in `ranks`, or -1, of each rank
  bool has_timing = false;                   // some entry says when it was seen to start
  int64_t newest_created_ns = 0;             // of all dumps
  size_t disagreements = 0;                  // groups of one name that overlap and differ
  std::vector<int32_t> of_other_attempts;    // whose dumps were left out; ascending
  std::vector<int32_t> with_older_dumps;     // likewise, as the others went on after these

  const HangRank* Of(int32_t rank) const {
    const int32_t at = rank >= 0 && rank < world ? by_rank[static_cast<size_t>(rank)] : -1;
    return at < 0 ? nullptr : &ranks[static_cast<size_t>(at)];
  }
  // Whether the dump of a rank is there to its end, with all that is outstanding.
  bool IsWhole(int32_t rank) const {
    const HangRank* const at = Of(rank);
    return at != nullptr && at->dump->IsWhole();
  }
  std::vector<int32_t> MembersOf(const HangOperation& operation) const;
  // Nanoseconds since 1970, by the common clock, at which that rank issued it; 0 where it did not,
  // or it is not recorded. Of a head that left the ring: at the latest.
  int64_t IssuedAt(const HangRank& rank, const HangOperation& operation) const;
};

// `dumps`: one for each rank. `world` is the number of ranks where it is known; dumps may show that
// there are more.
HangModel BuildHangModel(std::span<const RankDump> dumps, int32_t world, int threads);

// How a rank went past its end of a transfer that it used to issue.
struct LeftOutTransfer {
  uint32_t entry = 0;  // the first of the latest launch of several, or what it issued thereafter
  // How many it issued before the operation at which it is, and before each other one; 0 of one
  // that its latest launch of several lacks.
  size_t issued = 0;
  size_t usual = 0;
};

// Whether a rank left out its end of a transfer (hang_left_out.cc), by what it did at other times:
// all launches of transfers in that group but the latest had it, three at least; or it issued fewer
// of them before the collective at which it is than before those before it, or thereafter. Nothing
// where its dump does not show it.
std::optional<LeftOutTransfer> LeftOutBy(const HangModel& model, const HangRank& rank,
                                         const HangOperation& transfer);

// Sets the job's number of ranks, the ranks with the dump of each, in the order of their numbers,
// and the groups, sorted by name and members, with `group_of` of each rank (hang_groups.cc). Every
// process numbers its groups by itself, and lists the members of some; several groups may have one
// name, as those of each row of a grid. `world`: how many ranks the user says there are; 0:
// nothing.
void PlaceRanks(std::span<const RankDump> dumps, int32_t world, HangModel& model);

// Finds at which operation each rank is, of what the ranks of the model issued (hang_heads.cc): the
// oldest outstanding one of its dump, or an older one that left its ring where the latest numbers
// of the groups show which.
void FindHeads(HangModel& model, int threads);

// Finds ranks whose clocks are apart from those of most by two seconds to ten minutes
// (hang_clocks.cc): they saw at least three collectives of a group end earlier or later than the
// others, by the same time. Nobody leaves these before all came, so that they end everywhere at
// once, also where a rank came late.
void FindClocks(HangModel& model);

// The number by which the dump of a rank knows a group (`FlightStatus::pg_id`), of which it may
// have no entry: from the dumps of members that have. Nothing where these do not agree, or it
// cannot be the same there.
std::optional<int32_t> StatusIdOf(const HangModel& model, const HangRank& rank, uint32_t group);

// Whether the work of an entry has not ended, or ended only because its communicator was aborted.
bool IsOutstanding(const FlightDump& dump, const FlightEntry& entry);

// "nccl:all_reduce" without its backend; names that several backends give one operation are one:
// "_all_gather_base" is "all_gather".
std::string_view OperationName(std::string_view profiling_name);

// The first transfer between the two ranks that an entry of `rank` names, as "nccl:send 1->2";
// nothing where it names none. `members` are those of the group.
std::optional<HangOperation> TransferNamedBy(std::string_view profiling_name, int32_t rank,
                                             std::span<const int32_t> members, uint32_t group);

// Whether an entry of that name closes a launch of several operations.
bool IsClosing(std::string_view profiling_name);

ComparedParts PartsToCompare(std::string_view operation);

// Whether nobody can finish a collective of that name before everybody began it.
bool NeedsAll(std::string_view operation);

// The elements of a list of sizes together: backends write one shape for each rank, or one of all.
int64_t ElementsOf(const FlightDump& dump, uint32_t sizes);

// Group names, texts of numbers first, as numbers.
bool IsGroupNameBefore(std::string_view a, std::string_view b);

}  // namespace borescope::internal
