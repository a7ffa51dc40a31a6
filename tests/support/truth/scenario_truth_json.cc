// truth.json: the tables of all ranks side by side, columns of equal length.
#include <fmt/format.h>

#include <iterator>

#include "tests/support/truth/scenario_truth_tables.h"

namespace borescope::scenario {
namespace {

std::string EventCountsTable(const Ranks& ranks) {
  TableText table("event_counts", {"rank", "phase", "category", "count", "total_ns"});
  for (const RankTruth& rank : ranks) {
    for (size_t i = 0; i < static_cast<size_t>(RankTruth::Line::kCount); ++i) {
      const auto line = static_cast<RankTruth::Line>(i);
      const RankTruth::EventCount& entry = rank.count(line);
      if (entry.count == 0) continue;
      table.Int(rank.info().rank).Text(RankTruth::LinePhase(line));
      table.Text(RankTruth::LineCategory(line)).Int(entry.count).Int(entry.total_ns);
    }
  }
  return table.ToJson();
}

std::string BreakdownTable(const Ranks& ranks) {
  TableText table("breakdown", {"rank", "gpu", "span_ns", "busy_ns", "compute_ns",
                                "exposed_comm_ns", "exposed_copy_ns", "idle_ns"});
  for (const RankTruth& rank : ranks) {
    const BusyTotals& busy = rank.busy();
    table.Int(rank.info().rank).Int(rank.info().gpu).Int(rank.span_ns()).Int(busy.busy_ns);
    table.Int(busy.compute_ns).Int(busy.exposed_comm_ns).Int(busy.exposed_copy_ns);
    table.Int(rank.span_ns() - busy.busy_ns);
  }
  return table.ToJson();
}

std::string KernelsTable(const KernelCatalog& catalog, const Ranks& ranks) {
  TableText table("kernels", {"rank", "name", "class", "count", "total_ns", "min_ns", "max_ns"});
  for (const RankTruth& rank : ranks) {
    for (size_t i = 0; i < static_cast<size_t>(Kernel::kCount); ++i) {
      const KernelInfo& info = catalog.Get(static_cast<Kernel>(i));
      const RankTruth::DeviceSum& sum = rank.device(static_cast<Kernel>(i));
      if (sum.count == 0 || info.kind != DeviceKind::kKernel) continue;
      table.Int(rank.info().rank).Text(info.name).Text(info.device_class).Int(sum.count);
      table.Int(sum.total_ns).Int(sum.min_ns).Int(sum.max_ns);
    }
  }
  return table.ToJson();
}

std::string CopiesTable(const KernelCatalog& catalog, const Ranks& ranks) {
  TableText table("copies", {"rank", "name", "count", "total_ns", "bytes"});
  for (const RankTruth& rank : ranks) {
    for (size_t i = 0; i < static_cast<size_t>(Kernel::kCount); ++i) {
      const KernelInfo& info = catalog.Get(static_cast<Kernel>(i));
      const RankTruth::DeviceSum& sum = rank.device(static_cast<Kernel>(i));
      if (sum.count == 0 || info.kind == DeviceKind::kKernel) continue;
      table.Int(rank.info().rank).Text(info.name).Int(sum.count).Int(sum.total_ns).Int(sum.bytes);
    }
  }
  return table.ToJson();
}

std::string OpsTable(const Ranks& ranks) {
  TableText table("ops", {"rank", "name", "calls", "self_host_ns", "total_host_ns",
                          "self_device_ns", "total_device_ns"});
  for (const RankTruth& rank : ranks) {
    for (size_t i = 0; i < static_cast<size_t>(HostName::kCount); ++i) {
      const HostNameInfo& name = GetHostName(static_cast<HostName>(i));
      const RankTruth::OpSum& sum = rank.op(static_cast<HostName>(i));
      if (sum.calls == 0) continue;
      table.Int(rank.info().rank).Text(name.text).Int(sum.calls).Int(sum.self_host_ns);
      table.Int(sum.total_host_ns).Int(sum.self_device_ns).Int(sum.total_device_ns);
    }
  }
  return table.ToJson();
}

std::string StepsTable(const Ranks& ranks) {
  TableText table("steps", {"rank", "gpu", "step", "begin_ns", "span_ns", "busy_ns", "idle_ns"});
  for (const RankTruth& rank : ranks) {
    for (const RankTruth::Step& step : rank.steps()) {
      table.Int(rank.info().rank).Int(rank.info().gpu).Int(step.step).Int(step.begin_ns);
      table.Int(step.span_ns).Int(step.busy_ns).Int(step.span_ns - step.busy_ns);
    }
  }
  return table.ToJson();
}

std::string LinksTable(const Ranks& ranks) {
  TableText table("links", {"rank", "device_events", "linked_to_launch", "linked_to_op", "launches",
                            "launches_without_device"});
  for (const RankTruth& rank : ranks) {
    table.Int(rank.info().rank).Int(rank.device_events()).Int(rank.linked_to_launch());
    table.Int(rank.linked_to_op()).Int(rank.launches()).Int(rank.launches_without_device());
  }
  return table.ToJson();
}

std::string RanksTable(const ScenarioConfig& config, const Ranks& ranks) {
  TableText table(
      "ranks", {"rank", "world_size", "file", "events", "host_events", "device_events", "streams"});
  for (const RankTruth& rank : ranks) {
    table.Int(rank.info().rank);
    // A bare list of events has no place for it.
    config.bare_list ? table.Null() : table.Int(config.world_size);
    table.Text(rank.info().file).Int(rank.events()).Int(rank.host_events());
    table.Int(rank.device_events()).Int(rank.streams());
  }
  return table.ToJson();
}

std::string FlowsTable(const Ranks& ranks) {
  TableText table("fwdbwd", {"rank", "pairs"});
  for (const RankTruth& rank : ranks) {
    table.Int(rank.info().rank).Int(rank.count(RankTruth::Line::kForwardEnd).count);
  }
  return table.ToJson();
}

std::string FaultCounts(const ScenarioConfig& config, const std::vector<FaultHit>& hits) {
  std::string out;
  for (const FaultRequest& request : config.faults) {
    int64_t planted = 0;
    for (const FaultHit& hit : hits) planted += hit.fault == request.fault ? 1 : 0;
    out += fmt::format("{}\"{}\": {}", out.empty() ? "" : ", ", FaultName(request.fault), planted);
  }
  return out;
}

std::string FaultHits(const std::vector<FaultHit>& hits) {
  std::string out;
  for (const FaultHit& hit : hits) {
    out += fmt::format(
        "{}\n    {{\"fault\": \"{}\", \"rank\": {}, \"ordinal\": {}, \"phase\": \"{}\", "
        "\"category\": \"{}\", \"name\": {}}}",
        out.empty() ? "" : ",", FaultName(hit.fault), hit.rank, hit.ordinal, hit.phase,
        hit.category, Quote(hit.name));
  }
  return out;
}

}  // namespace

std::string TruthToJson(const ScenarioConfig& config, const KernelCatalog& catalog,
                        const Ranks& ranks, const WaitTruth& waits,
                        const std::vector<FaultHit>& hits) {
  const std::string tables[] = {EventCountsTable(ranks),
                                BreakdownTable(ranks),
                                KernelsTable(catalog, ranks),
                                CopiesTable(catalog, ranks),
                                OpsTable(ranks),
                                StepsTable(ranks),
                                LinksTable(ranks),
                                RanksTable(config, ranks),
                                FlowsTable(ranks),
                                IdleTable(ranks),
                                OverlapTable(ranks),
                                QueueTable(ranks),
                                BandwidthTable(catalog, ranks),
                                LaunchesTable(ranks),
                                DelaysTable(ranks),
                                AnnotationsTable(ranks),
                                CollectivesTable(config, ranks),
                                StragglersTable(config, waits),
                                CriticalPathTable(ranks)};
  std::string out = fmt::format("{{\n  \"ranks\": {},\n  \"config\": {},\n  \"faults\": {{{}}},\n",
                                config.ranks, ConfigToJson(config), FaultCounts(config, hits));
  out += fmt::format("  \"fault_hits\": [{}],\n  \"tables\": {{\n", FaultHits(hits));
  for (size_t i = 0; i < std::size(tables); ++i) {
    out += tables[i];
    out += i + 1 < std::size(tables) ? ",\n" : "\n";
  }
  return out + "  }\n}\n";
}

}  // namespace borescope::scenario
