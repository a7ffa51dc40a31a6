#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "borescope/postmortem/findings.h"
#include "borescope/postmortem/hang_words.h"

namespace borescope::internal {
namespace {

// Ranks that wait at something else, because of these: directly or not.
size_t OthersThatWait(const HangWords& hang, const Together& group) {
  std::vector<char> waits(static_cast<size_t>(hang.model.world), 0);
  std::vector<int32_t> next = group.ranks;
  for (const int32_t rank : next) {
    waits[static_cast<size_t>(rank)] = 1;
  }
  size_t count = 0;
  while (!next.empty()) {
    const int32_t rank = next.back();
    next.pop_back();
    for (const int32_t other : hang.waiting_for[static_cast<size_t>(rank)]) {
      if (waits[static_cast<size_t>(other)] == 0) {
        waits[static_cast<size_t>(other)] = 1;
        next.push_back(other);
        ++count;
      }
    }
  }
  const std::span<const int32_t> direct = hang.AtHead(group.first->evidence);
  const auto at_evidence =
      static_cast<size_t>(std::count_if(direct.begin(), direct.end(), [&](int32_t rank) {
        return !std::binary_search(group.ranks.begin(), group.ranks.end(), rank);
      }));
  return count - std::min(count, at_evidence);
}

// "rank 3 left no dump"
std::string WhatIsThereOf(const HangWords& hang, const Together& group) {
  const std::vector<int32_t>& others = hang.model.of_other_attempts;
  const std::string names = RankWords(group.ranks);
  if (std::includes(others.begin(), others.end(), group.ranks.begin(), group.ranks.end())) {
    return group.ranks.size() == 1
               ? fmt::format(
                     "the dump of {} is of another attempt of the job and counts for nothing",
                     names)
               : fmt::format(
                     "the dumps of {} are of other attempts of the job and count for nothing",
                     names);
  }
  const std::vector<int32_t>& older = hang.model.with_older_dumps;
  if (std::includes(older.begin(), older.end(), group.ranks.begin(), group.ranks.end())) {
    return fmt::format("{} of {} {} older than what the others finished and {} for nothing",
                       group.ranks.size() == 1 ? "the dump" : "the dumps", names,
                       group.ranks.size() == 1 ? "is" : "are",
                       group.ranks.size() == 1 ? "counts" : "count");
  }
  return fmt::format("{} left no {}dump", names, AnyCut(hang, group) ? "whole " : "");
}

// Of ranks that issued the evidence, but late.
std::string LateText(const HangWords& hang, const Together& group) {
  const HangCulprit& culprit = *group.first;
  const Issue issue = hang.IssueOf(culprit.rank, culprit.evidence);
  const int64_t issued_ns = hang.model.IssuedAt(*issue.rank, culprit.evidence);
  return fmt::format("{} in {}{}; {} issued it {} later, at {} (the timeout is {}).",
                     CountWords(culprit.waiting, "rank waits", "ranks wait"),
                     hang.Words(culprit.evidence, hang.AtHead(culprit.evidence)),
                     hang.Since(culprit), RankWords(group.ranks),
                     WaitWords(issued_ns - culprit.since_ns), ClockTime(issued_ns),
                     WaitWords(issue.entry->timeout_ms * kMillisecondNs));
}

// That times of these ranks, or of the one that came first, are not by their own clocks.
std::string ClockText(const HangWords& hang, const Together& group) {
  constexpr size_t kMostNamed = 3;
  std::vector<int32_t> ranks = group.ranks;
  ranks.push_back(group.first->waiting_rank);
  std::string text;
  size_t named = 0;
  std::set<int32_t> known;
  for (const int32_t rank : ranks) {
    const HangRank* const at = hang.model.Of(rank);
    if (at == nullptr || at->clock_ahead_ns == 0 || !known.insert(rank).second ||
        ++named > kMostNamed) {
      continue;
    }
    text += fmt::format(" The clock of rank {} is {} {} the others', which is taken away.", rank,
                        WaitWords(std::abs(at->clock_ahead_ns)),
                        at->clock_ahead_ns > 0 ? "ahead of" : "behind");
  }
  return text;
}

bool IsFinishedElsewhere(const HangWords& hang, const HangCulprit& culprit) {
  const std::vector<int32_t> members = hang.model.MembersOf(culprit.evidence);
  return std::any_of(members.begin(), members.end(), [&](int32_t member) {
    return member != culprit.rank &&
           WhereIs(hang.model, member, culprit.evidence).state == WhereState::kDone;
  });
}

// " there (10 of 10)": the latest numbers that were completed and issued in the group of the
// evidence, where the dumps of all these ranks say the same.
std::string NumbersOf(const HangWords& hang, const Together& group) {
  std::optional<int64_t> known;
  for (const int32_t number : group.ranks) {
    const HangRank* const rank = hang.model.Of(number);
    const std::optional<int32_t> id =
        rank == nullptr ? std::nullopt : StatusIdOf(hang.model, *rank, group.first->evidence.group);
    const FlightStatus* const status = id.has_value() ? rank->dump->StatusOf(*id) : nullptr;
    const bool is_same = status != nullptr && status->completed >= 0 &&
                         status->completed == status->enqueued &&
                         (!known.has_value() || *known == status->completed);
    if (!is_same) {
      return "";
    }
    known = status->completed;
  }
  return known.has_value() ? fmt::format(" there ({} of {})", *known, *known) : "";
}

std::string WhatTheyDid(const HangWords& hang, const Together& group) {
  std::vector<std::string> parts;
  const HangCulprit& culprit = *group.first;
  const HangRank* const rank = hang.model.Of(group.ranks.front());
  if (rank == nullptr || rank->newest_created_ns == 0) {
    const bool is_one = group.ranks.size() == 1;
    const std::string numbers = NumbersOf(hang, group);
    return fmt::format("completed all that {}{} and issued no more ({} empty)",
                       numbers.empty() ? "is known of "
                       : is_one        ? "it issued"
                                       : "they issued",
                       numbers.empty() ? (is_one ? "it" : "them") : numbers,
                       is_one ? "its dump is" : "their dumps are");
  }
  const std::string last = ClockTime(rank->newest_created_ns);
  return culprit.activity == HangActivity::kStillIssuing
             ? fmt::format("went on issuing other work until {}", last)
             : fmt::format("completed all that was issued there, the last at {}", last);
}

std::string StuckIn(const HangWords& hang, const Together& group) {
  std::string text;
  std::vector<HangOperation> named;
  for (const HangCulprit& culprit : hang.result.culprits) {
    const bool is_of_these = culprit.kind == HangKind::kDeviceStuck &&
                             culprit.certainty == group.first->certainty &&
                             std::find(named.begin(), named.end(), culprit.evidence) == named.end();
    if (is_of_these) {
      named.push_back(culprit.evidence);
    }
  }
  constexpr size_t kMostNamed = 3;
  for (size_t i = 0; i < named.size() && i < kMostNamed; ++i) {
    text += i == 0 ? "" : i + 1 == named.size() ? " and " : ", ";
    text += fmt::format("{} {} of {} ({})", hang.NameOf(named[i]), hang.NumberOf(named[i]),
                        hang.GroupName(named[i]), RankWords(hang.model.MembersOf(named[i])));
  }
  if (named.size() > kMostNamed) {
    text += fmt::format(" and {} more", named.size() - kMostNamed);
  }
  return text + (named.size() == 1 ? " was" : " were");
}

// Where a rank is: of what it launched together, what the others keep from ending.
const HangOperation& StandsIn(const HangWords& hang, const HangCulprit& culprit) {
  const HangRank& rank = *hang.model.Of(culprit.rank);
  const bool is_there =
      std::find(rank.head.begin(), rank.head.end(), culprit.evidence) != rank.head.end();
  return is_there ? culprit.evidence : rank.head.front();
}

std::string StandsAt(const HangWords& hang, const HangCulprit& culprit) {
  return fmt::format("rank {} stands at {}", culprit.rank,
                     hang.Words(StandsIn(hang, culprit), std::span(&culprit.rank, 1)));
}

// Of ranks that wait for each other one with whom the first ones do; rather one that waits where
// the first of them does.
const HangCulprit* OtherSide(const HangWords& hang, const Together& group) {
  const HangCulprit* other = nullptr;
  for (const HangCulprit& culprit : hang.result.culprits) {
    const bool is_other = culprit.kind == HangKind::kOrder && !culprit.is_primary &&
                          group.first->is_primary &&
                          !std::binary_search(group.ranks.begin(), group.ranks.end(), culprit.rank);
    if (is_other && group.first->kind == HangKind::kOrder) {
      const bool waits = culprit.rank == group.first->waiting_rank;
      other = other == nullptr || waits ? &culprit : other;
    }
  }
  return other;
}

// What it left out, where that is known.
std::string WhatItLeftOut(const HangWords& hang, const HangCulprit& culprit) {
  if (!culprit.left_out.has_value()) {
    return "";
  }
  const std::string name = hang.NameOf(culprit.evidence, culprit.rank);
  const LeftOutTransfer& left_out = *culprit.left_out;
  return left_out.usual == 0
             ? fmt::format(
                   ", and its latest launch of transfers in {} lacks {}, which those "
                   "before had",
                   hang.GroupName(culprit.evidence), name)
             : fmt::format(" after {} instead of {} times {}", left_out.issued, left_out.usual,
                           name);
}

// Two groups of the same members in which ranks wait for each other; nothing where there are none.
std::optional<std::pair<const HangCulprit*, const HangCulprit*>> InTwinGroups(
    const HangWords& hang) {
  for (const HangCulprit& a : hang.result.culprits) {
    for (const HangCulprit& b : hang.result.culprits) {
      const HangGroup& of_a = hang.model.groups[a.evidence.group];
      const HangGroup& of_b = hang.model.groups[b.evidence.group];
      if (a.kind == HangKind::kOrder && b.kind == HangKind::kOrder &&
          a.evidence.group < b.evidence.group && of_a.members == of_b.members &&
          of_a.description == of_b.description) {
        return std::pair(&a, &b);
      }
    }
  }
  return std::nullopt;
}

std::string OrderText(const HangWords& hang, const Together& group) {
  std::string text;
  size_t named = 0;
  constexpr size_t kMostNamed = 4;
  for (const HangCulprit& culprit : hang.result.culprits) {
    const bool is_of_these =
        culprit.kind == HangKind::kOrder &&
        std::binary_search(group.ranks.begin(), group.ranks.end(), culprit.rank);
    if (is_of_these && named++ < kMostNamed) {
      text += (text.empty() ? "" : "; ") + StandsAt(hang, culprit) + WhatItLeftOut(hang, culprit);
    }
  }
  if (const HangCulprit* const other = OtherSide(hang, group); other != nullptr) {
    text += "; " + StandsAt(hang, *other);
  }
  std::string sentence = text + ": none of these can end before the others.";
  sentence[0] = static_cast<char>(sentence[0] - 'a' + 'A');
  if (const auto twins = InTwinGroups(hang); twins.has_value()) {
    sentence += fmt::format(
        " Groups {} and {} have the same members: either ranks use two groups in another order, or "
        "they created their groups in another order, so that one group has two names.",
        hang.model.groups[twins->first->evidence.group].name,
        hang.model.groups[twins->second->evidence.group].name);
  }
  return sentence;
}

// What distinguishes calls of an operation; 0 for a rank without one.
uint64_t CallOf(const HangWords& hang, int32_t rank, const HangOperation& operation) {
  const HangRank* const at = hang.model.Of(rank);
  const IssuedOperation* const issued = at == nullptr ? nullptr : at->Find(operation);
  return issued == nullptr ? 0 : issued->signature;
}

bool AllCalledTheSame(const HangWords& hang, const HangOperation& operation,
                      std::span<const int32_t> ranks) {
  return std::all_of(ranks.begin(), ranks.end(), [&](int32_t rank) {
    return CallOf(hang, rank, operation) == CallOf(hang, ranks.front(), operation);
  });
}

// "ranks 0 and 1 called all_reduce of 16 Float, rank 2 called broadcast of 16 Float"
std::string WhatTheyCalled(const HangWords& hang, const HangOperation& operation,
                           std::span<const int32_t> ranks) {
  std::vector<std::pair<uint64_t, std::vector<int32_t>>> calls;  // by their first rank
  std::map<uint64_t, size_t> place_of;
  for (const int32_t rank : ranks) {
    const auto [place, is_new] = place_of.try_emplace(CallOf(hang, rank, operation), calls.size());
    if (is_new) {
      calls.emplace_back(place->first, std::vector<int32_t>());
    }
    calls[place->second].second.push_back(rank);
  }
  constexpr size_t kMostNamed = 4;
  std::string text;
  std::set<std::string> named;
  size_t rest = 0;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (i >= kMostNamed) {
      rest += calls[i].second.size();
      continue;
    }
    const Issue issue = hang.IssueOf(calls[i].second.front(), operation);
    std::string call = Signature(issue);
    // Some differ in what is not in that text.
    call += named.insert(call).second ? "" : " with another output, or coalesced with others";
    text += fmt::format("{}{} called {}", i == 0 ? "" : ", ", RankWords(calls[i].second), call);
  }
  return rest == 0 ? text : fmt::format("{}, {} others called still others", text, rest);
}

// "send 0->1 of pp (4 members): rank 0 sends 100 Float, rank 1 receives 60 Float"
std::string TransferText(const HangWords& hang, const HangMismatch& mismatch) {
  const HangOperation& operation = mismatch.operation;
  const auto tensor = [&](int32_t rank) {
    const Issue issue = hang.IssueOf(rank, operation);
    const FlightDump& dump = *issue.rank->dump;
    const bool sends = rank == operation.from;
    const bool is_input =
        dump.Sizes(sends ? issue.entry->input_sizes : issue.entry->output_sizes).empty() != sends;
    const std::vector<std::string_view> types =
        dump.Texts(is_input ? issue.entry->input_types : issue.entry->output_types);
    return fmt::format(
        "{}{}{}", ElementsOf(dump, is_input ? issue.entry->input_sizes : issue.entry->output_sizes),
        types.empty() ? "" : " ", types.empty() ? std::string_view() : types.front());
  };
  return fmt::format(
      "{}: rank {} sends {}, rank {} receives {}: which of them is wrong the dumps "
      "do not say.",
      hang.Words(operation, {}), operation.from, tensor(operation.from), operation.to,
      tensor(operation.to));
}

// How ranks go on after an operation that they skipped, or that is one more.
std::string ShiftText(const HangMismatch& mismatch, const HangShift& shift) {
  if (shift.count == 0) {
    return "";
  }
  const int32_t count = std::abs(shift.count);
  const std::string many =
      count == 1 ? std::string("one operation") : fmt::format("{} operations", count);
  if (shift.is_either) {
    return fmt::format(
        " From there on they have {} less than the others, or {} more: what they call repeats, so "
        "that both look the same.",
        many, count == 1 ? "one" : fmt::format("{}", count));
  }
  const std::string apart = fmt::format("{} {}", many, shift.count < 0 ? "ahead" : "behind");
  if (mismatch.is_begin_lost) {
    return fmt::format(" They are {}: {}, or {} that left the rings.", apart,
                       shift.count < 0 ? "they skipped this one" : "this one is one more",
                       shift.count < 0 ? "one" : "one is");
  }
  if (count > 1) {
    return fmt::format(
        " From there on they are {}: {} {}.", apart, shift.count < 0 ? "they skipped" : "they have",
        shift.count < 0
            ? fmt::format("this one and {}",
                          count == 2 ? "the next" : fmt::format("the next {}", count - 1))
            : fmt::format("{} more", count));
  }
  return fmt::format(" From there on they are {}: {}.", apart,
                     shift.count < 0 ? "they skipped it" : "it is one more");
}

// Members that did not come to an operation in which others differ.
std::string AbsentText(const HangWords& hang, const HangMismatch& mismatch) {
  const std::vector<int32_t> members = hang.model.MembersOf(mismatch.operation);
  const auto absent = std::count_if(members.begin(), members.end(), [&](int32_t member) {
    return hang.model.IsWhole(member) &&
           WhereIs(hang.model, member, mismatch.operation).state == WhereState::kNotIssued;
  });
  return absent == 0 ? ""
                     : fmt::format(" {} not come there.",
                                   CountWords(static_cast<size_t>(absent), "more member has",
                                              "more members have"));
}

std::string MismatchText(const HangWords& hang, const Together& group) {
  const HangMismatch* const mismatch = hang.PrimaryIn(group.first->evidence);
  if (mismatch == nullptr) {
    return {};
  }
  if (mismatch->operation.is_p2p) {
    return TransferText(hang, *mismatch);
  }
  std::string text = fmt::format("Number {} of {}: {}", mismatch->operation.number,
                                 hang.GroupWords(mismatch->operation),
                                 WhatTheyCalled(hang, mismatch->operation, group.ranks));
  if (!mismatch->others.empty()) {
    text += fmt::format(", {}.", WhatTheyCalled(hang, mismatch->operation, mismatch->others));
  } else {
    text += AllCalledTheSame(hang, mismatch->operation, group.ranks)
                ? "; what they send together is not what they receive."
                : "; no more than half of the members agree.";
  }
  return text + ShiftText(*mismatch, mismatch->ShiftOf(group.ranks.front())) +
         AbsentText(hang, *mismatch);
}

std::string EvidenceOfKind(const HangWords& hang, const Together& group) {
  const HangCulprit& culprit = *group.first;
  const std::span<const int32_t> there = hang.AtHead(culprit.evidence);
  const std::string operation = hang.Words(culprit.evidence, there);
  const std::string names = RankWords(group.ranks);
  switch (culprit.kind) {
    case HangKind::kNeverIssued:
      if (hang.IssueOf(culprit.rank, culprit.evidence).entry != nullptr) {
        return LateText(hang, group);
      }
      return fmt::format("{} in {}{}; {} {}.", CountWords(there.size(), "rank waits", "ranks wait"),
                         operation, hang.Since(culprit), names, WhatTheyDid(hang, group));
    case HangKind::kNoDump:
      return fmt::format("{} in {}{}; {}.", CountWords(there.size(), "rank waits", "ranks wait"),
                         operation, hang.Since(culprit), WhatIsThereOf(hang, group));
    case HangKind::kDeviceStuck:
      if (culprit.evidence.is_p2p && !IsFinishedElsewhere(hang, culprit)) {
        return fmt::format(
            "{} issued {}{} and did not finish. The dump of the other end has nothing of it "
            "left, and all that waits there waits for {}: it must have finished its part.",
            names, operation, hang.Since(culprit), names);
      }
      return fmt::format("{} finished by other members; {} issued it{} and did not finish.",
                         StuckIn(hang, group), names, hang.Since(culprit));
    case HangKind::kNotStarted:
      return fmt::format("{} was issued by all members{} and begun by some; not by {}.", operation,
                         hang.Since(culprit), names);
    case HangKind::kNotFinished:
      if (hang.IsUnsent(culprit.evidence)) {
        return fmt::format(
            "{} waits in {}{}; no dump has an outstanding send to it, and which rank should send "
            "cannot be told.",
            names, hang.Words(culprit.evidence, group.ranks), hang.Since(culprit));
      }
      return fmt::format(
          "{} was issued by {}{} and finished by {}: which of them is at fault cannot be told.",
          operation, culprit.evidence.is_p2p ? "both ends" : "all members", hang.Since(culprit),
          culprit.evidence.is_p2p ? "neither" : "none");
    case HangKind::kOrder:
      return OrderText(hang, group);
    default:
      return MismatchText(hang, group);
  }
}

// Where a rank of each side issued its call, if nobody can say which side is right.
std::string LinesOfSides(const HangWords& hang, const Together& group) {
  constexpr size_t kMostNamed = 4;
  std::set<uint64_t> calls;
  std::string text;
  for (const int32_t rank : group.ranks) {
    const std::string line = hang.LineAt(rank, group.first->evidence);
    // Each end of a transfer is a side.
    const uint64_t call = group.first->evidence.is_p2p ? static_cast<uint64_t>(rank)
                                                       : CallOf(hang, rank, group.first->evidence);
    if (line.empty() || calls.size() >= kMostNamed || !calls.insert(call).second) {
      continue;
    }
    text += fmt::format("{}rank {}: issued at {}", text.empty() ? "" : "; ", rank, line);
  }
  return text;
}

// A line of the program, and the ranks that it is about; ascending.
struct PlaceOfRanks {
  std::string line;
  std::vector<int32_t> ranks;
};

std::string LineOfCulprit(const HangWords& hang, const HangCulprit& culprit) {
  if (culprit.left_out.has_value()) {
    const HangRank& rank = *hang.model.Of(culprit.rank);
    return hang.LineOf(rank, rank.dump->entries[culprit.left_out->entry]);
  }
  if (culprit.kind == HangKind::kNeverIssued) {
    return hang.LastLine(culprit.rank);
  }
  return hang.LineAt(culprit.rank,
                     culprit.kind == HangKind::kOrder ? StandsIn(hang, culprit) : culprit.evidence);
}

// Where these culprits are, each place once, in the order of the ranks. Of an order it is the
// places of both sides that say what is wrong: one of those with whom the first ones are.
std::vector<PlaceOfRanks> PlacesOf(const HangWords& hang, const Together& group) {
  const HangCulprit& first = *group.first;
  std::vector<const HangCulprit*> culprits;
  for (const HangCulprit& culprit : hang.result.culprits) {
    const bool is_of_these =
        culprit.kind == first.kind && culprit.is_primary == first.is_primary &&
        culprit.certainty == first.certainty &&
        (first.kind == HangKind::kOrder || first.kind == HangKind::kDeviceStuck ||
         culprit.evidence == first.evidence) &&
        std::binary_search(group.ranks.begin(), group.ranks.end(), culprit.rank);
    if (is_of_these) {
      culprits.push_back(&culprit);
    }
  }
  std::stable_sort(culprits.begin(), culprits.end(),
                   [](const HangCulprit* a, const HangCulprit* b) { return a->rank < b->rank; });
  if (const HangCulprit* const other = OtherSide(hang, group); other != nullptr) {
    culprits.push_back(other);
  }
  std::vector<PlaceOfRanks> places;
  std::map<std::string, size_t> place_of;
  for (const HangCulprit* const culprit : culprits) {
    std::string line = LineOfCulprit(hang, *culprit);
    if (line.empty()) {
      continue;
    }
    const auto [at, is_new] = place_of.try_emplace(line, places.size());
    if (is_new) {
      places.push_back({std::move(line), {}});
    }
    places[at->second].ranks.push_back(culprit->rank);
  }
  for (PlaceOfRanks& place : places) {
    std::sort(place.ranks.begin(), place.ranks.end());
    place.ranks.erase(std::unique(place.ranks.begin(), place.ranks.end()), place.ranks.end());
  }
  return places;
}

}  // namespace

std::string EvidenceOf(const HangWords& hang, const Together& group) {
  const HangCulprit& culprit = *group.first;
  std::string text = EvidenceOfKind(hang, group);
  const size_t others = OthersThatWait(hang, group);
  if (others > 0 && culprit.kind != HangKind::kNotFinished) {
    text += fmt::format(" {} for these.", CountWords(others, "more rank waits", "more ranks wait"));
  }
  if (culprit.is_shown_by_file) {
    text += fmt::format(
        " By the time of its file the dump of rank {} was written {} after that was issued, "
        "unless it is the time of a copy.",
        culprit.waiting_rank, WaitWords(culprit.waited_ns));
  }
  text += ClockText(hang, group);
  const bool has_odd_clock = std::any_of(group.ranks.begin(), group.ranks.end(), [&](int32_t rank) {
    return hang.model.Of(rank) != nullptr && hang.model.Of(rank)->has_odd_clock;
  });
  if (has_odd_clock) {
    text +=
        " Its times are more than ten minutes from those of the others: the clock is wrong, "
        "or it is a dump of another attempt.";
  }
  if (culprit.shown == HangShown::kAssumed) {
    text += " That this is a hang is assumed: the dumps do not show how long it lasted.";
  } else if (culprit.shown == HangShown::kNotShown) {
    text += " It had waited for less than 10 s.";
  }
  return text;
}

std::string WhereOf(const HangWords& hang, const Together& group) {
  const HangCulprit& culprit = *group.first;
  std::string others;
  if (culprit.kind == HangKind::kMismatchOperation ||
      culprit.kind == HangKind::kMismatchSizeOrType) {
    const HangMismatch* const mismatch = hang.PrimaryIn(culprit.evidence);
    if (mismatch != nullptr && !mismatch->others.empty()) {
      others = hang.LineAt(mismatch->others.front(), culprit.evidence);
    } else if (const std::string sides = LinesOfSides(hang, group);
               mismatch != nullptr && !sides.empty()) {
      return sides;
    }
  } else if (culprit.kind != HangKind::kOrder || culprit.left_out.has_value()) {
    others = hang.LineAt(culprit.waiting_rank, culprit.evidence);
  }
  const std::vector<PlaceOfRanks> places = PlacesOf(hang, group);
  if (places.empty() && others.empty()) {
    return "not recorded (these dumps have no stacks: TORCH_INCLUDE_STACK_TRACE=1 records them)";
  }
  const bool is_at_evidence = culprit.kind != HangKind::kNeverIssued;
  constexpr size_t kMostNamed = 4;
  std::string text;
  for (size_t i = 0; i < places.size() && i < kMostNamed; ++i) {
    text += fmt::format("{}{}: {} {}", i == 0 ? "" : "; ", RankWords(places[i].ranks),
                        is_at_evidence ? "issued at" : "last issued at", places[i].line);
  }
  text +=
      places.size() > kMostNamed ? fmt::format("; {} more places", places.size() - kMostNamed) : "";
  const bool is_apart = places.size() != 1 || places.front().line != others || !is_at_evidence;
  if (!others.empty() && is_apart) {
    text += fmt::format("{}the others: at {}", text.empty() ? "" : "; ", others);
  }
  return text;
}

bool AnyCut(const HangWords& hang, const Together& group) {
  return std::any_of(group.ranks.begin(), group.ranks.end(),
                     [&](int32_t rank) { return hang.model.Of(rank) != nullptr; });
}

}  // namespace borescope::internal
