#include "borescope/postmortem/watchdogs.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "borescope/base/text/text.h"
#include "borescope/postmortem/findings.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kOperationHelp =
    "Make all members of the group call the same collectives in the same order: look for a branch "
    "that depends on the rank or on its data. Dumps of the flight recorder would show the lines.";
constexpr std::string_view kSizeHelp =
    "Give all members tensors of the same size: pad uneven batches, or use the operations that "
    "take uneven sizes.";
constexpr std::string_view kNeverHelp =
    "Their hosts are stuck in Python (a lock, data loading, input or output), or were merely slow: "
    "`py-spy dump --pid PID` on these ranks before the job is killed; look at what only these "
    "ranks do.";
constexpr std::string_view kDeviceHelp =
    "Look at the kernel log of their hosts (`dmesg | grep -i xid`) and at these GPUs (`nvidia-smi "
    "-q`, `dcgmi diag -r 3`); drain the node if it comes back.";

// What one rank says about one group.
struct Member {
  const TimeoutText* timeout = nullptr;  // of the first operation that did not end
  const TimeoutText* progress = nullptr;
};
using Members = std::map<int32_t, Member>;

// Whether a rank cannot leave the operation before all came: not of a broadcast, whose root may.
bool WaitsForAll(std::string_view operation) {
  return operation.starts_with("ALLREDUCE") || operation.starts_with("ALLGATHER") ||
         operation.starts_with("_ALLGATHER_BASE") || operation.starts_with("REDUCE_SCATTER") ||
         operation.starts_with("_REDUCE_SCATTER_BASE") || operation.starts_with("ALLTOALL") ||
         operation == "BARRIER";
}

// Whether the sizes of all members have to be equal.
bool HasEqualSizes(std::string_view operation) {
  return operation == "ALLREDUCE" || operation == "BROADCAST" || operation == "REDUCE" ||
         operation == "_ALLGATHER_BASE" || operation == "_REDUCE_SCATTER_BASE";
}

// Sends and what was issued together count with numbers of their own.
bool IsCollective(const TimeoutText& timeout) {
  return timeout.seq.has_value() && !timeout.operation.empty() && timeout.operation != "SEND" &&
         timeout.operation != "RECV" && timeout.operation != "COALESCED" &&
         timeout.operation != "UNKNOWN";
}

std::string NameOf(const TimeoutText& timeout) {
  return fmt::format("{} {}", timeout.operation, timeout.seq.value_or(0));
}

// The groups that were named, each with its members. A timeout that does not name its group is of
// the only one that its rank names elsewhere.
std::map<std::string, Members> GroupsOf(std::span<const JobEvent> events) {
  std::map<std::string, Members> groups;
  std::map<int32_t, std::set<std::string>> named;
  for (const JobEvent& event : events) {
    if (event.rank.has_value() && event.timeout.has_value() && !event.timeout->group.empty()) {
      named[*event.rank].insert(event.timeout->group);
    }
  }
  for (const JobEvent& event : events) {
    if (!event.rank.has_value() || !event.timeout.has_value()) {
      continue;
    }
    std::string group = event.timeout->group;
    const auto known = named.find(*event.rank);
    if (group.empty() && known != named.end() && known->second.size() == 1) {
      group = *known->second.begin();
    }
    if (group.empty()) {
      continue;
    }
    Member& member = groups[group][*event.rank];
    const TimeoutText& said = *event.timeout;
    if (event.kind == LogKind::kProgress) {
      member.progress = &said;
    } else if (IsCollective(said) &&
               (member.timeout == nullptr || *said.seq < *member.timeout->seq)) {
      member.timeout = &said;
    }
  }
  return groups;
}

std::vector<int32_t> RanksWhere(const Members& members, const auto& is_so) {
  std::vector<int32_t> ranks;
  for (const auto& [rank, member] : members) {
    if (is_so(member)) ranks.push_back(rank);
  }
  return ranks;
}

std::string Verb(const std::vector<int32_t>& ranks, std::string_view one, std::string_view more) {
  return fmt::format("{} {}", RankWords(ranks), ranks.size() == 1 ? one : more);
}

// Timed-out operations of different numbers, or ranks that did not issue what others wait in.
std::optional<WatchdogCulprits> Behind(const std::string& group, const Members& members) {
  const TimeoutText* first = nullptr;
  const TimeoutText* last = nullptr;
  for (const auto& [rank, member] : members) {
    if (member.timeout == nullptr) continue;
    if (first == nullptr || *member.timeout->seq < *first->seq) first = member.timeout;
    if (last == nullptr || *member.timeout->seq > *last->seq) last = member.timeout;
  }
  if (first == nullptr) {
    return std::nullopt;
  }
  const std::vector<int32_t> ahead = RanksWhere(members, [&](const Member& member) {
    return member.timeout != nullptr && *member.timeout->seq == *last->seq;
  });
  const std::vector<int32_t> idle = RanksWhere(members, [&](const Member& member) {
    return member.timeout == nullptr && member.progress != nullptr &&
           *member.progress->last_enqueued < *last->seq &&
           member.progress->last_enqueued == member.progress->last_completed;
  });
  if (!idle.empty()) {
    const int64_t number = *members.at(idle.front()).progress->last_enqueued;
    return WatchdogCulprits{
        "Ranks stopped issuing work", idle,
        fmt::format("{} in {} of {}; {} all work there up to {} and issued no more.",
                    Verb(ahead, "waits", "wait"), NameOf(*last), group,
                    Verb(idle, "completed", "completed"), number),
        kNeverHelp};
  }
  if (*first->seq == *last->seq || !WaitsForAll(first->operation)) {
    return std::nullopt;
  }
  const std::vector<int32_t> behind = RanksWhere(members, [&](const Member& member) {
    return member.timeout != nullptr && *member.timeout->seq == *first->seq;
  });
  return WatchdogCulprits{
      "Devices stopped inside a collective", behind,
      fmt::format("The watchdogs say that {} in {} of {}, and {} in {}: the latter completed the "
                  "first one, which none leaves before all came.",
                  Verb(behind, "waits", "wait"), NameOf(*first), group,
                  Verb(ahead, "waits", "wait"), NameOf(*last)),
      kDeviceHelp};
}

// Those that called something else than most in the operation of one number.
std::optional<WatchdogCulprits> Different(const std::string& group, const Members& members) {
  std::map<std::string, std::vector<int32_t>> by_operation;
  std::map<std::string, std::vector<int32_t>> by_size;
  size_t count = 0;
  bool has_sizes = true;
  std::optional<int64_t> seq;
  for (const auto& [rank, member] : members) {
    if (member.timeout == nullptr) continue;
    const TimeoutText& said = *member.timeout;
    if (seq.has_value() && *seq != *said.seq) {
      return std::nullopt;
    }
    seq = said.seq;
    ++count;
    by_operation[NameOf(said)].push_back(rank);
    has_sizes = has_sizes && HasEqualSizes(said.operation) && said.input_elements.has_value();
    by_size[fmt::format("{} of {} to {} elements", NameOf(said), said.input_elements.value_or(0),
                        said.output_elements.value_or(0))]
        .push_back(rank);
  }
  const bool is_operation = by_operation.size() > 1;
  if (!is_operation && (!has_sizes || by_size.size() < 2)) {
    return std::nullopt;
  }
  const auto& parts = is_operation ? by_operation : by_size;
  const auto most = std::max_element(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
    return a.second.size() < b.second.size();
  });
  if (most->second.size() * 2 <= count) {
    return std::nullopt;
  }
  WatchdogCulprits culprits;
  culprits.finding = is_operation ? "Ranks called different operations"
                                  : "Ranks called with different sizes or types";
  culprits.help = is_operation ? kOperationHelp : kSizeHelp;
  culprits.evidence = "By their watchdogs ";
  for (const auto& [name, ranks] : parts) {
    if (name == most->first) continue;
    culprits.evidence += fmt::format("{} {}, ", Verb(ranks, "called", "called"), name);
    culprits.ranks.insert(culprits.ranks.end(), ranks.begin(), ranks.end());
  }
  std::sort(culprits.ranks.begin(), culprits.ranks.end());
  culprits.evidence +=
      fmt::format("{} {}, of {}.", Verb(most->second, "called", "called"), most->first, group);
  return culprits;
}

// ---- checks of PyTorch that name ranks ----

// What ranks called, by exceptions that name two of them each.
std::optional<WatchdogCulprits> ByCalls(std::span<const JobEvent> events) {
  std::map<int32_t, CallText> calls;
  for (const JobEvent& event : events) {
    for (const CallText& call : event.calls) {
      if (!event.is_no_end) calls.try_emplace(call.rank, call);
    }
  }
  const auto name = [](const CallText& call) {
    return call.operation + (call.seq.has_value() ? fmt::format(" {}", *call.seq) : "");
  };
  std::map<std::string, std::vector<int32_t>> by_operation;
  std::map<std::string, std::vector<int32_t>> by_shape;
  for (const auto& [rank, call] : calls) {
    by_operation[name(call)].push_back(rank);
    by_shape[fmt::format("{} of shape [{}]", name(call), call.shape)].push_back(rank);
  }
  if (calls.size() < 2) {
    return std::nullopt;
  }
  const bool is_operation = by_operation.size() > 1;
  const auto& parts = is_operation ? by_operation : by_shape;
  const auto most = std::max_element(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
    return a.second.size() < b.second.size();
  });
  const bool has_most = parts.size() > 1 && most->second.size() * 2 > calls.size();
  WatchdogCulprits culprits;
  culprits.finding = is_operation ? "Ranks called different operations"
                                  : "Ranks called with different sizes or types";
  culprits.help = is_operation ? kOperationHelp : kSizeHelp;
  culprits.certainty = has_most ? Certainty::kLikely : Certainty::kCannotTell;
  culprits.evidence = "By PyTorch's check of collectives ";
  for (const auto& [of, ranks] : parts) {
    culprits.evidence += fmt::format("{} called {}, ", RankWords(ranks), of);
    if (has_most && of == most->first) {
      continue;
    }
    culprits.ranks.insert(culprits.ranks.end(), ranks.begin(), ranks.end());
  }
  culprits.evidence.resize(culprits.evidence.size() - 2);
  culprits.evidence += has_most ? "." : ". Which of them is wrong, it does not say.";
  std::sort(culprits.ranks.begin(), culprits.ranks.end());
  return culprits;
}

// The report of desynchronized ranks, which each watchdog writes.
std::optional<WatchdogCulprits> ByReport(std::span<const JobEvent> events) {
  std::set<int32_t> known;
  for (const JobEvent& event : events) {
    if (event.rank.has_value()) known.insert(*event.rank);
  }
  const JobEvent* found = nullptr;
  for (const JobEvent& event : events) {
    if (event.desync == DesyncKind::kNone) {
      continue;
    }
    // That all of them joined an operation and did not finish it says nothing about anybody.
    const bool has_others = std::any_of(known.begin(), known.end(), [&](int32_t rank) {
      return std::find(event.blamed.begin(), event.blamed.end(), rank) == event.blamed.end();
    });
    const bool is_telling = event.desync != DesyncKind::kNotFinished || has_others;
    if (is_telling && (found == nullptr || event.desync < found->desync)) found = &event;
  }
  if (found == nullptr) {
    return std::nullopt;
  }
  const bool is_device = found->desync == DesyncKind::kNotFinished;
  WatchdogCulprits culprits;
  culprits.finding =
      is_device ? "Devices stopped inside a collective" : "Ranks stopped issuing work";
  culprits.ranks = found->blamed;
  std::sort(culprits.ranks.begin(), culprits.ranks.end());
  culprits.evidence = fmt::format("By PyTorch's desync report {}.", found->text);
  culprits.help = is_device ? kDeviceHelp : kNeverHelp;
  return culprits;
}

}  // namespace

std::optional<WatchdogCulprits> CompareWatchdogs(std::span<const JobEvent> events) {
  for (const auto& [group, members] : GroupsOf(events)) {
    if (std::optional<WatchdogCulprits> found = Behind(group, members)) {
      return found;
    }
    if (std::optional<WatchdogCulprits> found = Different(group, members)) {
      return found;
    }
  }
  std::optional<WatchdogCulprits> by_calls = ByCalls(events);
  return by_calls.has_value() ? by_calls : ByReport(events);
}

}  // namespace borescope::internal
