#include <algorithm>
#include <map>
#include <utility>

#include "borescope/base/parallel.h"
#include "borescope/base/stop.h"
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
    ForEach([&](std::span<const Part> parts) {
      if (found.size() <= kMostMismatches) {
        Compare(parts, found);
      }
    });
    if (!found.empty() && first_outstanding_ != INT32_MAX) {
      FindShift(found.front());
      // Where rings of members begin after operations that others have not finished, it cannot be
      // seen where they parted; that they did is seen where they go on in step, but shifted.
      HangMismatch& first = found.front();
      first.is_begin_lost =
          first.operation.number > first_outstanding_ && first_everywhere_ > first_outstanding_;
      first.is_primary = first.operation.number <= first_outstanding_ ||
                         (first.is_begin_lost && first.shift.has_value());
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
        const int64_t late = entry.created_ns - *middle;
        if (entry.created_ns > 0 && *middle > 0 && entry.timeout_ms > 0 &&
            late > entry.timeout_ms * kMillisecondNs / 10) {
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
  int64_t CreatedAt(const Part& part) const { return EntryOf(part).created_ns; }

  void Compare(std::span<const Part> parts, std::vector<HangMismatch>& found) const {
    // Nearly always all agree. An operation before the ring of some member is never compared.
    const bool all_agree = std::all_of(parts.begin(), parts.end(), [&](const Part& part) {
      return part.issued->signature == parts.front().issued->signature;
    });
    if (parts.front().number < first_everywhere_ || (all_agree && SumsAreEqual(parts))) {
      return;
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
    found.push_back(std::move(mismatch));
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
          entry.output_sizes == FlightEntry::kNothing) {
        return true;
      }
      in += ElementsOf(dump, entry.input_sizes) % (int64_t{1} << 40U);
      out += ElementsOf(dump, entry.output_sizes) % (int64_t{1} << 40U);
    }
    return in == out;
  }

  // Whether the ranks that differ go on as the others do one operation later, or earlier.
  void FindShift(HangMismatch& mismatch) const {
    if (mismatch.others.empty() || mismatch.ranks.empty()) {
      return;
    }
    const HangRank& own = *model_.Of(mismatch.ranks.front());
    const HangRank& other = *model_.Of(mismatch.others.front());
    for (const int32_t shift : {-1, 1}) {
      constexpr int32_t kCompared = 3;
      bool is_it = true;
      for (int32_t i = 0; i < kCompared && is_it; ++i) {
        HangOperation mine = mismatch.operation;
        HangOperation theirs = mismatch.operation;
        mine.number += i + (shift > 0 ? 1 : 0);
        theirs.number += i + (shift < 0 ? 1 : 0);
        const IssuedOperation* const a = own.Find(mine);
        const IssuedOperation* const b = other.Find(theirs);
        is_it = a != nullptr && b != nullptr && a->signature == b->signature;
      }
      if (is_it) {
        mismatch.shift = shift;
        return;
      }
    }
  }

  const HangModel& model_;
  uint32_t group_;
  std::vector<Part> parts_;
  int32_t first_outstanding_ = INT32_MAX;
  int32_t first_everywhere_ = INT32_MIN;  // the latest at which a member's ring begins
};

}  // namespace

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
  return scan;
}

}  // namespace borescope::internal
