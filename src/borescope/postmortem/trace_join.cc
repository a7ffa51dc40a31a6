#include "borescope/postmortem/trace_join.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/ingest/load.h"

namespace borescope::internal {
namespace {

// The innermost of the events of one kind that contain a moment: the one that began last.
struct Innermost {
  int64_t begin_ns = INT64_MIN;
  std::string_view name;

  void Take(int64_t begin, std::string_view event) {
    if (begin >= begin_ns) {
      begin_ns = begin;
      name = event;
    }
  }
  std::optional<std::string> Text() const {
    return name.empty() ? std::nullopt : std::optional(std::string(name));
  }
};

// What contains the moment on one thread.
struct OnThread {
  Innermost step;
  Innermost annotation;
  Innermost module;
  Innermost operation;
};

std::string Apart(int64_t ns) {
  return fmt::format("{:.3f} s", static_cast<double>(ns) / static_cast<double>(kSecondNs));
}

constexpr std::string_view kModule = "nn.Module: ";
constexpr std::string_view kStep = "ProfilerStep#";

std::map<uint32_t, OnThread> ThreadsAt(const Trace& trace, int64_t at_ns) {
  std::map<uint32_t, OnThread> threads;
  const HostEvents& host = trace.host();
  for (size_t i = 0; i < host.size(); ++i) {
    CheckStopAt(i);
    const int64_t begin = host.ts_ns[i];
    if (begin > at_ns || at_ns - begin > host.dur_ns[i]) {
      continue;
    }
    const std::string_view name = trace.Text(host.name[i]);
    OnThread& thread = threads[host.track[i].value];
    if (host.kind[i] == HostKind::kAnnotation) {
      (name.starts_with(kStep) ? thread.step : thread.annotation).Take(begin, name);
    } else if (host.kind[i] == HostKind::kOp) {
      thread.operation.Take(begin, name);
    } else if (host.kind[i] == HostKind::kPython && name.starts_with(kModule)) {
      thread.module.Take(begin, name.substr(kModule.size()));
    }
  }
  return threads;
}

}  // namespace

std::optional<int64_t> ClockDifference(const Trace& trace, int32_t rank,
                                       std::span<const AllocationMark> marks) {
  constexpr size_t kFewest = 3;
  if (!trace.meta().base_ns.has_value()) {
    return std::nullopt;
  }
  const int64_t base = *trace.meta().base_ns;
  // An address is used again and again: a block is known by all three, and then by its time.
  std::map<std::array<uint64_t, 3>, std::vector<int64_t>> times;
  const MemoryEvents& memory = trace.memory();
  for (size_t i = 0; i < memory.size(); ++i) {
    if (memory.bytes[i] > 0 && memory.device[i] >= 0 && memory.ts_ns[i] >= 0) {
      times[{static_cast<uint64_t>(memory.device[i]), memory.address[i],
             static_cast<uint64_t>(memory.bytes[i])}]
          .push_back(memory.ts_ns[i] + base);
    }
  }
  std::vector<int64_t> differences;
  for (const AllocationMark& mark : marks) {
    const auto same =
        mark.rank != rank
            ? times.end()
            : times.find({static_cast<uint64_t>(mark.device), mark.address, mark.bytes});
    if (same == times.end()) {
      continue;
    }
    // The nearest one: clocks of one host are some milliseconds apart at most.
    const std::vector<int64_t>& found = same->second;
    const auto after = std::lower_bound(found.begin(), found.end(), mark.unix_ns);
    std::optional<int64_t> nearest;
    for (const auto at : {after, after == found.begin() ? after : after - 1}) {
      if (at == found.end()) continue;
      const int64_t difference = mark.unix_ns - *at;
      if (!nearest.has_value() || std::abs(difference) < std::abs(*nearest)) nearest = difference;
    }
    if (nearest.has_value()) differences.push_back(*nearest);
  }
  if (differences.size() < kFewest) {
    return std::nullopt;
  }
  const auto middle = differences.begin() + static_cast<std::ptrdiff_t>(differences.size() / 2);
  std::nth_element(differences.begin(), middle, differences.end());
  const int64_t median = *middle;
  const auto near = std::count_if(differences.begin(), differences.end(), [&](int64_t difference) {
    return std::abs(difference - median) <= kMillisecondNs;
  });
  return static_cast<size_t>(near) >= kFewest && static_cast<size_t>(near) * 2 > differences.size()
             ? std::optional(median)
             : std::nullopt;
}

MomentRow MomentIn(const Trace& trace, const JobMoment& moment, std::optional<int64_t> difference) {
  MomentRow row;
  row.rank = moment.rank;
  row.moment = moment.what;
  row.unix_ns = moment.unix_ns;
  row.profile = trace.meta().file;
  if (!trace.meta().base_ns.has_value()) {
    row.match = "cannot tell: the profile does not say when it began";
    return row;
  }
  const int64_t at = SubtractSaturating(SubtractSaturating(moment.unix_ns, difference.value_or(0)),
                                        *trace.meta().base_ns);
  if (at < trace.begin_ns() || at > trace.end_ns()) {
    row.match = at < trace.begin_ns()
                    ? "cannot tell: the profile begins " +
                          Apart(SubtractSaturating(trace.begin_ns(), at)) + " later"
                    : "cannot tell: the profile ends " +
                          Apart(SubtractSaturating(at, trace.end_ns())) + " before";
    return row;
  }
  const std::map<uint32_t, OnThread> threads = ThreadsAt(trace, at);
  // The thread that does most: with an operator, else a module, else anything. The step is that of
  // the program, whichever thread marks it.
  const OnThread* best = nullptr;
  size_t alike = 0;  // threads that do as much as that one
  size_t with_operator = 0;
  Innermost step;
  for (const auto& [track, thread] : threads) {
    if (!thread.step.name.empty()) step.Take(thread.step.begin_ns, thread.step.name);
    with_operator += thread.operation.name.empty() ? 0 : 1;
    const auto weight = [](const OnThread& one) {
      return (one.operation.name.empty() ? 0 : 4) + (one.module.name.empty() ? 0 : 2) +
             (one.annotation.name.empty() ? 0 : 1);
    };
    if (best == nullptr || weight(thread) > weight(*best)) {
      best = &thread;
      alike = 0;
    }
    alike += weight(thread) == weight(*best) ? 1 : 0;
  }
  row.step = step.Text();
  if (best == nullptr) {
    row.match = "cannot tell: nothing ran then";
    return row;
  }
  if (with_operator > 1 || alike > 1) {
    row.match = with_operator > 1 ? "cannot tell: several threads ran operators"
                                  : "cannot tell: several threads were at work";
    return row;
  }
  row.annotation = best->annotation.Text();
  row.match = difference.has_value() ? "allocations" : "time";
  row.module = best->module.Text();
  row.operator_name = best->operation.Text();
  return row;
}

MomentPart FindMoments(std::span<const JobFile> files, std::span<const JobMoment> moments,
                       std::span<const AllocationMark> marks, int threads) {
  MomentPart part;
  std::map<int32_t, std::vector<const JobMoment*>> wanted;
  for (const JobMoment& moment : moments) {
    wanted[moment.rank].push_back(&moment);
  }
  // Those whose names say that they are of a rank that is asked about come first.
  std::vector<const JobFile*> candidates;
  for (const JobFile& file : files) {
    if (!wanted.empty() && file.is_trace && !file.failure.has_value() &&
        (!file.rank.has_value() || wanted.contains(*file.rank))) {
      candidates.push_back(&file);
    }
  }
  std::stable_partition(candidates.begin(), candidates.end(),
                        [](const JobFile* file) { return file->rank.has_value(); });
  if (candidates.size() > kMostProfiles) {
    part.diagnostics.push_back({Severity::kInfo, "more-profiles", candidates.size() - kMostProfiles,
                                candidates[kMostProfiles]->path, "",
                                "There are more profiles than are looked into."});
    candidates.resize(kMostProfiles);
  }
  for (const JobFile* const candidate : candidates) {
    const JobFile& file = *candidate;
    const Result<Trace> trace = LoadFile(file.path, {.threads = threads, .progress = {}});
    if (!trace.ok()) {
      part.diagnostics.push_back({Severity::kWarning, "unreadable-profile", 1, file.path,
                                  trace.error().cause,
                                  "What ranks did cannot be looked up in this profile."});
      continue;
    }
    const std::optional<int64_t>& recorded = trace->meta().rank;
    const bool is_rank = recorded.has_value() && *recorded <= std::numeric_limits<int32_t>::max();
    const std::optional<int32_t> rank = is_rank ? std::optional(static_cast<int32_t>(*recorded))
                                        : recorded.has_value() ? std::nullopt
                                                               : file.rank;
    const auto asked = rank.has_value() ? wanted.find(*rank) : wanted.end();
    if (asked == wanted.end()) {
      continue;
    }
    part.read.push_back(file.path);
    const std::optional<int64_t> difference = ClockDifference(*trace, *rank, marks);
    for (const JobMoment* const moment : asked->second) {
      part.rows.push_back(MomentIn(*trace, *moment, difference));
    }
  }
  return part;
}

}  // namespace borescope::internal
