#include "rocm/session.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstring>

#include "core/clock.h"
#include "core/files.h"
#include "core/flush_requests.h"
#include "core/followers.h"
#include "core/text.h"
#include "core/thread.h"
#include "core/writer.h"
#include "rocm/decode.h"

namespace borescope::inject::rocm {

namespace {

using recording::ChunkKind;
using recording::DropSource;
using recording::RecordType;
using recording::StateKind;

constexpr size_t kBufferBytes = size_t{256} << 10U;
constexpr size_t kWatermarkBytes = kBufferBytes / 2;
// How soon the page of control is followed, however seldom records are fetched.
constexpr uint64_t kFollowNs = 100'000'000;
constexpr uint64_t kDeadlineNs = 2'000'000'000;

Rocprofiler library;
Handle names_context;  // of what is loaded: always on
Handle work_context;
Handle buffer;
std::atomic<uint32_t> wakes;  // rises with every reason to look; our thread sleeps on it
std::atomic<bool> is_ending;
std::atomic<bool> is_on;
std::atomic<bool> is_switching;  // a thread starts or stops the collection
std::atomic<bool> is_ready;      // it is set up; before, and after its end, nothing is called
pid_t ready_in;

void WriteState(StateKind kind, const char* what, int result) {
  char text[256];
  TextBuilder builder(text, sizeof(text));
  builder.Add("rocprofiler: ").Add(what);
  if (result != kSuccess) builder.Add(" (status ").Add(static_cast<uint64_t>(result)).Add(")");
  const uint64_t body[] = {Now()};
  Write(RecordType::kState, static_cast<uint32_t>(kind), body, text, builder.length());
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
  if (result == kSuccess) {
    library.trace_to_buffer(work_context, kRcclCalls, nullptr, 0, buffer);
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

// Two threads never switch at a time, and none waits for the other: who comes second leaves it, and
// our thread looks again.
void Switch(bool is_wanted) {
  if (is_wanted == is_on.load() || is_switching.exchange(true)) return;
  if (is_wanted != is_on.load()) {
    const int result =
        is_wanted ? library.start_context(work_context) : library.stop_context(work_context);
    if (result != kSuccess) WriteState(StateKind::kGap, "it cannot be switched", result);
    is_on.store(is_wanted);
  }
  is_switching.store(false);
}

void Wake() {
  wakes.fetch_add(1);
  syscall(SYS_futex, &wakes, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

void Sleep(uint32_t seen, uint64_t ns) {
  const timespec time = {static_cast<time_t>(ns / 1'000'000'000),
                         static_cast<long>(ns % 1'000'000'000)};
  syscall(SYS_futex, &wakes, FUTEX_WAIT_PRIVATE, seen, &time, nullptr, 0);
}

// Has all that has ended written to the log. It is refused while another thread flushes the same
// buffer, and then tried again for a while.
void FlushBuffer() {
  const uint64_t begin = Now();
  while (library.flush_buffer(buffer) == kBufferBusy && Now() - begin < kDeadlineNs) {
    Sleep(wakes.load(), 1'000'000);
  }
}

// A child made by fork has neither our thread nor a device.
bool IsReadyHere() { return is_ready.load() && ready_in == getpid(); }

// What is launched after a start is recorded.
void FollowAtOnce(bool is_recording) {
  if (!IsReadyHere()) return;
  const QuietSection quiet;
  if (is_recording) Switch(true);
  Wake();
}

// Fetches what a request from outside asks for, and says so.
void FollowRequests(FlushRequests* requests) {
  if (!requests->IsAsked()) return;
  FlushBuffer();
  requests->Answer();
}

// So that a kill loses no more than what ran in the last period.
void* Run(void*) {
  pthread_setname_np(pthread_self(), "borescope");
  FlushRequests requests;
  requests.Begin();
  const uint64_t period = uint64_t{g_options.flush_ms} * 1'000'000;
  uint64_t flushed = Now();
  while (!is_ending.load()) {
    const uint32_t seen = wakes.load();
    Switch(IsRecording());
    FollowRequests(&requests);
    const uint64_t now = Now();
    if (now - flushed >= period) {
      flushed = now;
      if (is_on.load()) library.flush_buffer(buffer);
    }
    if (!is_ending.load()) Sleep(seen, period < kFollowNs ? period : kFollowNs);
  }
  requests.End();
  return nullptr;
}

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
  Switch(IsRecording());
  ready_in = getpid();
  is_ready.store(true);
  AddFollower(FollowAtOnce);
  StartThread(Run);
  return kSuccess;
}

// Waits for a thread that just switches, and has nobody switch any more: what is switched on after
// the end calls into a library that has ended. Not forever: that thread may wait for ours.
void EndSwitching() {
  const uint64_t begin = Now();
  while (is_switching.exchange(true) && Now() - begin < kDeadlineNs) {
    Sleep(wakes.load(), 1'000'000);
  }
}

void Finalize(void*) {
  const QuietSection quiet;
  const bool may_switch = IsReadyHere();
  is_ready.store(false);
  is_ending.store(true);
  Wake();
  if (may_switch) EndSwitching();
  if (is_on.load()) library.stop_context(work_context);
  if (buffer.value != 0) library.flush_buffer(buffer);
}

ConfigureResult answer = {sizeof(answer), Initialize, Finalize, nullptr};

}  // namespace

ConfigureResult* Configure(ClientId* client) {
  if (!IsEnabled() || !g_options.has_rocm) return nullptr;
  if (client != nullptr) client->name = "borescope";
  return &answer;
}

void FlushDevice() {
  if (!IsReadyHere()) return;
  const QuietSection quiet;
  FlushBuffer();
}

}  // namespace borescope::inject::rocm

// For libborescope_record_rocm.so. Not the name that rocprofiler looks for: with that one among the
// symbols of a program, it would start in every program on an AMD machine, asked for or not.
extern "C" __attribute__((visibility("default"))) void* borescope_record_rocm(void* client) {
  return borescope::inject::rocm::Configure(
      static_cast<borescope::inject::rocm::ClientId*>(client));
}
