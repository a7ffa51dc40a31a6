#include "rocm/session.h"

#include <dlfcn.h>

#include <atomic>
#include <cstring>

#include "core/backend_state.h"
#include "core/clock.h"
#include "core/collector.h"
#include "core/files.h"
#include "core/writer.h"
#include "rocm/decode.h"
#include "roctracer/session.h"

namespace borescope::inject::rocm {

namespace {

using recording::ChunkKind;
using recording::DropSource;
using recording::RecordType;
using recording::StateKind;

constexpr size_t kBufferBytes = size_t{256} << 10U;
constexpr size_t kWatermarkBytes = kBufferBytes / 2;
constexpr uint64_t kDeadlineNs = 2'000'000'000;

Rocprofiler library;
Handle names_context;  // of what is loaded: always on
Handle work_context;
Handle buffer;

void WriteState(StateKind kind, const char* what, int result) {
  WriteBackendState("rocprofiler", kind, what, result);
}

template <typename Function>
void Find(const char* name, Function** function) {
  *function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

// It has called us, so it is loaded; of its functions all are exported.
bool FindLibrary() {
  Find("rocprofiler_create_context", &library.create_context);
  Find("rocprofiler_start_context", &library.start_context);
  Find("rocprofiler_stop_context", &library.stop_context);
  Find("rocprofiler_create_buffer", &library.create_buffer);
  Find("rocprofiler_flush_buffer", &library.flush_buffer);
  Find("rocprofiler_configure_buffer_tracing_service", &library.trace_to_buffer);
  Find("rocprofiler_configure_callback_tracing_service", &library.trace_by_callback);
  Find("rocprofiler_query_buffer_tracing_kind_operation_name", &library.operation_name);
  Find("rocprofiler_query_available_agents", &library.query_agents);
  Find("rocprofiler_get_timestamp", &library.timestamp);
  return library.is_complete();
}

// Its clock counts the time in which the machine sleeps, and ours does not: how far it is ahead is
// asked again with every buffer. A version with another clock cannot be used.
bool FindClock() {
  constexpr uint64_t kMostApart = 50'000'000;
  uint64_t theirs = 0;
  const uint64_t before = Nanoseconds(CLOCK_BOOTTIME);
  if (library.timestamp(&theirs) != kSuccess) return false;
  return theirs + kMostApart >= before && theirs <= Nanoseconds(CLOCK_BOOTTIME) + kMostApart;
}

void TakeBuffer(Handle, Handle, RecordHeader** headers, size_t count, void*, uint64_t dropped) {
  if (t_thread.chunk_kind == 0) {
    t_thread.chunk_kind = static_cast<uint32_t>(ChunkKind::kActivity);
  }
  SetClockOffset(static_cast<int64_t>(Nanoseconds(CLOCK_BOOTTIME) - Now()));
  for (size_t i = 0; i < count; ++i) {
    if (headers[i] != nullptr) DecodeRecord(*headers[i], library);
  }
  if (dropped == 0) return;
  const uint64_t body[] = {dropped, 0, Now()};
  Write(RecordType::kDropped, static_cast<uint32_t>(DropSource::kActivity), body);
}

template <typename Value>
Value At(const uint8_t* record, size_t offset) {
  Value value = {};
  memcpy(static_cast<void*>(&value), record + offset, sizeof(value));
  return value;
}

// A structure that is passed by value, and larger than two registers: it is on the stack, and grew.
// So it is declared as large as it may be, and read by offset.
struct CallbackRecord {
  uint8_t bytes[72];
};

void SeeCodeObject(CallbackRecord record, void*, void*) {
  using namespace callback_offset;
  const bool is_long = At<uint32_t>(record.bytes, kKindWithAncestor) == kCodeObjects;
  const size_t kind = is_long ? kKindWithAncestor : kKind;
  if (At<uint32_t>(record.bytes, kind) != kCodeObjects ||
      At<uint32_t>(record.bytes, kind + kOperationAfterKind) != kKernelSymbol ||
      At<uint32_t>(record.bytes, kind + kPhaseAfterKind) != kLoadPhase) {
    return;
  }
  const auto* payload = At<const uint8_t*>(record.bytes, kind + kPayloadAfterKind);
  if (payload == nullptr) return;
  NameKernel(At<uint64_t>(payload, symbol_offset::kKernel),
             At<const char*>(payload, symbol_offset::kName));
}

int SeeAgents(uint32_t, const void** agents, size_t count, void*) {
  for (size_t i = 0; i < count; ++i) AddAgent(static_cast<const uint8_t*>(agents[i]));
  return kSuccess;
}

// Calls, kernels and copies into one buffer; those of RCCL where this version has them.
int TraceWork() {
  int result = library.create_context(&work_context);
  if (result == kSuccess) {
    result = library.create_buffer(work_context, kBufferBytes, kWatermarkBytes, kBlockWhenFull,
                                   TakeBuffer, nullptr, &buffer);
  }
  for (const uint32_t kind : {kKernelDispatches, kMemoryCopies, kHipCalls}) {
    if (result == kSuccess && (kind != kHipCalls || g_options.api != ApiCalls::kNone)) {
      result = library.trace_to_buffer(work_context, kind, nullptr, 0, buffer);
    }
  }
  if (result == kSuccess && g_options.api != ApiCalls::kNone) {
    library.trace_to_buffer(work_context, RcclCalls(), nullptr, 0, buffer);
  }
  return result;
}

int TraceNames() {
  int result = library.create_context(&names_context);
  if (result == kSuccess) {
    result = library.trace_by_callback(names_context, kCodeObjects, nullptr, 0,
                                       reinterpret_cast<void*>(SeeCodeObject), nullptr);
  }
  return result == kSuccess ? library.start_context(names_context) : result;
}

void SwitchWork(bool is_on) {
  const int result =
      is_on ? library.start_context(work_context) : library.stop_context(work_context);
  if (result != kSuccess) WriteState(StateKind::kGap, "it cannot be switched", result);
}

void FlushOnce() { library.flush_buffer(buffer); }

void FlushBuffer();
constinit Collector collector({SwitchWork, FlushOnce, FlushBuffer});

// Has all that has ended written to the log. It is refused while another thread flushes the same
// buffer, and then tried again for a while.
void FlushBuffer() {
  const uint64_t begin = Now();
  while (library.flush_buffer(buffer) == kBufferBusy && Now() - begin < kDeadlineNs) {
    collector.Sleep(1'000'000);
  }
}

void FollowAtOnce(bool is_recording) { collector.FollowAtOnce(is_recording); }

// A failure is never the program's.
int Initialize(void (*)(Handle), void*) {
  const QuietSection quiet;
  if (!FindLibrary()) {
    WriteState(StateKind::kBackendMissing, "this version lacks functions", kSuccess);
    return kSuccess;
  }
  if (!FindClock()) {
    WriteState(StateKind::kBackendMissing, "its clock is not known", kSuccess);
    return kSuccess;
  }
  if (library.query_agents != nullptr) {
    library.query_agents(1, SeeAgents, agent_offset::kLeastBytes, nullptr);
  }
  if (const int result = TraceNames(); result != kSuccess) {
    WriteState(StateKind::kGap, "names of kernels cannot be recorded", result);
  }
  if (const int result = TraceWork(); result != kSuccess) {
    WriteState(StateKind::kBackendMissing, "device work cannot be recorded", result);
    return kSuccess;
  }
  if (!collector.Begin(FollowAtOnce)) {
    WriteState(StateKind::kBackendMissing, "no thread can be had", kSuccess);
  }
  return kSuccess;
}

void Finalize(void*) {
  const QuietSection quiet;
  collector.End();
  if (collector.is_on()) library.stop_context(work_context);
  if (buffer.value != 0) library.flush_buffer(buffer);
}

ConfigureResult answer = {sizeof(answer), Initialize, Finalize, nullptr};
std::atomic<bool> has_answered;

}  // namespace

ConfigureResult* Configure(uint32_t version, ClientId* client) {
  if (!IsEnabled() || !g_options.has_rocm || roctracer::HasBegun()) return nullptr;
  if (client != nullptr) client->name = "borescope";
  SetVersion(version);
  has_answered.store(true);
  return &answer;
}

bool HasAnswered() { return has_answered.load(); }

void FlushDevice() {
  if (!collector.IsHere()) return;
  const QuietSection quiet;
  FlushBuffer();
}

}  // namespace borescope::inject::rocm

// For libborescope_record_rocm.so. Not the name that rocprofiler looks for: with that one among the
// symbols of a program, it would start in every program on an AMD machine, asked for or not.
extern "C" __attribute__((visibility("default"))) void* borescope_record_rocm(uint32_t version,
                                                                              void* client) {
  return borescope::inject::rocm::Configure(
      version, static_cast<borescope::inject::rocm::ClientId*>(client));
}
