#include "tests/support/truth/scenario_truth_tables.h"

#include <algorithm>
#include <map>

namespace borescope::scenario {
namespace {

constexpr Stream kAllStreams[] = {Stream::kCompute, Stream::kComm, Stream::kCopy};

// Calls `fn(rank, stream)` for every stream that ran something.
template <class Fn>
void ForEachStream(const Ranks& ranks, Fn fn) {
  for (const RankTruth& rank : ranks) {
    for (const Stream stream : kAllStreams) {
      if (rank.has_stream(stream)) fn(rank, stream);
    }
  }
}

int64_t NumberOf(const RankTruth& rank, Stream stream) {
  return rank.info().streams[static_cast<size_t>(stream)];
}

// What a copy moves, from its name; memsets are a kind of their own.
std::string_view CopyKind(const KernelInfo& info) {
  if (info.kind == DeviceKind::kMemset) return "memset";
  return std::string_view(info.name).substr(std::string_view("Memcpy ").size(), 4);
}

}  // namespace

std::string IdleTable(const Ranks& ranks) {
  TableText table("idle", {"rank", "gpu", "stream", "host_wait_ns", "kernel_wait_ns", "other_ns",
                           "unlinked_ns", "head_ns", "tail_ns"});
  ForEachStream(ranks, [&](const RankTruth& rank, Stream stream) {
    const IdleSum& idle = rank.idle(stream);
    table.Int(rank.info().rank).Int(rank.info().gpu).Int(NumberOf(rank, stream));
    table.Int(idle.host_wait_ns).Int(idle.kernel_wait_ns).Int(idle.other_ns);
    table.Int(idle.unlinked_ns).Int(idle.head_ns).Int(idle.tail_ns);
  });
  return table.ToJson();
}

std::string OverlapTable(const Ranks& ranks) {
  TableText table("overlap", {"rank", "gpu", "comm_ns", "overlapped_ns"});
  for (const RankTruth& rank : ranks) {
    const BusyTotals& busy = rank.busy();
    table.Int(rank.info().rank).Int(rank.info().gpu).Int(busy.comm_ns);
    table.Int(busy.comm_ns - busy.exposed_comm_ns);
  }
  return table.ToJson();
}

std::string QueueTable(const Ranks& ranks) {
  TableText table("queue",
                  {"rank", "gpu", "stream", "samples", "length_sum", "min", "max", "blocked_ns"});
  ForEachStream(ranks, [&](const RankTruth& rank, Stream stream) {
    const QueueTruth& queue = rank.queue(stream);
    if (queue.samples() == 0) return;
    table.Int(rank.info().rank).Int(rank.info().gpu).Int(NumberOf(rank, stream));
    table.Int(queue.samples()).Int(queue.length_sum()).Int(queue.min()).Int(queue.max());
    table.Int(queue.blocked_ns());
  });
  return table.ToJson();
}

std::string BandwidthTable(const KernelCatalog& catalog, const Ranks& ranks) {
  TableText table("bandwidth", {"rank", "kind", "count", "bytes", "total_ns", "unrated"});
  for (const RankTruth& rank : ranks) {
    for (size_t i = 0; i < static_cast<size_t>(Kernel::kCount); ++i) {
      const KernelInfo& info = catalog.Get(static_cast<Kernel>(i));
      const RankTruth::DeviceSum& sum = rank.device(static_cast<Kernel>(i));
      if (sum.count == 0 || info.kind == DeviceKind::kKernel) continue;
      table.Int(rank.info().rank).Text(CopyKind(info)).Int(sum.count).Int(sum.bytes);
      table.Int(sum.total_ns).Int(sum.unrated);
    }
  }
  return table.ToJson();
}

std::string LaunchesTable(const Ranks& ranks) {
  TableText table("launches", {"rank", "rows", "host_ns", "device_ns", "delay_ns"});
  for (const RankTruth& rank : ranks) {
    const LaunchSum& sum = rank.launched().sum();
    table.Int(rank.info().rank).Int(sum.rows).Int(sum.host_ns).Int(sum.device_ns);
    table.Int(sum.delay_ns);
  }
  return table.ToJson();
}

std::string DelaysTable(const Ranks& ranks) {
  Delays all;
  for (const RankTruth& rank : ranks) {
    for (const auto& [key, sum] : rank.launched().delays()) {
      DelaySum& total = all[key];
      total.count += sum.count;
      total.launch_delay_ns += sum.launch_delay_ns;
      total.runtime_ns += sum.runtime_ns;
    }
  }
  TableText table("delays", {"op", "kernels", "count", "launch_delay_ns", "runtime_ns"});
  for (const auto& [key, sum] : all) {
    table.Text(key.first).Text(key.second).Int(sum.count).Int(sum.launch_delay_ns);
    table.Int(sum.runtime_ns);
  }
  return table.ToJson();
}

std::string AnnotationsTable(const Ranks& ranks) {
  TableText table("annotations", {"rank", "side", "name", "count", "total_ns", "min_ns", "max_ns"});
  for (const RankTruth& rank : ranks) {
    for (const auto& [key, sum] : rank.launched().annotations()) {
      table.Int(rank.info().rank).Text(key.first).Text(key.second).Int(sum.count);
      table.Int(sum.total_ns).Int(sum.min_ns).Int(sum.max_ns);
    }
  }
  return table.ToJson();
}

// Empty for old profilers, which recorded no arguments.
std::string CollectivesTable(const ScenarioConfig& config, const Ranks& ranks) {
  TableText table("collectives", {"rank", "collective", "group", "group_size", "dtype", "count",
                                  "bytes", "total_ns"});
  for (const RankTruth& rank : ranks) {
    const CollectiveSum& sum = rank.collectives();
    if (sum.count == 0 || config.era == Era::kIntUs) continue;
    table.Int(rank.info().rank).Text("allreduce").Text("0").Int(config.world_size).Text("Float");
    table.Int(sum.count).Int(sum.bytes).Int(sum.total_ns);
  }
  return table.ToJson();
}

// Empty unless the steps are made so that it is known.
std::string CriticalPathTable(const Ranks& ranks) {
  constexpr std::string_view kBounds[] = {
      "cpu",         "data_load",         "launch",         "kernel_kernel_delay",
      "gpu_compute", "gpu_communication", "gpu_memory_copy"};
  TableText table("critical_path", {"rank", "step", "bound_by", "begin_ns", "duration_ns"});
  for (const RankTruth& rank : ranks) {
    for (const RankTruth::PathPiece& piece : rank.path()) {
      table.Int(rank.info().rank).Int(piece.step);
      table.Text(kBounds[static_cast<size_t>(piece.bound)]).Int(piece.begin_ns).Int(piece.dur_ns);
    }
  }
  return table.ToJson();
}

// Empty without collectives.
std::string StragglersTable(const ScenarioConfig& config, const WaitTruth& waits) {
  TableText table("stragglers", {"rank", "caused_wait_ns", "waited_ns", "times_last"});
  for (const WaitSum& rank : waits.ranks()) {
    if (!config.HasCollectives() || waits.ranks().size() < 2) continue;
    table.Int(rank.rank).Int(rank.caused_ns).Int(rank.waited_ns).Int(rank.times_last);
  }
  return table.ToJson();
}

}  // namespace borescope::scenario
