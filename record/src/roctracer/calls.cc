#include "roctracer/calls.h"

#include <atomic>
#include <cstring>

#include "core/clock.h"
#include "core/fields.h"
#include "core/strings.h"
#include "core/writer.h"
#include "rocm/values.h"

namespace borescope::inject::roctracer {

namespace {

using recording::ApiDomain;
using recording::CallDetailKind;
using recording::NameKind;
using recording::RecordType;

// How a call's arguments say which kernel it launches.
enum class Launch : uint8_t {
  kUnknown,
  kNone,
  kFunction,
  kModule,
  kModuleByItems,  // the grid is in work-items
};

struct LaunchCall {
  const char* name;
  Launch launch;
};

constexpr LaunchCall kLaunchCalls[] = {
    {"hipLaunchKernel", Launch::kFunction},
    {"hipExtLaunchKernel", Launch::kFunction},
    {"hipLaunchCooperativeKernel", Launch::kFunction},
    {"hipModuleLaunchKernel", Launch::kModule},
    {"hipModuleLaunchCooperativeKernel", Launch::kModule},
    {"hipExtModuleLaunchKernel", Launch::kModuleByItems},
    {"hipHccModuleLaunchKernel", Launch::kModuleByItems},
};

constexpr uint32_t kMostCalls = 4096;
std::atomic<Launch> launches[kMostCalls];  // by roctracer's number of the function

// Calls that have begun on a thread. One that an exception left stays until its place is needed.
struct OpenCall {
  uint64_t correlation;
  uint64_t start_ns;
};
constexpr uint32_t kMostOpen = 8;  // a power of two
struct OpenCalls {
  OpenCall calls[kMostOpen];
  uint32_t next;
};
__thread OpenCalls t_open __attribute__((tls_model("initial-exec")));

const Roctracer* known_library;

void Begin(uint64_t correlation) { t_open.calls[t_open.next++ % kMostOpen] = {correlation, Now()}; }

// When the innermost call of this correlation began; 0: it began before the recording did.
uint64_t StartOf(uint64_t correlation) {
  for (uint32_t back = 1; back <= kMostOpen; ++back) {
    OpenCall& call = t_open.calls[(t_open.next - back) % kMostOpen];
    if (call.start_ns == 0 || call.correlation != correlation) continue;
    const uint64_t start = call.start_ns;
    call.start_ns = 0;
    t_open.next -= back;
    return start;
  }
  return 0;
}

Launch LaunchOf(const char* name) {
  for (const LaunchCall& call : kLaunchCalls) {
    if (strcmp(call.name, name) == 0) return call.launch;
  }
  return Launch::kNone;
}

// Names the function in the log, the first time that it is called.
Launch Know(uint32_t number) {
  if (number >= kMostCalls) return Launch::kNone;
  const Launch known = launches[number].load(std::memory_order_relaxed);
  if (known != Launch::kUnknown) return known;
  const char* name = known_library->operation_name(kHipCalls, number, 0);
  const Launch launch = name == nullptr ? Launch::kNone : LaunchOf(name);
  if (name != nullptr) {
    InternName(NameKind::kCall, static_cast<uint32_t>(ApiDomain::kHip), number, name,
               TextLength(name));
  }
  launches[number].store(launch, std::memory_order_relaxed);
  return launch;
}

// The writer knows it, but in a child made by fork that has not recorded yet.
uint32_t ThisThread() {
  const bool is_known =
      t_thread.tid != 0 && t_thread.generation == g_log->generation.load(std::memory_order_relaxed);
  return is_known ? t_thread.tid : CurrentTid();
}

uint64_t Pair(uint64_t low, uint64_t high) { return (low & 0xffffffffU) | high << 32U; }

// The grid and block of a kernel, which its own record lacks.
void WriteShape(uint32_t correlation, Launch launch, const uint8_t* data) {
  using namespace launch_offset;
  const Fields arguments(data, kBytes);
  uint32_t grid[3];
  uint32_t block[3];
  for (size_t i = 0; i < 3; ++i) {
    grid[i] = arguments.U32(kGrid + 4 * i);
    block[i] = arguments.U32(kBlock + 4 * i);
    if (launch == Launch::kModuleByItems) grid[i] = rocm::Groups(grid[i], block[i]);
  }
  const size_t shared = launch == Launch::kFunction ? kSharedOfFunction : kSharedOfModule;
  const uint64_t body[] = {static_cast<uint64_t>(CallDetailKind::kLaunchShape),
                           Pair(grid[0], grid[1]), Pair(grid[2], arguments.U32(shared)),
                           (block[0] & 0xffffU) | uint64_t{block[1] & 0xffffU} << 16U |
                               uint64_t{block[2] & 0xffffU} << 32U};
  Write(RecordType::kCallDetail, correlation, body);
}

void End(uint32_t number, uint64_t correlation, const uint8_t* data) {
  const uint64_t start = StartOf(correlation);
  if (start == 0) return;
  const uint64_t end = Now();
  const Launch launch = Know(number);
  const auto id = static_cast<uint32_t>(correlation);
  const uint64_t body[] = {start, end, Pair(number, static_cast<uint64_t>(ApiDomain::kHip)), 0,
                           ThisThread()};
  Write(RecordType::kCall, id, body);
  if (launch != Launch::kNone) WriteShape(id, launch, data);
}

// Calls nothing of roctracer but for names, and takes no lock.
void SeeCall(uint32_t domain, uint32_t number, const void* data, void*) {
  if (domain != kHipCalls || data == nullptr) return;
  const auto* bytes = static_cast<const uint8_t*>(data);
  const Fields call(bytes, call_offset::kBytes);
  const uint64_t correlation = call.U64(call_offset::kCorrelation);
  const uint32_t phase = call.U32(call_offset::kPhase);
  if (phase == kBeforeCall && IsRecording()) Begin(correlation);
  if (phase == kAfterCall) End(number, correlation, bytes);
}

// Few are wanted of api=launch, and few are not of the rest. Numbers that this version of HIP does
// not have are refused, or have another name.
int EnableWanted(const Roctracer& library) {
  const bool are_few = g_options.api == ApiCalls::kLaunch;
  int result = are_few ? kSuccess : library.enable_calls(kHipCalls, SeeCall, nullptr);
  for (uint32_t number = 0; number < kMostCalls; ++number) {
    const char* name = library.operation_name(kHipCalls, number, 0);
    if (name == nullptr || rocm::IsWantedCall(name) != are_few) continue;
    const int switched = are_few ? library.enable_call(kHipCalls, number, SeeCall, nullptr)
                                 : library.disable_call(kHipCalls, number);
    if (result == kSuccess) result = switched;
  }
  return result;
}

}  // namespace

int SwitchCalls(const Roctracer& library, bool is_on) {
  if (g_options.api == ApiCalls::kNone) return kSuccess;
  known_library = &library;
  return is_on ? EnableWanted(library) : library.disable_calls(kHipCalls);
}

}  // namespace borescope::inject::roctracer
