#include "borescope/postmortem/hang_words.h"

#include <fmt/format.h>

#include <algorithm>

namespace borescope::internal {

HangWords::HangWords(const HangModel& of_model, const HangResult& of_result,
                     const LineFinder& finder)
    : model(of_model), result(of_result), lines(finder) {
  for (const HangRank& rank : model.ranks) {
    for (const HangOperation& operation : rank.head) {
      at_head[operation].push_back(rank.rank);
    }
  }
  for (const HangMismatch& mismatch : result.mismatches) {
    if (mismatch.is_primary) primary_.try_emplace(mismatch.operation, &mismatch);
  }
  waiting_for.resize(static_cast<size_t>(model.world));
  for (size_t i = 0; i < model.ranks.size(); ++i) {
    for (const int32_t rank : result.waits_for[i]) {
      waiting_for[static_cast<size_t>(rank)].push_back(model.ranks[i].rank);
    }
  }
}

Issue HangWords::IssueOf(int32_t rank, const HangOperation& operation) const {
  const HangRank* const at = model.Of(rank);
  if (at == nullptr) {
    return {};
  }
  const std::vector<FlightEntry>& entries = at->dump->entries;
  if (operation.is_p2p) {
    const IssuedTransfer* const transfer = at->FindTransfer(operation);
    return transfer == nullptr
               ? Issue{at, nullptr, nullptr}
               : Issue{at, &entries[transfer->entry], &entries[transfer->last_entry]};
  }
  const IssuedOperation* const issued = at->Find(operation);
  return issued == nullptr ? Issue{at, nullptr, nullptr}
                           : Issue{at, &entries[issued->first_entry], &entries[issued->last_entry]};
}

Issue HangWords::AnyIssue(const HangOperation& operation, std::span<const int32_t> ranks) const {
  for (const int32_t rank : ranks) {
    const Issue issue = IssueOf(rank, operation);
    if (issue.entry != nullptr) {
      return issue;
    }
  }
  return {};
}

std::string HangWords::NameOf(const HangOperation& operation) const {
  const Issue issue = AnyIssue(operation, model.MembersOf(operation));
  if (operation.is_p2p) {
    const auto place = [](int32_t rank) {
      return rank == HangOperation::kAnyRank ? std::string("?") : fmt::format("{}", rank);
    };
    return fmt::format("send {}->{}", place(operation.from), place(operation.to));
  }
  return issue.entry == nullptr ? std::string("operation")
                                : std::string(OperationName(issue.rank->dump->Name(*issue.entry)));
}

std::string HangWords::NameOf(const HangOperation& operation, int32_t rank) const {
  if (!operation.is_p2p) {
    const Issue own = IssueOf(rank, operation);
    return own.entry == nullptr ? NameOf(operation)
                                : std::string(OperationName(own.rank->dump->Name(*own.entry)));
  }
  const bool receives = rank == operation.to && rank != operation.from;
  if (!receives) {
    return NameOf(operation);
  }
  return operation.from == HangOperation::kAnyRank
             ? fmt::format("recv {}<-?", operation.to)
             : fmt::format("recv {}<-{}", operation.to, operation.from);
}

int64_t HangWords::NumberOf(const HangOperation& operation) const {
  if (!operation.is_p2p) {
    return operation.number;
  }
  const Issue issue = AnyIssue(operation, model.MembersOf(operation));
  return issue.entry == nullptr ? operation.number : issue.entry->p2p_seq;
}

std::string HangWords::GroupName(const HangOperation& operation) const {
  const HangGroup& group = model.groups[operation.group];
  return group.description.empty() || group.description == "undefined" ? "group " + group.name
                                                                       : group.description;
}

std::string HangWords::GroupWords(const HangOperation& operation) const {
  return fmt::format("{} ({})", GroupName(operation),
                     CountWords(model.groups[operation.group].members.size(), "member", "members"));
}

std::string HangWords::Words(const HangOperation& operation, std::span<const int32_t> ranks) const {
  if (!operation.is_p2p) {
    const std::string name = ranks.empty() ? NameOf(operation) : NameOf(operation, ranks.front());
    return fmt::format("{} {} of {}", name, operation.number, GroupWords(operation));
  }
  return fmt::format("{} of {}",
                     ranks.size() == 1 ? NameOf(operation, ranks.front()) : NameOf(operation),
                     GroupWords(operation));
}

bool HangWords::IsUnsent(const HangOperation& operation) const {
  if (!operation.is_p2p || operation.from != HangOperation::kAnyRank) {
    return false;
  }
  return std::none_of(model.ranks.begin(), model.ranks.end(), [&](const HangRank& rank) {
    return std::any_of(
        rank.transfers.begin(), rank.transfers.end(), [&](const IssuedTransfer& transfer) {
          const HangOperation& one = transfer.operation;
          return one.group == operation.group && one.to == operation.to && one.from == rank.rank;
        });
  });
}

std::span<const int32_t> HangWords::AtHead(const HangOperation& operation) const {
  const auto found = at_head.find(operation);
  return found == at_head.end() ? std::span<const int32_t>() : found->second;
}

std::string HangWords::LineOf(const HangRank& rank, const FlightEntry& entry) const {
  std::vector<ProgramFrame> frames;
  for (const FlightFrame& frame : rank.dump->Frames(entry)) {
    frames.push_back({frame.file, frame.function, frame.line});
  }
  return lines.LineOf(frames);
}

std::string HangWords::LastLine(int32_t rank) const {
  const HangRank* const at = model.Of(rank);
  // The last entry of a dump that ends in the middle is not where the rank was last.
  return at == nullptr || at->dump->entries.empty() || at->dump->is_cut
             ? ""
             : LineOf(*at, at->dump->entries.back());
}

std::string HangWords::LineAt(int32_t rank, const HangOperation& operation) const {
  const Issue issue = IssueOf(rank, operation);
  return issue.entry == nullptr ? "" : LineOf(*issue.rank, *issue.entry);
}

std::string HangWords::Since(const HangCulprit& culprit) const {
  return culprit.since_ns == 0 ? "" : fmt::format(" since {}", ClockTime(culprit.since_ns));
}

const HangMismatch* HangWords::PrimaryIn(const HangOperation& operation) const {
  const auto found = primary_.find(operation);
  return found == primary_.end() ? nullptr : found->second;
}

HangShift HangWords::ShiftOf(const HangCulprit& culprit) const {
  const bool is_mismatch =
      culprit.kind == HangKind::kMismatchOperation || culprit.kind == HangKind::kMismatchSizeOrType;
  const HangMismatch* const mismatch = is_mismatch ? PrimaryIn(culprit.evidence) : nullptr;
  return mismatch == nullptr ? HangShift{} : mismatch->ShiftOf(culprit.rank);
}

std::string CountWords(size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string WaitWords(int64_t ns) {
  const double seconds = static_cast<double>(ns) / static_cast<double>(kSecondNs);
  return seconds < 10 ? fmt::format("{:.3f} s", seconds) : fmt::format("{:.0f} s", seconds);
}

std::optional<int64_t> IfNotZero(int64_t value) {
  return value == 0 ? std::nullopt : std::optional(value);
}

std::string Signature(const Issue& issue) {
  const FlightDump& dump = *issue.rank->dump;
  const FlightEntry& first = *issue.entry;
  size_t calls = 0;
  int64_t in = 0;
  int64_t out = 0;
  for (const FlightEntry* entry = issue.entry; entry <= issue.last; ++entry) {
    const bool is_of_launch = entry->group == first.group && entry->is_p2p == first.is_p2p;
    // What closes a launch has no tensors.
    if (entry == issue.entry || (is_of_launch && !first.is_p2p && !IsClosing(dump.Name(*entry)))) {
      ++calls;
      in += ElementsOf(dump, entry->input_sizes);
      out += ElementsOf(dump, entry->output_sizes);
    }
  }
  const std::string_view name = OperationName(dump.Name(first));
  std::string text =
      calls == 1 ? std::string(name) : fmt::format("{} times {} in one launch,", calls, name);
  if (first.input_sizes != FlightEntry::kNothing) {
    text += fmt::format(" of {}", in);
  }
  if (first.output_sizes != FlightEntry::kNothing) {
    text += fmt::format(" to {}", out);
  }
  const std::vector<std::string_view> types = dump.Texts(first.input_types);
  text += types.empty() ? "" : fmt::format(" {}", types.front());
  return calls == 1 ? text : text + " in all";
}

std::optional<int64_t> WaitedOf(const HangCulprit& culprit) {
  return culprit.shown == HangShown::kShown ? IfNotZero(culprit.waited_ns) : std::nullopt;
}

}  // namespace borescope::internal
