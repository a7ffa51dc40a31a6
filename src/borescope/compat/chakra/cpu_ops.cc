#include "borescope/compat/chakra/cpu_ops.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string_view>

#include "borescope/base/stop.h"
#include "borescope/compat/chakra/exclusive.h"

namespace borescope::internal::chakra::compat {
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
    // Of equal begins the one that is to be found comes last: of the first thread, its first.
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
    for (size_t i = 0; i < rows.size(); ++i) {
      CheckStopAt(i);
      CpuOp& op = ops.cpu[rows[i]];
      const CpuOp* const before = i == 0 ? nullptr : &ops.cpu[rows[i - 1]];
      if (before == nullptr || idle_us < op.begin - before->begin - before->duration) {
        found = others.LastBefore(op.begin, op.thread);
      }
      op.waits_for = found.has_value() && *found != 0 ? found : std::nullopt;
    }
  }
}

}  // namespace borescope::internal::chakra::compat
