#include "rocm/values.h"

#include <cstring>

#include "core/options.h"
#include "core/state.h"
#include "core/text.h"
#include "core/writer.h"

namespace borescope::inject::rocm {

namespace {

// They say nothing.
constexpr const char* kIdleCalls[] = {"hipGetDevice", "hipGetLastError", "hipPeekAtLastError",
                                      "__hipPushCallConfiguration", "__hipPopCallConfiguration"};

// Launches of kernels and graphs, copies and sets, collectives.
bool IsLaunch(const char* name) {
  return strncmp(name, "nccl", 4) == 0 || strncmp(name, "hipMemcpy", 9) == 0 ||
         strncmp(name, "hipMemset", 9) == 0 || strstr(name, "Launch") != nullptr;
}

}  // namespace

bool IsWantedCall(const char* name) {
  if (g_options.api == ApiCalls::kNone || g_options.skipped.HasName(name)) return false;
  if (g_options.api == ApiCalls::kLaunch) return IsLaunch(name);
  for (const char* idle : kIdleCalls) {
    if (strcmp(idle, name) == 0) return false;
  }
  return true;
}

uint32_t Groups(uint32_t items, uint32_t size) {
  return size == 0 ? items : static_cast<uint32_t>((uint64_t{items} + size - 1) / size);
}

void SetCopyKinds(bool from_host, bool to_host, recording::CopyBody& body) {
  constexpr uint32_t kPinned = 2;
  constexpr uint32_t kOfDevice = 3;
  body.source_kind = from_host ? kPinned : kOfDevice;
  body.target_kind = to_host ? kPinned : kOfDevice;
  body.copy_kind = from_host ? (to_host ? 9 : 1) : (to_host ? 2 : 8);
}

void DescribeGpu(uint32_t number, const GpuFacts& facts) {
  char text[256];
  TextBuilder json(text, sizeof(text));
  constexpr char kDigits[] = "0123456789abcdef";
  const char step[] = {kDigits[facts.target % 100 % 16], '\0'};
  json.Add("{\"name\":\"AMD gfx").Add(uint64_t{facts.target / 10'000});
  json.Add(uint64_t{facts.target / 100 % 100}).Add(step).Add("\",\"multiprocessors\":");
  json.Add(uint64_t{facts.compute_units}).Add(",\"warp_size\":").Add(uint64_t{facts.warp}).Add("}");
  const uint64_t body[] = {number};
  WriteKept(recording::RecordType::kDevice,
            static_cast<uint32_t>(recording::DeviceRecordKind::kDevice), body, text, json.length());
}

}  // namespace borescope::inject::rocm
