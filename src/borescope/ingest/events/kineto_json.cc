#include "borescope/ingest/events/kineto_json.h"

#include <utility>

#include "borescope/ingest/kineto/kineto_document.h"
#include "borescope/ingest/kineto/kineto_roles.h"

namespace borescope::internal {
namespace {

Error NotKineto(const std::string& name, const KinetoMembers& members) {
  if (members.has_rocprofiler_sdk) {
    return {.code = ErrorCode::kUnsupportedFormat,
            .cause = "this is a rocprofiler-sdk JSON file, not a PyTorch trace",
            .remedy = "record with rocprofv3 --output-format rocpd, whose database is read",
            .file = name,
            .offset = 0};
  }
  if (members.has_nodes) {
    return {.code = ErrorCode::kUnsupportedFormat,
            .cause = "this is a PyTorch execution trace (nodes without times)",
            .remedy =
                "give the profiler trace recorded beside it, or tie the two together with "
                "borescope link",
            .file = name,
            .offset = 0};
  }
  return {ErrorCode::kUnsupportedFormat, "no \"traceEvents\" in this JSON",
          "give a file written by torch.profiler's export_chrome_trace", name};
}

// Builds of March and April 2024 wrote the digits after the point without leading zeros. Rewriters
// that drop trailing zeros look the same, so this is reported but not corrected.
void CheckFractions(const KinetoMembers& members, const KinetoFacts& facts,
                    Diagnostics& diagnostics) {
  const uint64_t shorter = facts.timestamps.decimals[1] + facts.timestamps.decimals[2];
  if (facts.timestamps.absolute && members.display_time_unit == "ns" && shorter != 0 &&
      facts.timestamps.decimals[3] != 0) {
    diagnostics.CountMany(Diag::kUnpaddedFraction, shorter);
  }
}

// Numbers of calls and streams of one rank are another's, too.
Result<void> CheckRanks(const RankLabels& labels, const std::string& name,
                        const LoadOptions& options) {
  if (!options.rank_label.empty() || !labels.differ) {
    return {};
  }
  return Error{ErrorCode::kUnsupportedFormat,
               "several ranks were merged into this trace (its processes are called \"" +
                   labels.first + "...\" and otherwise)",
               "analyses read them apart from an ordinary file in which every event has a rank, "
               "else give the files of the ranks",
               name};
}

bool HasMembersOfKineto(const KinetoMembers& members, const Meta& meta) {
  return members.has_schema_version || !meta.devices.empty() || meta.base_ns || meta.rank;
}

// Of the events with a time, whether Kineto writes one like them, and how many it does not.
struct KnownEvents {
  bool has_any = false;
  uint64_t unknown = 0;
};

KnownEvents EventsOfKineto(const Trace& trace) {
  KnownEvents events;
  events.has_any = trace.memory().size() + trace.samples().size() != 0;
  for (const EventCount& count : trace.event_counts()) {
    if (count.phase == 'X' || count.phase == 'B' || count.phase == 'E') {
      const bool is_known = RoleOfCategory(trace.Text(count.category)) != EventRole::kOther;
      events.has_any = events.has_any || is_known;
      events.unknown += is_known ? 0 : count.count;
    }
  }
  return events;
}

// A file without Kineto's own members, and without an event that Kineto writes, is another
// program's: it is refused where it names that, or has many events. A short one may be what a test
// or a tool wrote; it is read, but nobody knows who wrote it.
Result<Trace> UnlessForeign(const KinetoMembers& members, Trace trace) {
  constexpr uint64_t kMany = 32;
  const KnownEvents events = EventsOfKineto(trace);
  if (HasMembersOfKineto(members, trace.meta()) || events.has_any) {
    return trace;
  }
  if (members.has_system_trace) {
    return Error{ErrorCode::kUnsupportedFormat,
                 "this is a trace of Perfetto or of a web browser, in JSON, not a profile that "
                 "borescope reads",
                 "give the trace of a profiler of the GPU, such as torch.profiler's",
                 trace.meta().file};
  }
  if (events.unknown >= kMany) {
    return Error{
        ErrorCode::kUnsupportedFormat,
        "this is a Chrome trace whose events are those of no profiler of GPUs that borescope knows",
        "give one of a format in `borescope list`", trace.meta().file};
  }
  TraceData data = std::move(trace).Take();
  data.meta.producer = "unknown: no event in it is of PyTorch's profiler";
  return Trace(std::move(data));
}

}  // namespace

Result<Trace> LoadKinetoJson(TextReader& reader, const std::string& name,
                             const LoadOptions& options) {
  TraceBuilder builder;
  DocumentReader document(reader, builder, options);
  document.Read();
  if (reader.error().has_value()) {
    return InFile(name, *reader.error());
  }
  KinetoMembers& members = document.members();
  if (!members.has_events) {
    if (!reader.damage().empty()) {
      return Error{ErrorCode::kCorrupt,
                   "the " + std::string(reader.damage()) + " and no events could be read",
                   "copy the file again", name};
    }
    return NotKineto(name, members);
  }
  BS_TRY(CheckRanks(document.facts().rank_labels, name, options));
  if (!reader.damage().empty()) {
    builder.diagnostics().Count(Diag::kTruncatedGzip, reader.byte(), reader.damage());
  }
  document.facts().async.Close(builder);
  CompleteMeta(document.facts(), members);
  CheckFractions(members, document.facts(), builder.diagnostics());
  members.meta.file = name;
  members.meta.text_bytes = reader.byte();
  members.meta.file_bytes = reader.stored_bytes();
  if (!options.rank_label.empty()) {
    members.meta.events_begin_byte = 0;  // what is added to the text would be in all ranks
    members.meta.events_end_byte = 0;
  }
  return UnlessForeign(members, builder.Finish(std::move(members.meta),
                                               document.facts().profiled_ns, options.threads));
}

}  // namespace borescope::internal
