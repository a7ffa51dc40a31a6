#include "borescope/packs/chakra/reference/cpu_ops.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <optional>
#include <string_view>

#include "borescope/base/each_row.h"
#include "borescope/base/hash/hash_tables.h"

namespace borescope::internal::chakra::compat {

namespace {

class Sweep {
 public:
  explicit Sweep(std::span<const TimedSpan> spans)
      : spans_(spans), order_(spans.size()), behind_(spans.size()), is_clean_(spans.size()) {
    std::iota(order_.begin(), order_.end(), 0U);
    std::stable_sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) {
      const TimedSpan& x = spans[a];
      const TimedSpan& y = spans[b];
      return x.begin < y.begin || (!(y.begin < x.begin) && x.duration < y.duration);
    });
  }

  // Goes from the last span to the first, so that spans inside another one are known before it
  // needs them.
  std::vector<Number> Run(Diagnostics& diagnostics) {
    std::vector<Number> exclusive(spans_.size());
    for (size_t at = order_.size(); at-- > 0;) {
      FindInside(at);
      Number left = spans_[order_[at]].duration;
      for (const Interval& interval : merged_) {
        left = left - (interval.end - interval.begin);
      }
      if (left < Number::Int(0)) {
        diagnostics.Count(Diag::kNegativeDuration);
        left = Number::Int(0);
      }
      exclusive[order_[at]] = left;
    }
    return exclusive;
  }

 private:
  struct Interval {
    Number begin;
    Number end;
  };

  // Sets merged_ to what is inside the span at `at`. A clean span contains everything that begins
  // in it, so that the span after it can be looked at next.
  void FindInside(size_t at) {
    const TimedSpan& span = spans_[order_[at]];
    const Number end = span.begin + span.duration;
    merged_.clear();
    is_clean_[at] = 1;
    size_t next = at + 1;
    while (next < order_.size() && !(end < spans_[order_[next]].begin)) {
      const TimedSpan& other = spans_[order_[next]];
      const Number other_end = other.begin + other.duration;
      if (other_end <= end) {
        Add({other.begin, other_end});
        next = is_clean_[next] != 0 ? behind_[next] : next + 1;
      } else {
        is_clean_[at] = 0;
        ++next;
      }
    }
    behind_[at] = next;
  }

  // REQUIRES: it begins no earlier than those added before.
  void Add(Interval interval) {
    if (merged_.empty() || merged_.back().end < interval.begin) {
      merged_.push_back(interval);
    } else if (merged_.back().end < interval.end) {
      merged_.back().end = interval.end;
    }
  }

  std::span<const TimedSpan> spans_;
  std::vector<uint32_t> order_;
  std::vector<size_t> behind_;  // the first place in order_ whose span begins after this one's end
  std::vector<char> is_clean_;
  std::vector<Interval> merged_;
};

}  // namespace

std::vector<Number> ExclusiveDurations(std::span<const TimedSpan> spans, Diagnostics& diagnostics) {
  return Sweep(spans).Run(diagnostics);
}

namespace {

constexpr std::string_view kLaunches[] = {
    "cuLaunchKernel",        "cuLaunchKernelEx",    "cudaLaunchKernel",
    "cudaLaunchKernelExC",   "cudaMemcpy",          "cudaMemcpyAsync",
    "cudaMemcpyFromSymbol",  "cudaMemcpyToSymbol",  "cudaLaunchCooperativeKernel",
    "hipLaunchKernel",       "hipExtLaunchKernel",  "hipExtModuleLaunchKernel",
    "hipModuleLaunchKernel", "hipMemcpyWithStream", "hipMemcpyAsync"};

bool IsCpuOp(const DeviceEvent& event) {
  return (event.category == "cpu_op" || event.category == "user_annotation") &&
         event.name.find("ProfilerStep") == std::string_view::npos;
}

bool IsLaunch(const DeviceEvent& event) {
  return (event.category == "cuda_runtime" || event.category == "cuda_driver") &&
         std::find(std::begin(kLaunches), std::end(kLaunches), event.name) != std::end(kLaunches);
}

bool IsGpuOp(const DeviceEvent& event) {
  return event.category == "kernel" || event.category == "gpu_memcpy";
}

void Place(const DeviceTrace& trace, uint32_t row, SortedOps& ops) {
  const DeviceEvent& event = trace.events[row];
  if (IsCpuOp(event)) {
    const auto at = static_cast<uint32_t>(ops.cpu.size());
    ops.cpu.push_back({row, event.thread, event.begin, event.duration, event.duration,
                       event.external_id, event.rf_id, std::nullopt});
    if (event.rf_id.has_value()) {
      ops.cpu_by_rf_id[*event.rf_id] = at;
    }
    if (ops.by_thread[event.thread].empty()) {
      ops.thread_order.push_back(event.thread);
    }
    ops.by_thread[event.thread].push_back(at);
  } else if (IsLaunch(event)) {
    if (!ops.launch_of.try_emplace(event.correlation, row).second) {
      ops.diagnostics.Count(Diag::kDuplicateCorrelation);
    }
  } else if (IsGpuOp(event)) {
    ops.gpu.push_back(row);
  }
}

// Finds the operator of another thread that began last before a time.
class OtherThreads {
 public:
  explicit OtherThreads(const SortedOps& ops) : ops_(ops), order_(ops.cpu.size()) {
    std::vector<uint32_t> rank(ops.by_thread.size());
    for (uint32_t i = 0; i < ops.thread_order.size(); ++i) {
      rank[ops.thread_order[i]] = i;
    }
    // Of equal begins, the one to be found comes last: the first operator of the first thread.
    std::iota(order_.begin(), order_.end(), 0U);
    std::sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) {
      const CpuOp& x = ops.cpu[a];
      const CpuOp& y = ops.cpu[b];
      if (x.begin < y.begin || y.begin < x.begin) {
        return x.begin < y.begin;
      }
      return x.thread != y.thread ? rank[x.thread] > rank[y.thread] : a > b;
    });
    FindForeign();
  }

  std::optional<int64_t> LastBefore(Number time, uint32_t thread) const {
    const auto end = std::partition_point(order_.begin(), order_.end(),
                                          [&](uint32_t row) { return ops_.cpu[row].begin < time; });
    if (end == order_.begin()) {
      return std::nullopt;
    }
    auto at = static_cast<size_t>(end - order_.begin()) - 1;
    if (ops_.cpu[order_[at]].thread == thread) {
      at = foreign_[at];
    }
    const bool is_there = at != kNowhere && Number::Int(0) < ops_.cpu[order_[at]].begin;
    return is_there ? ops_.cpu[order_[at]].rf_id : std::nullopt;
  }

 private:
  static constexpr size_t kNowhere = ~size_t{0};

  void FindForeign() {
    foreign_.assign(order_.size(), kNowhere);
    for (size_t i = 1; i < order_.size(); ++i) {
      const bool is_same = ops_.cpu[order_[i]].thread == ops_.cpu[order_[i - 1]].thread;
      foreign_[i] = is_same ? foreign_[i - 1] : i - 1;
    }
  }

  const SortedOps& ops_;
  std::vector<uint32_t> order_;
  std::vector<size_t> foreign_;  // the last place before this one that is of another thread
};

}  // namespace

SortedOps SortOps(const DeviceTrace& trace) {
  SortedOps ops;
  ops.by_time.resize(trace.events.size());
  ops.by_thread.resize(trace.threads);
  std::iota(ops.by_time.begin(), ops.by_time.end(), 0U);
  std::stable_sort(ops.by_time.begin(), ops.by_time.end(), [&](uint32_t a, uint32_t b) {
    return trace.events[a].begin < trace.events[b].begin;
  });
  for (const uint32_t row : ops.by_time) {
    Place(trace, row, ops);
  }
  return ops;
}

void FindExclusive(SortedOps& ops) {
  std::vector<TimedSpan> spans;
  for (const std::vector<uint32_t>& rows : ops.by_thread) {
    spans.clear();
    for (const uint32_t row : rows) {
      spans.push_back({ops.cpu[row].begin, ops.cpu[row].duration});
    }
    const std::vector<Number> exclusive = ExclusiveDurations(spans, ops.diagnostics);
    for (size_t i = 0; i < rows.size(); ++i) {
      ops.cpu[rows[i]].exclusive = exclusive[i];
    }
  }
}

void FindThreadDeps(SortedOps& ops) {
  const Number idle_us = Number::Int(1000);
  const OtherThreads others(ops);
  for (const std::vector<uint32_t>& rows : ops.by_thread) {
    std::optional<int64_t> found;
    for (const size_t i : EachIndex(rows.size())) {
      CpuOp& op = ops.cpu[rows[i]];
      const CpuOp* const before = i == 0 ? nullptr : &ops.cpu[rows[i - 1]];
      if (before == nullptr || idle_us < op.begin - before->begin - before->duration) {
        found = others.LastBefore(op.begin, op.thread);
      }
      op.waits_for = found.has_value() && *found != 0 ? found : std::nullopt;
    }
  }
}

namespace {

bool NamesNccl(std::string_view name) {
  constexpr std::string_view kWord = "nccl";
  return std::search(name.begin(), name.end(), kWord.begin(), kWord.end(), [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) == b;
         }) != name.end();
}

class ParentFinder {
 public:
  ParentFinder(const DeviceTrace& trace, const SortedOps& ops) : of_thread_(trace.threads) {
    AddAnnotations(trace, ops);
    for (const CpuOp& op : ops.cpu) {
      const bool is_group = trace.events[op.event].name == "nccl:coalesced";
      Add({op.begin, op.external_id, is_group}, op.thread);
    }
    if (trace.thread_zero.has_value()) {
      SortThread(*trace.thread_zero);
    }
  }

  // The external id of the operator, if there is one.
  std::optional<int64_t> Find(const DeviceEvent& gpu, const DeviceEvent& launch) const {
    const bool skips_groups = NamesNccl(gpu.name);
    const Thread& thread = of_thread_[launch.thread];
    if (const auto own = thread.by_id.find(gpu.external_id); own != thread.by_id.end()) {
      const auto found = LastBefore(thread, own->second, launch.begin, skips_groups);
      if (found.has_value()) {
        return found;
      }
    }
    return LastBefore(thread, thread.all, launch.begin, skips_groups);
  }

 private:
  struct Candidate {
    Number begin;
    int64_t external_id = kNone;
    bool is_group = false;
  };
  struct Thread {
    std::vector<Candidate> ops;
    std::vector<uint32_t> all;  // rows of `ops` in time order, as in `by_id`
    HashMap<int64_t, std::vector<uint32_t>> by_id;
  };

  void Add(const Candidate& candidate, uint32_t thread) {
    Thread& owner = of_thread_[thread];
    const auto row = static_cast<uint32_t>(owner.ops.size());
    owner.ops.push_back(candidate);
    owner.all.push_back(row);
    owner.by_id[candidate.external_id].push_back(row);
  }

  // The reference adds an operator for the process and one for each thread, from their first event
  // on; all of them belong to tid 0.
  void AddAnnotations(const DeviceTrace& trace, const SortedOps& ops) {
    if (!trace.thread_zero.has_value()) {
      return;
    }
    std::vector<char> is_seen(trace.threads, 0);
    for (const uint32_t row : ops.by_time) {
      const DeviceEvent& event = trace.events[row];
      if (is_seen[event.thread] == 0) {
        is_seen[event.thread] = 1;
        Add({event.begin, kNone, false}, *trace.thread_zero);
      }
    }
  }

  void SortThread(uint32_t thread) {
    Thread& owner = of_thread_[thread];
    const auto by_begin = [&](uint32_t a, uint32_t b) {
      return owner.ops[a].begin < owner.ops[b].begin;
    };
    std::stable_sort(owner.all.begin(), owner.all.end(), by_begin);
    for (auto& [id, rows] : owner.by_id.InAnyOrder()) {  // each list by itself
      std::stable_sort(rows.begin(), rows.end(), by_begin);
    }
  }

  static std::optional<int64_t> LastBefore(const Thread& thread, const std::vector<uint32_t>& rows,
                                           Number time, bool skips_groups) {
    auto at = std::partition_point(rows.begin(), rows.end(),
                                   [&](uint32_t row) { return thread.ops[row].begin < time; });
    while (at != rows.begin()) {
      --at;
      if (!skips_groups || !thread.ops[*at].is_group) {
        return thread.ops[*at].external_id;
      }
    }
    return std::nullopt;
  }

  std::vector<Thread> of_thread_;
};

}  // namespace

GpuOfOp GroupGpuOps(const DeviceTrace& trace, const SortedOps& ops) {
  const ParentFinder finder(trace, ops);
  GpuOfOp groups;
  for (const uint32_t row : ops.gpu) {
    const DeviceEvent& gpu = trace.events[row];
    const auto launch = ops.launch_of.find(gpu.correlation);
    if (launch == ops.launch_of.end()) {
      continue;
    }
    if (const std::optional<int64_t> parent = finder.Find(gpu, trace.events[launch->second])) {
      groups[*parent].push_back(row);
    }
  }
  return groups;
}

}  // namespace borescope::internal::chakra::compat
