#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "borescope/base/parallel.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/postmortem/hang_analysis.h"

namespace borescope::internal {
namespace {

// One rank's part of an operation.
struct Part {
  int32_t number = 0;
  uint32_t rank = 0;  // of the model
  const IssuedOperation* issued = nullptr;
};

// The operations of a group, by number and rank.
std::vector<Part> PartsOf(const HangModel& model, uint32_t group) {
  std::vector<Part> parts;
  for (const int32_t member : model.groups[group].members) {
    const HangRank* const rank = model.Of(member);
    if (rank == nullptr) {
      continue;
    }
    for (const IssuedOperation& issued : rank->InGroup(group)) {
      parts.push_back({.number = issued.number,
                       .rank = static_cast<uint32_t>(rank - model.ranks.data()),
                       .issued = &issued});
    }
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.number < b.number; });
  return parts;
}

std::string_view NameOf(const HangModel& model, const Part& part) {
  const FlightDump& dump = *model.ranks[part.rank].dump;
  return OperationName(dump.Name(dump.entries[part.issued->first_entry]));
}

class GroupReader {
 public:
  GroupReader(const HangModel& model, uint32_t group)
      : model_(model), group_(group), parts_(PartsOf(model, group)) {
    for (const Part& part : parts_) {
      if (part.issued->is_outstanding) {
        first_outstanding_ = std::min(first_outstanding_, part.number);
      }
    }
    for (const int32_t member : model.groups[group].members) {
      const HangRank* const rank = model.Of(member);
      if (rank == nullptr) {
        continue;
      }
      if (const std::span<const IssuedOperation> own = rank->InGroup(group); !own.empty()) {
        first_everywhere_ = std::max(first_everywhere_, own.front().number);
      }
    }
  }

  std::vector<HangMismatch> Mismatches() {
    std::vector<HangMismatch> found;
    std::optional<size_t> cause;  // the first of them that others may hang in
    ForEach([&](std::span<const Part> parts) {
      const bool has_room = found.size() <= kMostMismatches;
      if (cause.has_value() && !has_room) {
        return;
      }
      std::optional<HangMismatch> mismatch = Compare(parts);
      if (!mismatch.has_value()) {
        return;
      }
      const bool is_cause = !cause.has_value() && MayBeTheCause(parts, *mismatch);
      if (is_cause) {
        cause = found.size();
      }
      if (is_cause || has_room) {
        found.push_back(std::move(*mismatch));
      }
    });
    if (cause.has_value()) {
      // Where rings of members begin after operations that others have not finished, it cannot be
      // seen where they parted; that they did is seen where they go on in step, but shifted.
      HangMismatch& first = found[*cause];
      first.is_begin_lost =
          first.operation.number > first_outstanding_ && first_everywhere_ > first_outstanding_;
      first.is_primary = first.operation.number <= first_outstanding_ ||
                         (first.is_begin_lost && first.IsShifted());
    }
    return found;
  }

  // Ranks of the model with their largest delay, where it is more than a tenth of the timeout.
  std::map<uint32_t, int64_t> Delays() const {
    std::map<uint32_t, int64_t> late_ns;
    std::vector<int64_t> created;
    ForEach([&](std::span<const Part> parts) {
      constexpr size_t kFewest = 3;
      if (parts.size() < kFewest || parts.front().issued->is_outstanding) {
        return;
      }
      created.clear();
      for (const Part& part : parts) {
        created.push_back(CreatedAt(part));
      }
      const auto middle = created.begin() + static_cast<std::ptrdiff_t>(created.size() / 2);
      std::nth_element(created.begin(), middle, created.end());
      for (const Part& part : parts) {
        const FlightEntry& entry = EntryOf(part);
        const int64_t late = CreatedAt(part) - *middle;
        if (!model_.ranks[part.rank].has_odd_clock && entry.created_ns > 0 && *middle > 0 &&
            entry.timeout_ms > 0 && late > entry.timeout_ms * kMillisecondNs / 10) {
          int64_t& most = late_ns[part.rank];
          most = std::max(most, late);
        }
      }
    });
    return late_ns;
  }

 private:
  template <class Body>
  void ForEach(const Body& body) const {
    for (size_t begin = 0; begin < parts_.size();) {
      CheckStopAt(begin);
      size_t end = begin + 1;
      while (end < parts_.size() && parts_[end].number == parts_[begin].number) {
        ++end;
      }
      body(std::span(parts_).subspan(begin, end - begin));
      begin = end;
    }
  }

  const FlightEntry& EntryOf(const Part& part) const {
    return model_.ranks[part.rank].dump->entries[part.issued->first_entry];
  }
  // By the common clock; 0: not known.
  int64_t CreatedAt(const Part& part) const {
    const int64_t created = EntryOf(part).created_ns;
    return created == 0 ? 0 : created - model_.ranks[part.rank].clock_ahead_ns;
  }

  // Whether the group can hang because of a difference: not in an operation that everybody ended,
  // unless one operation more or less follows from it to the end of the group.
  bool MayBeTheCause(std::span<const Part> parts, HangMismatch& mismatch) const {
    if (first_outstanding_ == INT32_MAX) {
      return false;
    }
    const bool is_ended =
        std::all_of(parts.begin(), parts.end(), [&](const Part& part) { return IsEnded(part); });
    if (is_ended && !IsShiftedToTheEnd(mismatch)) {
      return false;
    }
    FindShifts(mismatch);
    return true;
  }

  bool IsEnded(const Part& part) const {
    const HangRank& rank = model_.ranks[part.rank];
    // With gloo work that failed looks like work that is done; after that a rank issues no more.
    const bool may_have_failed = rank.dump->Name(EntryOf(part)).starts_with("gloo:") &&
                                 part.issued == &rank.InGroup(group_).back();
    return !part.issued->is_outstanding && !may_have_failed;
  }

  // Whether one of the ranks that differ goes on as the others do, but shifted, and ends so. Of
  // many that completed, differences are looked at in turn: not for all of their ranks.
  bool IsShiftedToTheEnd(const HangMismatch& mismatch) const {
    if (mismatch.others.empty()) {
      return false;
    }
    constexpr size_t kMostTried = 32;
    size_t tried = 0;
    const HangRank& other = *model_.Of(mismatch.others.front());
    const int32_t others_end = other.InGroup(group_).back().number;
    for (const int32_t rank : mismatch.ranks) {
      const HangRank& own = *model_.Of(rank);
      const int32_t end = own.InGroup(group_).back().number;
      if (end == others_end) {
        continue;
      }
      if (++tried > kMostTried) {
        break;
      }
      const HangShift shift = ShiftBetween(own, other, mismatch.operation);
      if (shift.count != 0 && (shift.is_either || (shift.count < 0) == (end < others_end))) {
        return true;
      }
    }
    return false;
  }

  // The difference between the members of an operation; nothing where there is none.
  std::optional<HangMismatch> Compare(std::span<const Part> parts) const {
    // Nearly always all agree. An operation before the ring of some member is never compared.
    const bool all_agree = std::all_of(parts.begin(), parts.end(), [&](const Part& part) {
      return part.issued->signature == parts.front().issued->signature;
    });
    if (parts.front().number < first_everywhere_ || (all_agree && SumsAreEqual(parts)) ||
        (!all_agree && AreUnevenShares(parts))) {
      return std::nullopt;
    }
    std::map<uint64_t, std::vector<Part>> classes;
    for (const Part& part : parts) {
      classes[part.issued->signature].push_back(part);
    }
    const bool is_uneven = all_agree;  // in what they send and receive together
    HangMismatch mismatch;
    mismatch.operation = {.group = group_, .number = parts.front().number};
    size_t largest = 0;
    for (const auto& [signature, members] : classes) {
      largest = std::max(largest, members.size());
    }
    mismatch.has_majority = !is_uneven && largest * 2 > parts.size();
    std::string_view name = NameOf(model_, parts.front());
    mismatch.kind = HangKind::kMismatchSizeOrType;
    for (const auto& [signature, members] : classes) {
      const bool agrees = mismatch.has_majority && members.size() == largest;
      for (const Part& part : members) {
        (agrees ? mismatch.others : mismatch.ranks).push_back(model_.ranks[part.rank].rank);
        if (NameOf(model_, part) != name) {
          mismatch.kind = HangKind::kMismatchOperation;
        }
      }
    }
    std::sort(mismatch.ranks.begin(), mismatch.ranks.end());
    std::sort(mismatch.others.begin(), mismatch.others.end());
    return mismatch;
  }

  // Lists of tensors of other sizes for each member, which all_gather and reduce_scatter take: the
  // shares of all are together what each has as a whole.
  bool AreUnevenShares(std::span<const Part> parts) const {
    const std::string_view name = NameOf(model_, parts.front());
    const bool gathers = name == "all_gather";
    if (!gathers && name != "reduce_scatter") {
      return false;
    }
    const size_t members = model_.groups[group_].members.size();
    const FlightDump& first_dump = *model_.ranks[parts.front().rank].dump;
    const FlightEntry& first = EntryOf(parts.front());
    const int64_t whole = ElementsOf(first_dump, gathers ? first.output_sizes : first.input_sizes);
    int64_t shares = 0;
    size_t even = 0;
    for (const Part& part : parts) {
      const FlightDump& dump = *model_.ranks[part.rank].dump;
      const FlightEntry& entry = EntryOf(part);
      const bool is_alike =
          part.issued->first_entry == part.issued->last_entry && NameOf(model_, part) == name &&
          ElementsOf(dump, gathers ? entry.output_sizes : entry.input_sizes) == whole &&
          AreTypesAlike(dump, entry.input_types, first_dump, first.input_types) &&
          AreTypesAlike(dump, entry.output_types, first_dump, first.output_types);
      const int64_t share = ElementsOf(dump, gathers ? entry.input_sizes : entry.output_sizes);
      if (!is_alike || share > whole - shares) {
        return false;
      }
      shares += share;
      even += whole % static_cast<int64_t>(members) == 0 &&
                      share == whole / static_cast<int64_t>(members)
                  ? 1
                  : 0;
    }
    // Where most have an even share, another one's is a difference.
    return parts.size() == members ? shares == whole : even * 2 <= parts.size();
  }

  // Versions before 2.2 have no types: what one lacks is no difference.
  static bool AreTypesAlike(const FlightDump& a, uint32_t a_types, const FlightDump& b,
                            uint32_t b_types) {
    return a_types == FlightEntry::kNothing || b_types == FlightEntry::kNothing ||
           a.Texts(a_types) == b.Texts(b_types);
  }

  // Before version 2.4 of lists of tensors the first one was recorded alone.
  static bool HoldsAllTensors(const FlightDump& dump) {
    const std::string_view version = dump.version;
    const size_t dot = std::min(version.find('.'), version.size());
    const std::optional<int64_t> major = ParseNumber<int64_t>(version.substr(0, dot));
    const std::optional<int64_t> minor =
        ParseNumber<int64_t>(version.substr(std::min(dot + 1, version.size())));
    return !major.has_value() || *major > 2 || (*major == 2 && minor.value_or(0) >= 4);
  }

  // What all members of an all_to_all send together is what they receive.
  bool SumsAreEqual(std::span<const Part> parts) const {
    if (parts.size() != model_.groups[group_].members.size() ||
        !NameOf(model_, parts.front()).starts_with("all_to_all")) {
      return true;
    }
    int64_t in = 0;
    int64_t out = 0;
    for (const Part& part : parts) {
      const FlightDump& dump = *model_.ranks[part.rank].dump;
      const FlightEntry& entry = EntryOf(part);
      if (entry.input_sizes == FlightEntry::kNothing ||
          entry.output_sizes == FlightEntry::kNothing || !HoldsAllTensors(dump)) {
        return true;
      }
      in += ElementsOf(dump, entry.input_sizes) % (int64_t{1} << 40U);
      out += ElementsOf(dump, entry.output_sizes) % (int64_t{1} << 40U);
    }
    return in == out;
  }

  void FindShifts(HangMismatch& mismatch) const {
    if (mismatch.others.empty()) {
      return;
    }
    const HangRank& other = *model_.Of(mismatch.others.front());
    mismatch.shifts.reserve(mismatch.ranks.size());
    for (const int32_t rank : mismatch.ranks) {
      mismatch.shifts.push_back(ShiftBetween(*model_.Of(rank), other, mismatch.operation));
    }
  }

  // Whether a rank that differs goes on as the others do some operations later, or earlier: an
  // unused layer is a pair of operations.
  static HangShift ShiftBetween(const HangRank& own, const HangRank& other,
                                const HangOperation& operation) {
    constexpr int32_t kMostShifted = 8;
    const auto are_alike = [&](int32_t of_own, int32_t of_other) {
      HangOperation mine = operation;
      HangOperation theirs = operation;
      mine.number += of_own;
      theirs.number += of_other;
      const IssuedOperation* const a = own.Find(mine);
      const IssuedOperation* const b = other.Find(theirs);
      return a != nullptr && b != nullptr && a->signature == b->signature;
    };
    const auto are_three_alike = [&](int32_t of_own, int32_t of_other) {
      return are_alike(of_own, of_other) && are_alike(of_own + 1, of_other + 1) &&
             are_alike(of_own + 2, of_other + 2);
    };
    // Where they are in step again after it, one call alone was another one.
    const bool is_in_step = are_alike(1, 1) && are_alike(2, 2);
    for (int32_t count = 1; count <= (is_in_step ? 1 : kMostShifted); ++count) {
      const bool is_less = are_three_alike(0, count);
      const bool is_more = are_three_alike(count, 0);
      if (is_less || is_more) {
        return {.count = is_less ? -count : count, .is_either = is_less && is_more};
      }
    }
    return {};
  }

  const HangModel& model_;
  uint32_t group_;
  std::vector<Part> parts_;
  int32_t first_outstanding_ = INT32_MAX;
  int32_t first_everywhere_ = INT32_MIN;  // the latest at which a member's ring begins
};

// What one end of a transfer sends or receives; nothing where its dump does not say.
struct TransferEnd {
  int64_t elements = 0;
  std::vector<std::string_view> types;
};
std::optional<TransferEnd> EndOf(const HangRank& rank, const HangOperation& operation) {
  const IssuedTransfer* const issued = rank.FindTransfer(operation);
  if (issued == nullptr) {
    return std::nullopt;
  }
  const FlightDump& dump = *rank.dump;
  const FlightEntry& entry = dump.entries[issued->entry];
  const bool sends = operation.from == rank.rank;
  // PyTorch records the tensor as both, others as that which it is.
  for (const bool is_input : {sends, !sends}) {
    const uint32_t sizes = is_input ? entry.input_sizes : entry.output_sizes;
    if (sizes != FlightEntry::kNothing && !dump.Sizes(sizes).empty()) {
      return TransferEnd{.elements = ElementsOf(dump, sizes),
                         .types = dump.Texts(is_input ? entry.input_types : entry.output_types)};
    }
  }
  return std::nullopt;
}

// The transfers at which both ends are, but not with the same sizes and types. Ascending.
std::vector<HangMismatch> DifferingTransfers(const HangModel& model) {
  std::vector<HangMismatch> found;
  for (const HangRank& rank : model.ranks) {
    for (const HangOperation& operation : rank.head) {
      const HangRank* const receiver =
          operation.from == rank.rank ? model.Of(operation.to) : nullptr;
      const bool are_there = operation.is_p2p && receiver != nullptr && receiver != &rank &&
                             std::find(receiver->head.begin(), receiver->head.end(), operation) !=
                                 receiver->head.end();
      if (!are_there) {
        continue;
      }
      const std::optional<TransferEnd> sent = EndOf(rank, operation);
      const std::optional<TransferEnd> received = EndOf(*receiver, operation);
      if (!sent.has_value() || !received.has_value()) {
        continue;
      }
      const bool has_types = !sent->types.empty() && !received->types.empty();
      if (sent->elements != received->elements || (has_types && sent->types != received->types)) {
        HangMismatch mismatch;
        mismatch.operation = operation;
        mismatch.kind = HangKind::kMismatchSizeOrType;
        mismatch.ranks = model.MembersOf(operation);
        found.push_back(std::move(mismatch));
      }
    }
  }
  std::sort(found.begin(), found.end(),
            [](const HangMismatch& a, const HangMismatch& b) { return a.operation < b.operation; });
  return found;
}

}  // namespace

HangShift HangMismatch::ShiftOf(int32_t rank) const {
  const auto found = std::lower_bound(ranks.begin(), ranks.end(), rank);
  return found == ranks.end() || *found != rank || shifts.empty()
             ? HangShift{}
             : shifts[static_cast<size_t>(found - ranks.begin())];
}

bool HangMismatch::IsShifted() const {
  return std::any_of(shifts.begin(), shifts.end(),
                     [](const HangShift& shift) { return shift.count != 0; });
}

GroupScan ScanGroups(const HangModel& model, int threads) {
  std::vector<std::vector<HangMismatch>> found(model.groups.size());
  std::vector<std::map<uint32_t, int64_t>> late(model.groups.size());
  ParallelFor(model.groups.size(), threads, [&](size_t group) {
    GroupReader reader(model, static_cast<uint32_t>(group));
    found[group] = reader.Mismatches();
    late[group] = reader.Delays();
  });
  GroupScan scan;
  scan.late_ns.assign(model.ranks.size(), 0);
  for (size_t group = 0; group < found.size(); ++group) {
    std::move(found[group].begin(), found[group].end(), std::back_inserter(scan.mismatches));
    for (const auto& [rank, late_ns] : late[group]) {
      scan.late_ns[rank] = std::max(scan.late_ns[rank], late_ns);
    }
  }
  std::vector<HangMismatch> transfers = DifferingTransfers(model);
  std::move(transfers.begin(), transfers.end(), std::back_inserter(scan.mismatches));
  return scan;
}

}  // namespace borescope::internal
