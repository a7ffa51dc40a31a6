#include "borescope/postmortem/hang_model.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/hash/input_hash.h"
#include "borescope/base/parallel.h"
#include "borescope/base/text/text.h"
#include "borescope/postmortem/findings.h"

namespace borescope::internal {
namespace {

std::string_view BackendOf(std::string_view profiling_name) {
  const size_t colon = profiling_name.find(':');
  return colon == std::string_view::npos ? std::string_view() : profiling_name.substr(0, colon);
}

// ---- what a rank issued ----

// The signatures of entries of one dump: numbers that are equal where operations are, in any dump.
class Signatures {
 public:
  explicit Signatures(const FlightDump& dump) : dump_(dump) {}

  // `recorded`: of the group of the entry.
  uint64_t Of(const FlightEntry& entry, const ComparedParts& recorded) {
    const uint64_t parts = (recorded.input_sizes ? 1U : 0U) | (recorded.output_sizes ? 2U : 0U) |
                           (recorded.input_types ? 4U : 0U) | (recorded.output_types ? 8U : 0U);
    const std::array<uint64_t, 6> key = {entry.name,        entry.input_sizes,  entry.output_sizes,
                                         entry.input_types, entry.output_types, parts};
    const auto [at, is_new] = known_.try_emplace(key, 0);
    if (is_new) {
      at->second = Make(entry, recorded);
    }
    return at->second;
  }

 private:
  uint64_t Make(const FlightEntry& entry, const ComparedParts& recorded) {
    const std::string_view operation = OperationName(dump_.Name(entry));
    const ComparedParts parts = PartsToCompare(operation);
    std::array<uint64_t, 5> made{HashText(operation), 0, 0, 0, 0};
    if (parts.input_sizes && recorded.input_sizes) {
      made[1] = static_cast<uint64_t>(ElementsOf(dump_, entry.input_sizes)) + 1;
    }
    if (parts.output_sizes && recorded.output_sizes) {
      made[2] = static_cast<uint64_t>(ElementsOf(dump_, entry.output_sizes)) + 1;
    }
    made[3] = parts.input_types && recorded.input_types ? TypesOf(entry.input_types) : 0;
    made[4] = parts.output_types && recorded.output_types ? TypesOf(entry.output_types) : 0;
    return HashNumbers(std::span<const uint64_t>(made));
  }

  uint64_t TypesOf(uint32_t list) {
    const auto [at, is_new] = types_.try_emplace(list, 1);
    if (!is_new) {
      return at->second;
    }
    uint64_t hash = 1;
    std::string_view last;
    for (const std::string_view type : dump_.Texts(list)) {
      if (type != last) {
        hash = HashNumber(hash ^ HashText(type));
        last = type;
      }
    }
    at->second = hash;
    return hash;
  }

  const FlightDump& dump_;
  HashMap<uint32_t, uint64_t> types_;  // by list
  HashMap<std::array<uint64_t, 6>, uint64_t> known_;
};

// The two ranks of "nccl:send 1->2" and "nccl:recv 3<-0", as numbers in the group.
struct TransferName {
  bool is_send = false;
  int64_t own = 0;
  int64_t peer = 0;  // -1: any
};
std::optional<TransferName> ReadTransfer(std::string_view profiling_name) {
  std::string_view name = profiling_name.substr(profiling_name.find(':') + 1);
  TransferName transfer;
  if (name.starts_with("send ")) {
    transfer.is_send = true;
  } else if (!name.starts_with("recv ")) {
    return std::nullopt;
  }
  name.remove_prefix(5);
  const size_t arrow = name.find(transfer.is_send ? "->" : "<-");
  if (arrow == std::string_view::npos) {
    return std::nullopt;
  }
  const std::optional<int64_t> own = ParseNumber<int64_t>(name.substr(0, arrow));
  const std::string_view other = name.substr(arrow + 2);
  const std::optional<int64_t> peer =
      other == "?" ? std::optional<int64_t>(-1) : ParseNumber<int64_t>(other);
  if (!own.has_value() || !peer.has_value()) {
    return std::nullopt;
  }
  transfer.own = *own;
  transfer.peer = *peer;
  return transfer;
}

// Makes what a rank issued of the entries of its dump.
class RankReader {
 public:
  RankReader(HangRank& rank, std::span<const HangGroup> groups)
      : rank_(rank), dump_(*rank.dump), groups_(groups), signatures_(dump_) {}

  void Read() {
    // Of all groups of a large job a rank is in a few.
    std::vector<uint32_t> own(rank_.group_of);
    std::sort(own.begin(), own.end());
    own.erase(std::unique(own.begin(), own.end()), own.end());
    std::vector<uint32_t> place;  // by FlightDump::named_groups
    place.reserve(rank_.group_of.size());
    for (const uint32_t group : rank_.group_of) {
      place.push_back(
          static_cast<uint32_t>(std::lower_bound(own.begin(), own.end(), group) - own.begin()));
    }
    std::vector<std::vector<uint32_t>> by_group(own.size());
    bool any_completed = false;
    for (uint32_t i = 0; i < dump_.entries.size(); ++i) {
      const FlightEntry& entry = dump_.entries[i];
      rank_.newest_created_ns = std::max(rank_.newest_created_ns, entry.created_ns);
      any_completed = any_completed || !IsOutstanding(dump_, entry);
      NoteLater(entry);
      if (entry.group != FlightEntry::kNothing) {
        by_group[place[entry.group]].push_back(i);
      }
    }
    rank_.is_active_only = !any_completed;
    rank_.has_all_records = any_completed && !dump_.is_cut && dump_.lost_entries == 0 &&
                            dump_.entries.front().record_id == 0;
    const bool has_transfers = any_completed && !dump_.is_cut && dump_.HasNoGaps();
    for (size_t group = 0; group < by_group.size(); ++group) {
      if (has_transfers && HasFirstTransfer(by_group[group])) {
        rank_.all_transfers_in.push_back(own[group]);
      }
      ReadGroup(own[group], by_group[group]);
    }
    rank_.operations.shrink_to_fit();
  }

 private:
  // An aborted communicator finishes nothing that is issued later: notes when the newest operation
  // was issued that each group finished in time.
  void NoteLater(const FlightEntry& entry) {
    const bool is_done = entry.group != FlightEntry::kNothing &&
                         entry.state == FlightState::kCompleted && !IsOutstanding(dump_, entry);
    if (!is_done) {
      return;
    }
    newest_done_ns_.resize(dump_.named_groups.size(), 0);
    int64_t& newest = newest_done_ns_[entry.group];
    newest = std::max(newest, entry.created_ns);
  }

  // Whether an entry of a group is outstanding: not one that took longer than its timeout, but
  // after whose end the group went on.
  bool IsOpen(const FlightEntry& entry) const {
    const bool went_on = entry.state == FlightState::kCompleted &&
                         entry.group < newest_done_ns_.size() && entry.discovered_finished_ns > 0 &&
                         entry.discovered_finished_ns < newest_done_ns_[entry.group];
    return !went_on && IsOutstanding(dump_, entry);
  }

  // The number by which neighbouring entries are one launch.
  static int32_t LaunchNumber(const FlightEntry& entry) {
    return entry.is_p2p ? entry.p2p_seq : entry.collective_seq;
  }

  // Whether the entries of a group begin with its first launch of transfers, or before that.
  bool HasFirstTransfer(std::span<const uint32_t> entries) const {
    const auto first = std::find_if(entries.begin(), entries.end(),
                                    [&](uint32_t entry) { return dump_.entries[entry].is_p2p; });
    if (first == entries.end() || dump_.entries[*first].p2p_seq != 1) {
      return false;
    }
    // The oldest entry of a ring may be the end of a launch of several.
    const FlightEntry& entry = dump_.entries[*first];
    return *first > 0 || (entry.state == FlightState::kCompleted && !IsClosing(dump_.Name(entry)));
  }

  void ReadGroup(uint32_t group, std::span<const uint32_t> entries) {
    const size_t first_operation = rank_.operations.size();
    transfer_counts_.clear();
    for (size_t begin = 0; begin < entries.size();) {
      size_t end = begin + 1;
      const FlightEntry& first = dump_.entries[entries[begin]];
      bool is_closed = IsClosing(dump_.Name(first));
      while (!is_closed && end < entries.size()) {
        const FlightEntry& next = dump_.entries[entries[end]];
        const bool closes_transfers =
            first.is_p2p && next.p2p_seq == first.p2p_seq && IsClosing(dump_.Name(next));
        if (!closes_transfers &&
            (next.is_p2p != first.is_p2p || LaunchNumber(next) != LaunchNumber(first))) {
          break;
        }
        is_closed = IsClosing(dump_.Name(next));
        ++end;
      }
      // Several entries without one that closes them: the host is within the group call, or the
      // one that closes them completed and was left out.
      const bool is_left_over = end == begin + 1 && IsLeftOver(group, entries[begin]);
      if (is_closed || (end == begin + 1 && !is_left_over)) {
        AddLaunch(group, entries.subspan(begin, end - begin), first_operation);
      } else if (is_left_over) {
        if (const std::optional<HangOperation> operation = TransferOf(group, first)) {
          rank_.left_over.insert(*operation);
        }
      }
      begin = end;
    }
    std::stable_sort(rank_.operations.begin() + static_cast<std::ptrdiff_t>(first_operation),
                     rank_.operations.end(),
                     [](const auto& a, const auto& b) { return a.number < b.number; });
  }

  // A transfer that was launched with others, or alone in that way: PyTorch never changes the state
  // of such an entry, but that of the one that closed the launch, which is the next record. Where
  // that one is not there, it completed and was left out.
  bool IsLeftOver(uint32_t group, uint32_t index) const {
    const FlightEntry& entry = dump_.entries[index];
    const bool is_last = index + 1 == dump_.entries.size();
    if (!entry.is_p2p || entry.state != FlightState::kScheduled || IsClosing(dump_.Name(entry)) ||
        (!is_last && dump_.entries[index + 1].record_id == entry.record_id + 1)) {
      return false;
    }
    if (groups_[group].has_coalesced_p2p) {
      return true;
    }
    if (groups_[group].has_plain_p2p) {
      return false;
    }
    // The numbers of the status are those of transfers where nothing else was recorded.
    const FlightStatus* const status = dump_.StatusOf(entry.pg_id);
    const bool has_status = !groups_[group].has_collective && status != nullptr;
    return has_status ? entry.p2p_seq <= status->completed : rank_.is_active_only && !is_last;
  }

  void AddLaunch(uint32_t group, std::span<const uint32_t> launch, size_t first_operation) {
    const FlightEntry& first = dump_.entries[launch.front()];
    if (first.is_p2p) {
      AddTransfers(group, launch);
      return;
    }
    std::vector<IssuedOperation>& operations = rank_.operations;
    // A number that falls: the group began again, and what was before is of another life of it.
    if (operations.size() > first_operation && operations.back().number > first.collective_seq) {
      operations.resize(first_operation);
    }
    uint64_t signature = 0;
    for (const uint32_t entry : launch) {
      signature =
          HashNumber(signature ^ signatures_.Of(dump_.entries[entry], groups_[group].recorded));
    }
    const bool is_outstanding = IsOpen(dump_.entries[launch.back()]);
    if (operations.size() > first_operation && operations.back().number == first.collective_seq) {
      IssuedOperation& same = operations.back();
      same.last_entry = launch.back();
      same.signature = HashNumber(same.signature ^ signature);
      same.is_outstanding = same.is_outstanding || is_outstanding;
      return;
    }
    operations.push_back({.group = group,
                          .number = first.collective_seq,
                          .first_entry = launch.front(),
                          .last_entry = launch.back(),
                          .signature = signature,
                          .is_outstanding = is_outstanding});
  }

  void AddTransfers(uint32_t group, std::span<const uint32_t> launch) {
    const bool is_outstanding = IsOpen(dump_.entries[launch.back()]);
    if (!is_outstanding && !rank_.HasAllTransfers(group)) {
      return;
    }
    // A launch of which the ring has the last entry alone: with whom it was nobody knows.
    const bool is_begin_lost = is_outstanding && launch.front() == 0 && launch.size() == 1 &&
                               dump_.entries.front().record_id > 0 &&
                               IsClosing(dump_.Name(dump_.entries.front()));
    if (is_begin_lost) {
      constexpr int32_t kAny = HangOperation::kAnyRank;
      rank_.transfers.push_back(
          {.operation = {.group = group, .is_p2p = true, .from = kAny, .to = kAny},
           .entry = launch.front(),
           .last_entry = launch.front()});
      return;
    }
    for (const uint32_t entry : launch) {
      std::optional<HangOperation> operation = TransferOf(group, dump_.entries[entry]);
      if (!operation.has_value()) {
        continue;  // the one that closes the launch
      }
      if (!is_outstanding) {
        ++rank_.finished_transfers[*operation];
        continue;
      }
      operation->number = transfer_counts_[std::pair(operation->from, operation->to)]++;
      rank_.transfers.push_back({.operation = *operation,
                                 .entry = entry,
                                 .last_entry = launch.back(),
                                 .is_doubtful = IsDoubtful(group, launch)});
    }
  }

  std::optional<HangOperation> TransferOf(uint32_t group, const FlightEntry& entry) const {
    return TransferNamedBy(dump_.Name(entry), rank_.rank, groups_[group].members, group);
  }

  // The last record of a dump without completed ones, where nothing shows how the group launches.
  bool IsDoubtful(uint32_t group, std::span<const uint32_t> launch) const {
    return launch.size() == 1 && rank_.is_active_only && !groups_[group].has_plain_p2p &&
           launch.front() + 1 == dump_.entries.size() &&
           !IsClosing(dump_.Name(dump_.entries[launch.front()])) && dump_.status.empty();
  }

  HangRank& rank_;
  const FlightDump& dump_;
  std::span<const HangGroup> groups_;
  Signatures signatures_;
  std::vector<int64_t> newest_done_ns_;  // by FlightDump::named_groups; empty: none is done
  HashMap<std::pair<int32_t, int32_t>, int32_t> transfer_counts_;  // of the group that is read
};

// ---- where ranks are ----

// Numbers transfers so that both ends give one transfer one number: from the first one that each
// issued on, where both have all their transfers in the group; else from the first outstanding one.
void AlignTransfers(HangModel& model) {
  for (HangRank& rank : model.ranks) {
    for (IssuedTransfer& transfer : rank.transfers) {
      HangOperation& operation = transfer.operation;
      const HangRank* const peer =
          model.Of(operation.from == rank.rank ? operation.to : operation.from);
      if (peer == nullptr || !rank.HasAllTransfers(operation.group) ||
          !peer->HasAllTransfers(operation.group)) {
        continue;
      }
      HangOperation first = operation;
      first.number = 0;
      const auto finished = rank.finished_transfers.find(first);
      operation.number += finished == rank.finished_transfers.end() ? 0 : finished->second;
    }
    std::stable_sort(rank.transfers.begin(), rank.transfers.end(),
                     [](const auto& a, const auto& b) { return a.operation < b.operation; });
  }
}

// Leaves out transfers that seem to be outstanding, but that both ends issued, or of which the
// other end is known to have finished its part.
void DropDoubtful(HangModel& model) {
  std::vector<std::vector<HangOperation>> dropped(model.ranks.size());
  for (size_t i = 0; i < model.ranks.size(); ++i) {
    const HangRank& rank = model.ranks[i];
    for (const IssuedTransfer& transfer : rank.transfers) {
      const HangOperation& operation = transfer.operation;
      const HangRank* const peer =
          model.Of(operation.from == rank.rank ? operation.to : operation.from);
      HangOperation pair = operation;
      pair.number = 0;
      const bool is_done =
          transfer.is_doubtful && peer != nullptr &&
          (peer->FindTransfer(operation) != nullptr || peer->left_over.contains(pair));
      if (is_done) {
        dropped[i].push_back(operation);
      }
    }
  }
  for (size_t i = 0; i < model.ranks.size(); ++i) {
    std::erase_if(model.ranks[i].transfers, [&](const IssuedTransfer& transfer) {
      return std::find(dropped[i].begin(), dropped[i].end(), transfer.operation) !=
             dropped[i].end();
    });
  }
}

// Whether the next record shows that a transfer was not launched as one of several: that one would
// be of the same launch.
bool IsPlainTransfer(const FlightDump& dump, size_t index) {
  const FlightEntry& entry = dump.entries[index];
  if (!entry.is_p2p || IsClosing(dump.Name(entry)) || index + 1 == dump.entries.size()) {
    return false;
  }
  const FlightEntry& next = dump.entries[index + 1];
  const bool is_same_launch = next.group == entry.group && next.p2p_seq == entry.p2p_seq &&
                              (next.is_p2p || IsClosing(dump.Name(next)));
  return next.record_id == entry.record_id + 1 && !is_same_launch;
}

void FindFacts(HangModel& model) {
  for (const HangRank& rank : model.ranks) {
    for (const HangOperation& operation : rank.head) {
      if (!operation.is_p2p) {
        model.heads[operation];
      }
    }
  }
  for (auto& [operation, facts] : model.heads) {
    for (const int32_t member : model.groups[operation.group].members) {
      const HangRank* const rank = model.Of(member);
      if (rank != nullptr && rank->Find(operation) != nullptr) {
        ++facts.recorded;
        facts.last_created_ns = std::max(facts.last_created_ns, model.IssuedAt(*rank, operation));
      }
    }
  }
}

// Notes what an entry of a group lacks that members have to agree on.
void NoteLacks(const FlightDump& dump, const FlightEntry& entry, ComparedParts& recorded) {
  constexpr uint32_t kNothing = FlightEntry::kNothing;
  const bool has_all = entry.input_sizes != kNothing && entry.output_sizes != kNothing &&
                       entry.input_types != kNothing && entry.output_types != kNothing;
  if (has_all || entry.is_p2p || IsClosing(dump.Name(entry))) {
    return;
  }
  const ComparedParts parts = PartsToCompare(OperationName(dump.Name(entry)));
  const auto note = [](bool is_compared, uint32_t list, bool& is_recorded) {
    is_recorded = is_recorded && (!is_compared || list != kNothing);
  };
  note(parts.input_sizes, entry.input_sizes, recorded.input_sizes);
  note(parts.output_sizes, entry.output_sizes, recorded.output_sizes);
  note(parts.input_types, entry.input_types, recorded.input_types);
  note(parts.output_types, entry.output_types, recorded.output_types);
}

// Which kinds of entries groups have, and what these hold.
void NoteKinds(HangModel& model, int threads) {
  struct Kinds {
    bool has_p2p = false;
    bool has_coalesced_p2p = false;
    bool has_plain_p2p = false;
    bool has_collective = false;
    ComparedParts recorded;
  };
  std::vector<std::vector<Kinds>> of_ranks(model.ranks.size());
  std::vector<char> has_timing(model.ranks.size(), 0);
  ParallelFor(model.ranks.size(), threads, [&](size_t r) {
    const FlightDump& dump = *model.ranks[r].dump;
    of_ranks[r].resize(dump.named_groups.size());
    for (size_t i = 0; i < dump.entries.size(); ++i) {
      const FlightEntry& entry = dump.entries[i];
      has_timing[r] = has_timing[r] != 0 || entry.discovered_started_ns > 0 ? 1 : 0;
      if (entry.group == FlightEntry::kNothing) {
        continue;
      }
      Kinds& kinds = of_ranks[r][entry.group];
      kinds.has_collective = kinds.has_collective || !entry.is_p2p;
      kinds.has_p2p = kinds.has_p2p || entry.is_p2p;
      kinds.has_coalesced_p2p =
          kinds.has_coalesced_p2p || (entry.is_p2p && IsClosing(dump.Name(entry)));
      kinds.has_plain_p2p = kinds.has_plain_p2p || IsPlainTransfer(dump, i);
      NoteLacks(dump, entry, kinds.recorded);
    }
  });
  for (size_t r = 0; r < model.ranks.size(); ++r) {
    model.has_timing = model.has_timing || has_timing[r] != 0;
    for (size_t named = 0; named < of_ranks[r].size(); ++named) {
      const Kinds& kinds = of_ranks[r][named];
      HangGroup& group = model.groups[model.ranks[r].group_of[named]];
      group.has_collective = group.has_collective || kinds.has_collective;
      group.has_p2p = group.has_p2p || kinds.has_p2p;
      group.has_coalesced_p2p = group.has_coalesced_p2p || kinds.has_coalesced_p2p;
      group.has_plain_p2p = group.has_plain_p2p || kinds.has_plain_p2p;
      const ComparedParts& recorded = kinds.recorded;
      group.recorded = {.input_sizes = group.recorded.input_sizes && recorded.input_sizes,
                        .output_sizes = group.recorded.output_sizes && recorded.output_sizes,
                        .input_types = group.recorded.input_types && recorded.input_types,
                        .output_types = group.recorded.output_types && recorded.output_types};
    }
  }
}

bool RecordsNoP2p(std::string_view profiling_name) { return BackendOf(profiling_name) == "gloo"; }

}  // namespace

bool IsOutstanding(const FlightDump& dump, const FlightEntry& entry) {
  if (RecordsNoP2p(dump.Name(entry))) {
    return !entry.is_retired;  // gloo never changes the state
  }
  const bool was_aborted =
      entry.timeout_ms > 0 && entry.discovered_finished_ns > 0 && entry.created_ns > 0 &&
      entry.discovered_finished_ns - entry.created_ns >= entry.timeout_ms * kMillisecondNs;
  return entry.state != FlightState::kCompleted || was_aborted;
}

std::string_view OperationName(std::string_view profiling_name) {
  const std::string_view name = profiling_name.substr(profiling_name.find(':') + 1);
  // What ProcessGroupNCCL, ProcessGroupGloo and others call the same operation.
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"_all_gather_base", "all_gather"},
      {"_allgather_base", "all_gather"},
      {"allgather", "all_gather"},
      {"allreduce", "all_reduce"},
      {"_reduce_scatter_base", "reduce_scatter"},
      {"alltoall", "all_to_all"},
      {"alltoall_base", "all_to_all"},
      {"all_to_all_single", "all_to_all"}};
  for (const auto& [given, meant] : kNames) {
    if (name == given) {
      return meant;
    }
  }
  return name;
}

bool IsClosing(std::string_view profiling_name) {
  const std::string_view name = profiling_name.substr(profiling_name.find(':') + 1);
  return name == "coalesced" || name.ends_with("_coalesced");
}

std::optional<HangOperation> TransferNamedBy(std::string_view profiling_name, int32_t rank,
                                             std::span<const int32_t> members, uint32_t group) {
  const std::optional<TransferName> name = ReadTransfer(profiling_name);
  if (!name.has_value()) {
    return std::nullopt;
  }
  const auto is_known = name->peer >= 0 && name->peer < static_cast<int64_t>(members.size());
  const int32_t peer =
      is_known ? members[static_cast<size_t>(name->peer)] : HangOperation::kAnyRank;
  HangOperation operation = {.group = group, .is_p2p = true};
  operation.from = name->is_send ? rank : peer;
  operation.to = name->is_send ? peer : rank;
  return operation;
}

ComparedParts PartsToCompare(std::string_view operation) {
  if (operation.starts_with("all_to_all") || operation.ends_with("_v")) {
    return {
        .input_sizes = false, .output_sizes = false, .input_types = true, .output_types = false};
  }
  if (operation == "gather" || operation == "broadcast" || operation == "reduce" ||
      operation.ends_with("_oop")) {
    return {.input_sizes = true, .output_sizes = false, .input_types = true, .output_types = false};
  }
  if (operation == "scatter") {
    return {.input_sizes = false, .output_sizes = true, .input_types = false, .output_types = true};
  }
  return {};
}

bool NeedsAll(std::string_view operation) {
  constexpr std::string_view kNames[] = {"all_reduce", "all_gather", "reduce_scatter", "barrier",
                                         "all_to_all"};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](std::string_view name) { return operation.starts_with(name); });
}

int64_t ElementsOf(const FlightDump& dump, uint32_t sizes) {
  return sizes == FlightEntry::kNothing ? 0 : dump.store->ElementsOf(sizes);
}

bool IsGroupNameBefore(std::string_view a, std::string_view b) {
  const std::optional<uint64_t> left = ParseNumber<uint64_t>(a);
  const std::optional<uint64_t> right = ParseNumber<uint64_t>(b);
  if (left.has_value() != right.has_value()) {
    return left.has_value();
  }
  return left.has_value() && *left != *right ? *left < *right : a < b;
}

const IssuedOperation* HangRank::Find(const HangOperation& operation) const {
  const auto at = std::lower_bound(operations.begin(), operations.end(), operation,
                                   [](const IssuedOperation& issued, const HangOperation& wanted) {
                                     return std::pair(issued.group, issued.number) <
                                            std::pair(wanted.group, wanted.number);
                                   });
  return at == operations.end() || at->group != operation.group || at->number != operation.number
             ? nullptr
             : &*at;
}

const IssuedTransfer* HangRank::FindTransfer(const HangOperation& operation) const {
  const auto at = std::lower_bound(transfers.begin(), transfers.end(), operation,
                                   [](const IssuedTransfer& issued, const HangOperation& wanted) {
                                     return issued.operation < wanted;
                                   });
  return at == transfers.end() || at->operation != operation ? nullptr : &*at;
}

std::span<const IssuedOperation> HangRank::InGroup(uint32_t group) const {
  const auto is_before = [](const IssuedOperation& issued, uint32_t wanted) {
    return issued.group < wanted;
  };
  const auto is_past = [](uint32_t wanted, const IssuedOperation& issued) {
    return wanted < issued.group;
  };
  const auto begin = std::lower_bound(operations.begin(), operations.end(), group, is_before);
  const auto end = std::upper_bound(begin, operations.end(), group, is_past);
  return {begin, end};
}

std::vector<int32_t> HangModel::MembersOf(const HangOperation& operation) const {
  if (!operation.is_p2p) {
    return groups[operation.group].members;
  }
  std::vector<int32_t> members;
  for (const int32_t rank : {operation.from, operation.to}) {
    if (rank != HangOperation::kAnyRank) {
      members.push_back(rank);
    }
  }
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  return members;
}

int64_t HangModel::IssuedAt(const HangRank& rank, const HangOperation& operation) const {
  const std::vector<FlightEntry>& entries = rank.dump->entries;
  const FlightEntry* entry = nullptr;
  if (operation.is_p2p) {
    const IssuedTransfer* const transfer = rank.FindTransfer(operation);
    entry = transfer == nullptr ? nullptr : &entries[transfer->entry];
  } else if (const IssuedOperation* const issued = rank.Find(operation); issued != nullptr) {
    entry = &entries[issued->first_entry];
  } else if (rank.IsHeadLost() && rank.head.front() == operation) {
    entry = &entries.front();  // the next one that is there
  }
  return entry == nullptr || entry->created_ns == 0 ? 0 : entry->created_ns - rank.clock_ahead_ns;
}

HangModel BuildHangModel(std::span<const RankDump> dumps, int32_t world, int threads) {
  HangModel model;
  PlaceRanks(dumps, world, model);
  NoteKinds(model, threads);
  ParallelFor(model.ranks.size(), threads,
              [&](size_t i) { RankReader(model.ranks[i], model.groups).Read(); });
  AlignTransfers(model);
  DropDoubtful(model);
  FindHeads(model, threads);
  FindClocks(model);
  FindFacts(model);
  for (const HangRank& rank : model.ranks) {
    model.newest_created_ns = std::max(model.newest_created_ns, rank.newest_created_ns);
  }
  return model;
}

}  // namespace borescope::internal
