#include "borescope/ingest/kineto/kineto_document.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "borescope/ingest/events/text_reader.h"
#include "borescope/json/json_cursor.h"
#include "borescope/json/json_string.h"
#include "borescope/trace/recorded_cut.h"

namespace borescope::internal {

namespace {

using simdjson::dom::element;

int64_t IntegerOr(element parent, const char* key, int64_t missing) {
  int64_t value = 0;
  return parent[key].get(value) == simdjson::SUCCESS ? value : missing;
}

std::string TextOr(element parent, const char* key) {
  std::string_view value;
  return parent[key].get(value) == simdjson::SUCCESS ? std::string(value) : std::string();
}

// The same of a number that other writers put down as text, or as a whole number with a fraction
// of 0: "3", 3.0.
int64_t WrittenIntegerOr(element parent, const char* key, int64_t missing) {
  constexpr double kMostExact = 9007199254740992.0;  // 2^53
  double number = 0;
  std::string_view text;
  if (parent[key].get(text) == simdjson::SUCCESS) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? value : missing;
  }
  if (parent[key].get(number) == simdjson::SUCCESS && std::abs(number) <= kMostExact &&
      std::trunc(number) == number) {
    return static_cast<int64_t>(number);
  }
  return IntegerOr(parent, key, missing);
}

// The first of two spellings that exists (NVIDIA, then Intel).
int64_t EitherInteger(element parent, const char* key, const char* other) {
  const int64_t value = IntegerOr(parent, key, kMissing);
  return value != kMissing ? value : IntegerOr(parent, other, kMissing);
}

void ReadDevices(element value, KinetoMembers& members) {
  simdjson::dom::array devices;
  if (value.get(devices) != simdjson::SUCCESS) {
    return;
  }
  members.meta.devices.clear();
  for (const element device : devices) {
    DeviceInfo info;
    info.id = IntegerOr(device, "id", kMissing);
    info.name = TextOr(device, "name");
    info.total_bytes = IntegerOr(device, "totalGlobalMem", kMissing);
    info.multiprocessors = EitherInteger(device, "numSms", "maxComputeUnits");
    info.compute_major = IntegerOr(device, "computeMajor", kMissing);
    info.compute_minor = IntegerOr(device, "computeMinor", kMissing);
    info.warp_size = IntegerOr(device, "warpSize", kMissing);
    info.max_threads_per_multiprocessor =
        IntegerOr(device, "maxThreadsPerMultiprocessor", kMissing);
    members.meta.devices.push_back(std::move(info));
  }
}

void ReadDistributedInfo(element value, KinetoMembers& members) {
  Meta& meta = members.meta;
  if (const int64_t rank = WrittenIntegerOr(value, "rank", kMissing); rank >= 0) {
    meta.rank = rank;
  }
  if (const int64_t size = WrittenIntegerOr(value, "world_size", kMissing); size > 0) {
    meta.world_size = size;
  }
  meta.backend = TextOr(value, "backend");
  meta.nccl_version = TextOr(value, "nccl_version");
}

void ReadBaseTime(element value, KinetoMembers& members) {
  // Beyond this (the year 2116) no sum with an event's time is safe, and no clock is right.
  constexpr int64_t kLatestNs = int64_t{1} << 62;
  int64_t base_ns = 0;
  if (value.get(base_ns) == simdjson::SUCCESS && base_ns >= 0 && base_ns <= kLatestNs) {
    members.meta.base_ns = base_ns;
  }
}

// What is no part of any recording says nothing.
void ReadCut(element value, KinetoMembers& members) {
  RecordedCut cut;
  cut.begin_ns = IntegerOr(value, "begin_ns", kMissing);
  cut.end_ns = IntegerOr(value, "end_ns", kMissing);
  cut.recording_begin_ns = IntegerOr(value, "recording_begin_ns", kMissing);
  cut.recording_end_ns = IntegerOr(value, "recording_end_ns", kMissing);
  cut.steps = TextOr(value, "steps");
  if (IsSane(cut)) {
    members.meta.cut = cut;
  }
}

void ReadTraceName(element value, KinetoMembers& members) {
  std::string_view name;
  if (value.get(name) == simdjson::SUCCESS) {
    members.meta.trace_name = name;
  }
}

void ReadCudaVersion(element value, KinetoMembers& members) {
  constexpr int64_t kMost = 999'990;
  int64_t version = 0;
  if (value.get(version) == simdjson::SUCCESS && version > 0 && version <= kMost) {
    members.cuda_runtime_version = version;
  }
}

void ReadDisplayUnit(element value, KinetoMembers& members) {
  std::string_view unit;
  if (value.get(unit) == simdjson::SUCCESS) {
    members.display_time_unit = unit;
  }
}

// Options are written as 1 if on and left out if off.
template <bool RecordedOptions::* kOption>
void ReadOption(element value, KinetoMembers& members) {
  int64_t number = 0;
  bool flag = false;
  members.meta.options.*kOption = (value.get(number) == simdjson::SUCCESS && number != 0) ||
                                  (value.get(flag) == simdjson::SUCCESS && flag);
}

struct MemberRow {
  std::string_view key;
  void (*read)(element value, KinetoMembers& members);
};

constexpr MemberRow kMembers[] = {
    {"deviceProperties", ReadDevices},
    {"distributedInfo", ReadDistributedInfo},
    {"baseTimeNanoseconds", ReadBaseTime},
    {kCutMember, ReadCut},
    {"traceName", ReadTraceName},
    {"displayTimeUnit", ReadDisplayUnit},
    {"cuda_runtime_version", ReadCudaVersion},
    {"record_shapes", ReadOption<&RecordedOptions::record_shapes>},
    {"profile_memory", ReadOption<&RecordedOptions::profile_memory>},
    {"with_stack", ReadOption<&RecordedOptions::with_stack>},
    {"with_modules", ReadOption<&RecordedOptions::with_modules>},
    {"with_flops", ReadOption<&RecordedOptions::with_flops>},
};

// Numbers of versions and the list of events: nothing that says who or where.
constexpr std::string_view kHarmless[] = {
    "schemaVersion",      "traceEvents",   "cuda_driver_version", "hip_runtime_version",
    "hip_driver_version", "cupti_version", "roctracer_version",   "trace_id"};

void CountSensitive(std::string_view what, Meta& meta) {
  const auto known = std::find_if(meta.sensitive.begin(), meta.sensitive.end(),
                                  [&](const SensitiveCount& row) { return row.what == what; });
  if (known != meta.sensitive.end()) {
    known->count += 1;
  } else {
    meta.sensitive.push_back({std::string(what), 1});
  }
}

// Members whose presence alone identifies the file.
struct PresenceRow {
  std::string_view key;
  bool KinetoMembers::* flag;
};

constexpr PresenceRow kPresence[] = {
    {"schemaVersion", &KinetoMembers::has_schema_version},
    {"nodes", &KinetoMembers::has_nodes},
    {"rocprofiler-sdk-tool", &KinetoMembers::has_rocprofiler_sdk},
    {"systemTraceEvents", &KinetoMembers::has_system_trace},
};

Vendor VendorOf(const KinetoFacts& facts, const Meta& meta) {
  if (facts.saw_hip) {
    return Vendor::kAmd;
  }
  if (facts.saw_cuda) {
    return Vendor::kNvidia;
  }
  if (facts.saw_xpu) {
    return Vendor::kIntel;
  }
  if (facts.saw_mtia || meta.backend.find("mtia") != std::string::npos) {
    return Vendor::kMeta;
  }
  // No runtime calls (CPU-only or device-only files): only the device names are available. AMD
  // wavefronts of data-centre parts are 64 wide, even if the driver gives no name.
  for (const DeviceInfo& device : meta.devices) {
    if (device.name.starts_with("AMD") || device.warp_size == 64) {
      return Vendor::kAmd;
    }
    if (device.warp_size == 32) {
      return Vendor::kNvidia;
    }
  }
  return Vendor::kUnknown;
}

// With the version of CUDA that the profiler was built for: what it can record depends on that
// (CudaVersionOf).
std::string ProducerOf(const KinetoMembers& members) {
  if (!members.has_schema_version) return "PyTorch profiler";
  const int64_t version = members.cuda_runtime_version;
  return version == 0 ? "PyTorch profiler (Kineto)"
                      : fmt::format("PyTorch profiler (Kineto, CUDA {}.{})", version / 1000,
                                    version % 1000 / 10);
}

}  // namespace

void NoteMember(std::string_view key, KinetoMembers& members) {
  for (const PresenceRow& row : kPresence) {
    members.*row.flag = members.*row.flag || row.key == key;
  }
  const bool is_read = std::any_of(std::begin(kMembers), std::end(kMembers),
                                   [&](const MemberRow& row) { return row.key == key; });
  if (!is_read &&
      std::find(std::begin(kHarmless), std::end(kHarmless), key) == std::end(kHarmless)) {
    CountSensitive("members", members.meta);
  }
}

bool ReadMember(std::string_view key, std::string_view value, KinetoMembers& members) {
  const auto* row = std::find_if(std::begin(kMembers), std::end(kMembers),
                                 [&](const MemberRow& r) { return r.key == key; });
  if (row == std::end(kMembers)) {
    return true;
  }
  simdjson::dom::parser parser;
  element parsed;
  if (ParseDocument(parser, value, parsed) != simdjson::SUCCESS) {
    return false;
  }
  row->read(parsed, members);
  return true;
}

void CompleteMeta(const KinetoFacts& facts, KinetoMembers& members) {
  Meta& meta = members.meta;
  meta.format = TraceFormat::kKineto;
  meta.producer = ProducerOf(members);
  meta.vendor = VendorOf(facts, meta);
}

namespace {

// Members before the events that are longer than this cannot be distinguished from a file without
// events.
constexpr size_t kLongestHead = size_t{256} << 20;

// A bracket that closes the array too early costs reading a chunk again; more of them are not
// handled.
constexpr int kMaxBrackets = 64;

}  // namespace

bool DocumentReader::FillTo(size_t at) {
  while (at >= reader_.window().size()) {
    if (!reader_.Fill()) {
      return false;
    }
  }
  return true;
}

// `at` is on a quote; moves it past the closing one.
DocumentReader::Scan DocumentReader::ScanString(size_t& at) {
  for (++at; Ensure(at); ++at) {
    const char c = reader_.window()[at];
    if (at >= kLongestHead) {
      return Scan::kDamaged;
    }
    if (c == '\\') {
      ++at;
    } else if (c == '"') {
      ++at;
      return Scan::kOk;
    }
  }
  return Scan::kEnd;
}

// Whether a value scanned up to `at` may end there.
bool DocumentReader::EndsValue(size_t at) {
  return !Ensure(at) || IsSpace(reader_.window()[at]) ||
         std::string_view(",}]\"{[").find(reader_.window()[at]) != std::string_view::npos;
}

// Moves `at` past the value that starts there; only strings and brackets are considered.
DocumentReader::Scan DocumentReader::ScanValue(size_t& at) {
  std::string open;  // the closing brackets expected
  while (Ensure(at) && at < kLongestHead) {
    const char c = reader_.window()[at];
    if (c == '"') {
      if (const Scan scan = ScanString(at); scan != Scan::kOk) {
        return scan;
      }
    } else if (c == '{' || c == '[') {
      open += c == '{' ? '}' : ']';
      ++at;
    } else if (c == '}' || c == ']') {
      if (open.empty() || open.back() != c) {
        return Scan::kDamaged;
      }
      open.pop_back();
      ++at;
    } else {
      at = std::min(reader_.window().find_first_of("\"{}[],:", at + 1), reader_.window().size());
    }
    if (open.empty() && EndsValue(at)) {
      return Scan::kOk;
    }
  }
  return at >= kLongestHead ? Scan::kDamaged : Scan::kEnd;
}

bool DocumentReader::ReadKey(std::string& key) {
  size_t end = 0;
  if (reader_.SkipSpace() != '"' || ScanString(end) != Scan::kOk) {
    return false;
  }
  std::string scratch;
  StringRepairs repairs;
  key = DecodeString(reader_.window().substr(1, end - 2), scratch, repairs);
  reader_.Consume(end);
  if (reader_.SkipSpace() != ':') {
    return false;
  }
  reader_.Consume(1);
  return true;
}

// False if the members cannot be read any further.
bool DocumentReader::ReadOneMember() {
  std::string key;
  if (!ReadKey(key)) {
    return false;
  }
  NoteMember(key, members_);
  if (key == "traceEvents" && reader_.SkipSpace() == '[') {
    ReadEventArray();
    return true;
  }
  reader_.SkipSpace();
  size_t end = 0;
  if (ScanValue(end) != Scan::kOk) {
    return false;
  }
  const std::string_view value = reader_.window().substr(0, end);
  if (!ReadMember(key, value, members_)) {
    Count(Diag::kBadSyntax, "the member \"" + key.substr(0, 60) + "\" is not JSON");
  }
  reader_.Consume(end);
  return true;
}

void DocumentReader::ReadMembers() {
  for (;;) {
    const char c = reader_.SkipSpace();
    if (c == '}') {
      reader_.Consume(1);
      CheckTail();
      return;
    }
    if (c == 0) {
      CountTruncation("the text ends before the closing brace");
      members_.meta.text_is_cut = true;
      return;
    }
    if (c == ',') {
      reader_.Consume(1);
      continue;
    }
    if (!ReadOneMember() && !SkipToEvents() && !ResumeEvents()) {
      if (members_.has_events) {
        Count(Diag::kDroppedText, "members after the events cannot be read");
      }
      members_.meta.text_is_cut = true;
      return;
    }
  }
}

// Whether a colon and an opening bracket follow at `at`.
bool DocumentReader::OpensArray(size_t at) {
  for (const char wanted : {':', '['}) {
    while (Ensure(at) && IsSpace(reader_.window()[at])) {
      ++at;
    }
    if (!Ensure(at) || reader_.window()[at] != wanted) {
      return false;
    }
    ++at;
  }
  return true;
}

// Log lines and user metadata are not always valid JSON; the events after them can still be found.
bool DocumentReader::SkipToEvents() {
  constexpr std::string_view kKey = "\"traceEvents\"";
  if (members_.has_events) {
    return false;
  }
  size_t at = 0;
  for (;;) {
    at = reader_.window().find(kKey, at);
    if (at != std::string_view::npos) {
      if (OpensArray(at + kKey.size())) {
        break;
      }
      at += kKey.size();
      continue;
    }
    at = reader_.window().size() - std::min(reader_.window().size(), kKey.size());
    if (reader_.window().size() > kLongestHead || !reader_.Fill()) {
      return false;
    }
  }
  Count(Diag::kDroppedText, "members before the events cannot be read");
  reader_.Consume(at);
  return true;
}

void DocumentReader::ReadEventArray() {
  reader_.Consume(1);
  members_.has_events = true;
  Meta& meta = members_.meta;
  meta.events_begin_byte = reader_.byte();
  meta.events_end_byte = meta.events_begin_byte;
  meta.has_events_before_end = false;
  const uint64_t dropped = builder_.diagnostics().count(Diag::kDroppedText);
  ReadArrayBody();
  // A document with content but without events is not understood well enough to add events to it.
  if (!meta.has_events_before_end && !meta.text_is_cut &&
      builder_.diagnostics().count(Diag::kDroppedText) != dropped) {
    meta.events_end_byte = 0;
  }
}

void DocumentReader::ReadArrayBody() {
  Meta& meta = members_.meta;
  EventsEnd end;
  do {
    end = sink_ == nullptr ? ReadEvents(reader_, builder_, options_)
                           : ReadEventsInOrder(reader_, *sink_);
    facts_.Merge(end.facts);
    if (end.last_event_end_byte != 0) {
      meta.events_end_byte = end.last_event_end_byte;
      meta.has_events_before_end = true;
    }
  } while (end.array_closed && EventsGoOn());
  if (!end.array_closed) {
    meta.text_is_cut = true;
    CountTruncation("the text ends before the bracket that closes the events");
  }
}

// If the document cannot be read after its events, or continues after its end, an extra bracket may
// have ended the events early. False if no event follows.
bool DocumentReader::ResumeEvents() {
  constexpr size_t kInSight = size_t{64} << 10;
  constexpr size_t kEventHead = 4096;  // an event that starts with its name has its phase in here
  if (!members_.has_events || stray_brackets_ == kMaxBrackets) {
    return false;
  }
  Ensure(kInSight);
  const std::string_view text = reader_.window().substr(0, kInSight);
  for (size_t at = text.find('{'); at != std::string_view::npos; at = text.find('{', at + 1)) {
    if (StartsEvent(text.substr(at)) &&
        text.substr(at, kEventHead).find("\"ph\"") != std::string_view::npos) {
      ++stray_brackets_;
      Count(Diag::kDroppedText, "a bracket among the events, and the text behind it");
      reader_.Consume(at);
      ReadArrayBody();
      return true;
    }
  }
  return false;
}

// Whether another event follows the bracket that closed the array: then it did not close it.
bool DocumentReader::EventsGoOn() {
  constexpr size_t kEnough = 256;  // enough to recognise an event
  if (stray_brackets_ == kMaxBrackets) {
    return false;
  }
  size_t at = reader_.SkipSpace() == ',' ? 1 : 0;
  Ensure(at + kEnough);
  at = FindNonSpace(reader_.window(), at);
  if (!StartsEvent(reader_.window().substr(at))) {
    return false;
  }
  ++stray_brackets_;
  Count(Diag::kBadSyntax, "a bracket between two events");
  reader_.Consume(at);
  return true;
}

// Any number of missing brackets counts as one early end.
void DocumentReader::CountTruncation(std::string_view where) {
  if (builder_.diagnostics().count(Diag::kTruncatedFile) == 0) {
    Count(Diag::kTruncatedFile, where);
  }
}

void DocumentReader::CheckTail() {
  while (reader_.SkipSpace() != 0) {
    if (!ResumeEvents()) {
      Count(Diag::kTrailingData, "");
      return;
    }
  }
}

void DocumentReader::Read() {
  const char first = reader_.SkipSpace();
  members_.meta.text_is_object = first != '[';
  if (first == '[') {
    ReadEventArray();
    CheckTail();
  } else if (first == '{') {
    reader_.Consume(1);
    ReadMembers();
  }
}

}  // namespace borescope::internal
