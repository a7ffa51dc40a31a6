#include "borescope/ingest/chrome/chrome_document.h"

#include <algorithm>
#include <utility>

#include "borescope/base/row_limit.h"
#include "borescope/ingest/kineto/kineto_document.h"
#include "borescope/json/json_cursor.h"
#include "borescope/json/json_string.h"
#include "borescope/json/number.h"
#include "borescope/trace/columns.h"

namespace borescope::internal {

namespace {

// The processes of a file that are written out, threads included; a trace has some hundreds.
constexpr size_t kMostNames = size_t{1} << 20;

template <class Key>
void Name(std::map<Key, std::string>& names, const Key& key, std::string_view name) {
  if (names.size() < kMostNames || names.contains(key)) {
    names[key] = name;
  }
}

}  // namespace

void ChromeRows::Add(const RawEvent& event) {
  ++part_.events;
  const std::string_view phase = event.Get(Field::kPhase);
  if (event.has_duplicates()) {
    diagnostics().Count(Diag::kDuplicateKey, event.byte);
  }
  if (phase.empty() && !event.Has(Field::kTs)) {
    return;  // an empty object, with which JAX ends its list
  }
  const char letter = PhaseOf(phase) == 0 ? '?' : PhaseOf(phase);
  switch (letter) {
    case 'X':
    case 's':
    case 'f':
      AddRow(event, letter);
      return;
    case 'C':
      AddCounter(event);
      break;
    case 'M':
      AddMetadata(event);
      break;
    case 't':
    case 'i':
    case 'I':
      break;
    default:
      diagnostics().Count(Diag::kUnknownPhase, event.byte, phase);
  }
  part_.CountEvent(letter, Intern(event, Field::kCategory), 0);
}

StringId ChromeRows::Intern(const RawEvent& event, Field field) {
  return part_.Intern(values_.Text(event, field));
}

int64_t ChromeRows::Pid(const RawEvent& event) {
  const int64_t pid = values_.ProcessNumber(event, Field::kPid);
  if (pid < 0 && IsString(event.Get(Field::kPid))) {
    Name(pid_texts_, pid, values_.Text(event, Field::kPid));
  }
  return pid;
}

void ChromeRows::AddRow(const RawEvent& event, char phase) {
  Row row;
  row.phase = phase;
  row.category = Intern(event, Field::kCategory);
  const bool is_arrow = phase != 'X';
  const EventTime time = is_arrow ? EventTime() : values_.Time(event);
  part_.CountEvent(phase, row.category, time.dur_ns);
  row.ts_ns = time.ts_ns;
  row.dur_ns = time.dur_ns;
  if (is_arrow ? !values_.Timestamp(event, row.ts_ns) : !time.has_ts) {
    return;
  }
  row.name = Intern(event, Field::kName);
  if (row.name.value == 0) {
    diagnostics().Count(Diag::kMissingName, event.byte);
  }
  row.pid = Pid(event);
  row.tid = values_.ProcessNumber(event, Field::kTid);
  row.id = is_arrow ? texts_.Intern(values_.Text(event, Field::kFlowId)) : StringId{0};
  AddArguments(event, row);
  CheckedRows(rows_.size() + 1, "events");
  rows_.push_back(row);
}

void ChromeRows::AddArguments(const RawEvent& event, Row& row) {
  row.first_arg = static_cast<uint32_t>(arguments_.size());
  JsonCursor args(event.Get(Field::kArgs));
  std::string_view key;
  if (args.EnterObject()) {
    while (args.NextMember(key)) {
      const std::string_view value = args.Value();
      const std::string decoded = HasEscapes(key) ? DecodedText(key) : std::string();
      const auto known =
          std::find(keys_.begin(), keys_.end(), HasEscapes(key) ? std::string_view(decoded) : key);
      if (known == keys_.end() || value.empty() || value == "null") {
        continue;
      }
      const std::string_view text =
          IsString(value) ? values_.Decoded(event, StringContent(value)) : value;
      CheckedRows(arguments_.size() + 1, "arguments of events");
      arguments_.push_back({static_cast<uint32_t>(known - keys_.begin()), texts_.Intern(text)});
    }
  }
  row.end_arg = static_cast<uint32_t>(arguments_.size());
}

void ChromeRows::AddCounter(const RawEvent& event) {
  Counter counter;
  JsonCursor args(event.Get(Field::kArgs));
  std::string_view key;
  if (!args.EnterObject() || !args.NextMember(key) || !values_.Timestamp(event, counter.ts_ns)) {
    return;
  }
  const std::optional<double> value = values_.Number(event, key, args.Value());
  if (!value.has_value()) {
    return;
  }
  counter.key = part_.Intern(values_.Decoded(event, key));
  counter.name = Intern(event, Field::kName);
  counter.pid = Pid(event);
  counter.value = *value;
  counters_.push_back(counter);
}

void ChromeRows::AddMetadata(const RawEvent& event) {
  const std::string_view what = event.Get(Field::kName);
  if (!event.Has(Field::kArgName)) {
    return;
  }
  const std::string name(values_.Text(event, Field::kArgName));
  if (Says(what, "process_name")) {
    Name(process_names_, Pid(event), name);
  } else if (Says(what, "thread_name")) {
    Name(thread_names_, std::pair(Pid(event), values_.ProcessNumber(event, Field::kTid)), name);
  }
}

std::string_view ChromeRows::Arg(const Row& row, size_t key) const {
  for (uint32_t i = row.end_arg; i > row.first_arg; --i) {
    if (arguments_[i - 1].key == key) {
      return texts_.Get(arguments_[i - 1].text);
    }
  }
  return {};
}

std::optional<int64_t> ChromeRows::Number(const Row& row, size_t key) const {
  const ParsedNumber number = ParseUnsigned(Arg(row, key));
  return number.status == NumberStatus::kOk ? std::optional(number.value) : std::nullopt;
}

std::string_view ChromeRows::ThreadName(int64_t pid, int64_t tid) const {
  const auto found = thread_names_.find({pid, tid});
  return found == thread_names_.end() ? std::string_view() : found->second;
}

std::string_view ChromeRows::PidText(int64_t pid) const {
  const auto found = pid_texts_.find(pid);
  return found == pid_texts_.end() ? std::string_view() : found->second;
}

void ChromeTrace::AddHost(HostKind kind, StringId name, TrackId track, int64_t ts_ns,
                          int64_t dur_ns, uint32_t detail) {
  HostEvents& host = part_.data.host;
  CheckedRows(host.size() + 1, "rows of one kind");
  host.ts_ns.push_back(ts_ns);
  host.dur_ns.push_back(dur_ns);
  host.name.push_back(name);
  host.track.push_back(track);
  host.kind.push_back(kind);
  host.detail.push_back(detail);
}

void ChromeTrace::AddDevice(const DeviceRow& row) {
  DeviceEvents& device = part_.data.device;
  device.ts_ns.push_back(row.ts_ns);
  device.dur_ns.push_back(row.dur_ns);
  device.name.push_back(row.name);
  device.track.push_back(row.track);
  device.kind.push_back(row.kind);
  device.correlation.push_back(row.correlation);
  device.external_id.push_back(row.external_id);
  device.detail.push_back(row.detail);
}

TrackId ChromeTrace::Thread(int64_t pid, int64_t tid, std::string_view name) {
  const TrackId track = part_.Track(TrackKind::kHost, pid, tid);
  if (!name.empty()) {
    part_.data.tracks.name[track.value] = part_.Intern(name);
  }
  return track;
}

TrackId ChromeTrace::Stream(int64_t device, int64_t stream, std::string_view name) {
  const TrackId track = part_.Track(TrackKind::kDevice, device, stream);
  if (!name.empty()) {
    part_.data.tracks.name[track.value] = part_.Intern(name);
  }
  return track;
}

uint32_t ChromeTrace::AddOperator(int64_t external_id) {
  const uint32_t row = AddMissingRow(part_.data.ops);
  part_.data.ops.external_id[row] = external_id;
  return row;
}

uint32_t ChromeTrace::AddCall(int64_t correlation) {
  const uint32_t row = AddMissingRow(part_.data.runtime_calls);
  part_.data.runtime_calls.correlation[row] = correlation;
  return row;
}

uint32_t ChromeTrace::AddCopy(int64_t bytes) {
  const uint32_t row = AddMissingRow(part_.data.copies);
  part_.data.copies.bytes[row] = bytes > 0 ? bytes : kMissing;
  return row;
}

void ChromeTrace::AddStep(int64_t number, const ChromeRows::Row& row, TrackId track) {
  AddHost(HostKind::kAnnotation, part_.Intern("ProfilerStep#" + std::to_string(number)), track,
          row.ts_ns, row.dur_ns);
  AddHost(HostKind::kAnnotation, row.name, track, row.ts_ns, row.dur_ns);
}

Result<Trace> LoadChromeDocument(TextReader& reader, const std::string& name,
                                 const LoadOptions& options, ChromeRows& rows,
                                 const std::function<void(Meta& meta)>& understand) {
  TraceBuilder builder;
  DocumentReader document(reader, builder, options, rows);
  document.Read();
  if (reader.error().has_value()) {
    return InFile(name, *reader.error());
  }
  if (!document.members().has_events) {
    return Error{ErrorCode::kCorrupt, "no events could be read", "copy the file again", name};
  }
  if (!reader.damage().empty()) {
    builder.diagnostics().Count(Diag::kTruncatedGzip, reader.byte(), reader.damage());
  }
  Meta meta = std::move(document.members().meta);
  understand(meta);
  meta.file = name;
  meta.text_bytes = reader.byte();
  meta.file_bytes = reader.stored_bytes();
  // Events can be added to texts of Kineto's form alone.
  meta.events_begin_byte = 0;
  meta.events_end_byte = 0;
  builder.Append(std::move(rows.part()));
  return builder.Finish(std::move(meta), 0, options.threads);
}

}  // namespace borescope::internal
