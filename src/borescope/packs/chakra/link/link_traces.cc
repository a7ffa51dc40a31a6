#include "borescope/packs/chakra/link/link_traces.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/row_limit.h"
#include "borescope/base/stop.h"
#include "borescope/engine/access.h"
#include "borescope/engine/targets/targets.h"
#include "borescope/index/trace_index.h"
#include "borescope/ingest/load.h"
#include "borescope/link.h"
#include "borescope/output/sink/sink.h"
#include "borescope/packs/chakra/link/link.h"
#include "borescope/packs/chakra/link/link_writer.h"
#include "borescope/packs/chakra/reference/link_compat.h"

namespace borescope::internal {
namespace {

Result<std::string> ReadText(const std::string& path) {
  return ReadUnchanged(path, [&]() -> Result<std::string> {
    BS_ASSIGN(std::unique_ptr<ByteSource> source, OpenFile(path));
    return InFile(path, chakra::ReadWhole(std::move(source)));
  });
}

Result<void> CheckPaths(const LinkRequest& options) {
  if (options.host.empty() || options.device.empty()) {
    return UsageError("link reads two files", "name them with `host` and `device`");
  }
  if (options.output.empty() || options.output == "-") {
    return UsageError("link writes a file", "name it with `output`");
  }
  const std::string inputs[] = {options.host, options.device};
  return CheckNoInput(inputs, options.output, "link");
}

Result<chakra::LinkPlan> LinkAsChakra(const LinkRequest& options, const chakra::HostTrace& host) {
  BS_ASSIGN(std::string text, ReadText(options.device));
  BS_ASSIGN(chakra::compat::DeviceTrace device,
            InFile(options.device, chakra::compat::ReadDeviceTrace(std::move(text))));
  return InFile(options.device, chakra::compat::LinkAsChakra(host, std::move(device)));
}

Result<void> CheckRank(const LinkRequest& options, const Trace& trace) {
  const std::optional<int64_t> recorded = trace.meta().rank;
  if (!options.rank.has_value() || !recorded.has_value() || recorded == options.rank) {
    return {};
  }
  return Error{.code = ErrorCode::kInvalidArgument,
               .cause = fmt::format("is of rank {}, not of rank {} as `rank` says", *recorded,
                                    *options.rank),
               .file = options.device,
               .parameter = "rank"};
}

Result<chakra::LinkPlan> Link(const LinkRequest& options, LinkedPair& linked) {
  const int threads = ThreadsOf(options.threads);
  BS_ASSIGN(Trace loaded, LoadFile(options.device, {threads, FileProgress(options.progress)}));
  BS_TRY(CheckRank(options, loaded));
  const Trace& trace = *(linked.trace = std::make_unique<const Trace>(std::move(loaded)));
  const TraceIndex index = BuildIndex(trace, threads);
  BS_ASSIGN(chakra::LinkPlan plan,
            InFile(options.device, chakra::LinkTrace(linked.host, trace, index)));
  Diagnostics found = trace.diagnostics();
  found.Merge(index.diagnostics);
  found.Merge(plan.diagnostics);
  plan.diagnostics = found;
  return plan;
}

Result<void> WriteOutput(const LinkRequest& options, const LinkedPair& linked) {
  const auto write = [&](Sink& sink) {
    return InFile(options.host,
                  chakra::WriteLinked(linked.host, linked.plan, JsonForm::kIndented, sink));
  };
  return WriteFile(options.output,
                   [&](Sink& file) { return WriteMaybeGzip(options.output, file, write); });
}

// Notes that the numbers by which events are matched were not recorded.
void RecordNumbers(const LinkRequest& options, LinkedPair& linked) {
  if (linked.plan.counts.by_external_id) {
    linked.diagnostics.push_back(
        {Severity::kInfo, "no-record-functions", linked.plan.counts.host_matched, options.device,
         "",
         "The device trace has no \"Record function id\", as those of old versions of PyTorch: "
         "a node is the operator that has its rf_id for the \"External id\", and its name."});
  }
}

// Waits that are not recorded as events are inferred; this says how to record them.
void AdviseRecords(const LinkRequest& options, LinkedPair& linked) {
  if (options.as_chakra || linked.plan.counts.has_sync_records ||
      linked.plan.counts.device_linked == 0) {
    return;
  }
  linked.diagnostics.push_back(
      {Severity::kInfo, "no-sync-events", 1, options.device, "",
       "Waits for the device are inferred from calls that block; with "
       "_ExperimentalConfig(enable_cuda_sync_events=True) the profiler records them, and which "
       "stream waits for which."});
}

// ---- Tables ----

Table CoverageTable(const chakra::LinkCounts& counts) {
  Table table{"coverage", "What is in both traces", {}};
  table.columns.reserve(5);  // keeps the references below valid
  Column& part = AddString(table, "part", Role::kKey, "Nodes of the host trace, or device work.");
  Column& count = AddInt(table, "count", Unit::kCount, Role::kSum, "How many.");
  Column& share = AddFloat(table, "share", Unit::kShare, Role::kDerived, "Of all of this side.");
  Column& time = AddInt(table, "device_ns", Unit::kNanoseconds, Role::kSum,
                        "Duration of the device work, overlaps counted twice.");
  Column& time_share =
      AddFloat(table, "device_share", Unit::kShare, Role::kDerived, "Of all device work.");
  const auto add = [&](std::string_view name, uint64_t number, uint64_t of,
                       std::optional<int64_t> ns) {
    const auto ratio = [](auto part_of, auto all) {
      return all == 0 ? std::optional<double>()
                      : static_cast<double>(part_of) / static_cast<double>(all);
    };
    Push(part, name);
    Push(count, static_cast<int64_t>(number));
    PushOptional(share, ratio(number, of));
    PushOptional(time, ns);
    PushOptional(time_share,
                 ns.has_value() ? ratio(*ns, counts.linked_ns + counts.orphaned_ns) : std::nullopt);
  };
  const uint64_t devices = counts.device_linked + counts.device_orphaned;
  add("host nodes matched", counts.host_matched, counts.host_nodes, {});
  add("host nodes unmatched", counts.host_nodes - counts.host_matched, counts.host_nodes, {});
  if (counts.renamed != 0) {
    add("host nodes of another name", counts.renamed, counts.host_nodes, {});
  }
  if (counts.duplicates != 0) {
    add("record functions used twice", counts.duplicates, counts.host_nodes, {});
  }
  add("device work linked", counts.device_linked, devices, counts.linked_ns);
  add("device work orphaned", counts.device_orphaned, devices, counts.orphaned_ns);
  return table;
}

Table DependencyTable(const chakra::LinkCounts& counts) {
  Table table{"dependencies", "What waits for what", {}};
  table.columns.reserve(2);  // keeps the references below valid
  Column& kind = AddString(table, "kind", Role::kKey, "Who waits for whom, and how it is known.");
  Column& count = AddInt(table, "count", Unit::kCount, Role::kSum, "How many.");
  const auto add = [&](std::string_view name, uint64_t number) {
    Push(kind, name);
    Push(count, static_cast<int64_t>(number));
  };
  add("thread waits for thread", counts.thread_deps);
  add("host waits for device, recorded", counts.sync_found);
  add("host waits for device, inferred", counts.sync_inferred);
  add("host waits for device, written", counts.sync_attached);
  add("host asks for an event, no wait", counts.sync_queries);
  add("device work after work of its stream", counts.stream_order);
  add("stream waits for stream", counts.stream_waits);
  return table;
}

Result<Document> LinkAndWrite(const LinkRequest& options) {
  BS_TRY(CheckPaths(options));
  BS_ASSIGN(LinkedPair linked, LinkTraces(options));
  BS_TRY(WriteOutput(options, linked));
  Document document;
  document.tables = {CoverageTable(linked.plan.counts), DependencyTable(linked.plan.counts)};
  document.diagnostics = std::move(linked.diagnostics);
  return document;
}

}  // namespace

Result<LinkedPair> LinkTraces(const LinkRequest& options) {
  LinkedPair linked;
  BS_ASSIGN(std::string text, ReadText(options.host));
  BS_ASSIGN(linked.host, InFile(options.host, chakra::ReadHostTrace(std::move(text))));
  BS_ASSIGN(linked.plan,
            options.as_chakra ? LinkAsChakra(options, linked.host) : Link(options, linked));
  AppendDiagnostics(linked.host.diagnostics, options.host, linked.diagnostics);
  AppendDiagnostics(linked.plan.diagnostics, options.device, linked.diagnostics);
  RecordNumbers(options, linked);
  AdviseRecords(options, linked);
  return linked;
}

Result<Document> RunLink(const LinkRequest& options) {
  return WithNumberedRows([&] { return LinkAndWrite(options); });
}

}  // namespace borescope::internal

namespace borescope {

Result<Answer> Link(const std::string& host, const std::string& device, const std::string& output,
                    const LinkOptions& options) {
  const internal::LinkRequest inside{options, host, device, output};
  return AnswerWith(internal::Stoppable(options.stop, [&] { return internal::RunLink(inside); }));
}

}  // namespace borescope
