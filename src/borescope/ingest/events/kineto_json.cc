#include "borescope/ingest/events/kineto_json.h"

#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <utility>

#include "borescope/base/each_row.h"
#include "borescope/base/hash/hash_tables.h"
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
  const std::string known_by =
      labels.first.starts_with('[')
          ? "its processes are called \"" + labels.first + "...\" and otherwise"
          : "its events are of " + labels.first + " and of others";
  return Error{ErrorCode::kUnsupportedFormat,
               "several ranks were merged into this trace (" + known_by + ")",
               "analyses read them apart from an ordinary file in which every event has a rank, "
               "else give the files of the ranks",
               name};
}

// The processes of which calls carry a number that is one of device work.
class CallingProcesses {
 public:
  explicit CallingProcesses(const Trace& trace) : trace_(trace) {
    const HostEvents& host = trace.host();
    for (const uint32_t row : EachRow(host.size())) {
      if (host.kind[row] == HostKind::kRuntime && host.detail[row] != kNoDetail) {
        Note(trace.runtime_calls().correlation[host.detail[row]],
             trace.tracks().pid[host.track[row].value]);
      }
    }
  }

  // Whether calls of several processes carry the number of the device work.
  bool AreSeveral(DeviceId id) const {
    return shared_.contains(trace_.device().correlation[id.value]);
  }

 private:
  void Note(int64_t number, int64_t pid) {
    if (number <= 0) return;  // it links nothing
    const auto [known, is_new] = process_of_.try_emplace(number, pid);
    if (!is_new && known->second != pid) shared_.insert(number);
  }

  const Trace& trace_;
  HashMap<int64_t, int64_t> process_of_;
  HashSet<int64_t> shared_;
};

// Kineto records one process, whose calls have numbers of their own, and device work does not say
// its process. Where calls of several processes have the number of device work, nobody knows which
// of them it is of: the file was merged from ranks that it does not name. The few numbers that
// two of a process may have in common are no reason.
Result<Trace> UnlessMerged(Trace trace) {
  constexpr uint64_t kLeast = 8;
  constexpr uint64_t kPart = 10;  // of the device work, one in so many
  std::set<int64_t> processes;
  const Tracks& tracks = trace.tracks();
  for (size_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] == TrackKind::kHost) processes.insert(tracks.pid[track]);
  }
  if (processes.size() < 2) {
    return trace;
  }
  const CallingProcesses calls(trace);
  uint64_t work = 0;
  uint64_t shared = 0;
  const DeviceEvents& device = trace.device();
  for (const uint32_t row : EachRow(device.size())) {
    if (IsDeviceWork(device.kind[row])) {
      ++work;
      shared += calls.AreSeveral(DeviceId{row}) ? 1 : 0;
    }
  }
  if (shared < kLeast || shared < work / kPart) {
    return trace;
  }
  return Error{
      ErrorCode::kUnsupportedFormat,
      fmt::format("several ranks were merged into this trace, and nothing in it says which "
                  "of them {} of its {} kernels, copies and memsets are of: calls of "
                  "several processes have their correlation numbers",
                  shared, work),
      "give the files of the ranks", trace.meta().file};
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
  const bool is_of_a_rank = !options.rank_label.empty();
  BS_ASSIGN(Trace trace,
            UnlessForeign(members, builder.Finish(std::move(members.meta),
                                                  document.facts().profiled_ns, options.threads)));
  return is_of_a_rank ? Result<Trace>(std::move(trace)) : UnlessMerged(std::move(trace));
}

}  // namespace borescope::internal
