#include "borescope/ingest/kineto/kineto_meta.h"

#include <simdjson.h>

#include <algorithm>
#include <utility>

#include "borescope/json/json_document.h"
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
  if (const int64_t rank = IntegerOr(value, "rank", kMissing); rank >= 0) {
    meta.rank = rank;
  }
  if (const int64_t size = IntegerOr(value, "world_size", kMissing); size > 0) {
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
    {"record_shapes", ReadOption<&RecordedOptions::record_shapes>},
    {"profile_memory", ReadOption<&RecordedOptions::profile_memory>},
    {"with_stack", ReadOption<&RecordedOptions::with_stack>},
    {"with_modules", ReadOption<&RecordedOptions::with_modules>},
    {"with_flops", ReadOption<&RecordedOptions::with_flops>},
};

// Numbers of versions and the list of events: nothing that says who or where.
constexpr std::string_view kHarmless[] = {
    "schemaVersion",       "traceEvents",         "cuda_runtime_version",
    "cuda_driver_version", "hip_runtime_version", "hip_driver_version",
    "cupti_version",       "roctracer_version",   "trace_id"};

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
  meta.producer = members.has_schema_version ? "PyTorch profiler (Kineto)" : "PyTorch profiler";
  meta.vendor = VendorOf(facts, meta);
}

}  // namespace borescope::internal
