#include "cuda/session.h"

#include <atomic>

#include "core/clock.h"
#include "core/fields.h"
#include "core/rules.h"
#include "core/text.h"
#include "core/writer.h"
#include "cuda/buffers.h"
#include "cuda/call_numbers.h"
#include "cuda/calls.h"
#include "cuda/counters.h"
#include "cuda/decode.h"
#include "cuda/flusher.h"
#include "cuda/range_abi.h"

namespace borescope::inject::cuda {

namespace {

using recording::RecordType;
using recording::StateKind;

constexpr uint32_t kOtherKinds[] = {kMemcpyPeer, kExternalCorrelation, kOverheadKind,
                                    kDeviceKind, kContextKind,         kStreamKind};

// CUPTI's version, for the callback that may refuse a buffer.
std::atomic<uint32_t> known_version;

uint64_t ReadClock() { return Now(); }

void GiveBuffer(uint8_t** buffer, size_t* size, size_t* most_records) {
  *most_records = 0;
  Buffer* taken = TakeBuffer();
  *buffer = taken == nullptr ? nullptr : taken->data();
  *size = taken == nullptr ? 0 : kBufferBytes;
}

void Return(void* context, uint32_t stream, uint8_t* buffer, size_t, size_t valid) {
  if (ReturnBuffer(buffer, context, stream, valid)) WakeFlusher();
}

void GiveBuffer2(uint8_t** buffer, size_t* size, size_t* most_records, void*) {
  GiveBuffer(buffer, size, most_records);
}

void Return2(uint8_t* buffer, size_t size, size_t valid, void*) {
  Return(nullptr, 0, buffer, size, valid);
}

bool IsKernelLaunch(uint32_t call) {
  for (const uint32_t launch : kKernelLaunches) {
    if (call == launch) return true;
  }
  return false;
}

// On the thread that calls the driver. What starts begins after the call, what stops ends before
// it.
void SeeCall(void*, uint32_t domain, uint32_t call, const void* data) {
  if (domain != kDriverDomain || data == nullptr) return;
  const bool is_before = *static_cast<const uint32_t*>(data) == kBeforeCall;
  if (IsKernelLaunch(call)) return SeeLaunch(data, is_before);
  if (call == kProfilerStart && !is_before) ProfilerStarts();
  if (call == kProfilerStop && is_before) ProfilerStops();
}

bool WantsProfilerCalls() {
  return g_options.rules.start == RuleKind::kCall || g_options.rules.stop == RuleKind::kCall;
}

}  // namespace

void WriteTrouble(StateKind kind, const char* what, int result) {
  char text[256];
  TextBuilder builder(text, sizeof(text));
  builder.Add("CUPTI: ").Add(what);
  if (result != kSuccess) builder.Add(" (error ").Add(static_cast<uint64_t>(result)).Add(")");
  const uint64_t body[] = {Now()};
  Write(RecordType::kState, static_cast<uint32_t>(kind), body, text, builder.length());
}

bool Session::Begin() {
  char why[kMostWhy];
  if (!FindCupti(&cupti_, why)) {
    WriteTrouble(StateKind::kBackendMissing, why, kSuccess);
    return false;
  }
  const int result = cupti_.get_version(&version_);
  if (result != kSuccess) {
    WriteTrouble(StateKind::kBackendMissing, "cuptiGetVersion failed", result);
    return false;
  }
  known_version.store(version_);
  PrepareBuffers();
  if (!BeginWithSubscriber() && !BeginAlone()) return false;
  if (WantsProfilerCalls()) SeeProfilerCalls();
  if (g_options.counters[0] != '\0') SeeLaunches();
  return true;
}

// Older versions have one subscriber for the whole process, which it takes.
int Session::SubscribeTo(const uint32_t* calls, size_t count) {
  Subscriber subscriber = subscriber_ == nullptr ? callbacks_ : subscriber_;
  int result = kSuccess;
  if (subscriber == nullptr && cupti_.subscribe != nullptr) {
    result = cupti_.subscribe(&subscriber, SeeCall, nullptr);
    if (result == kSuccess) callbacks_ = subscriber;
  }
  if (result == kSuccess && (cupti_.enable_callback == nullptr || subscriber == nullptr)) {
    result = kNotInitialized;
  }
  for (size_t i = 0; i < count && result == kSuccess; ++i) {
    result = cupti_.enable_callback(1, subscriber, kDriverDomain, calls[i]);
  }
  return result;
}

// Where the subscriber is taken, calls of a runtime that is linked dynamically are seen all the
// same (profiler_calls.cc).
void Session::SeeProfilerCalls() {
  constexpr uint32_t kCalls[] = {kProfilerStart, kProfilerStop};
  const int result = SubscribeTo(kCalls, 2);
  if (result == kSuccess) return;
  WriteTrouble(StateKind::kBackendMissing,
               "calls of cudaProfilerStart are only seen where the runtime is a library", result);
}

void Session::SeeLaunches() {
  if (!BeginCounters(cupti_.library)) return;
  const int result = SubscribeTo(kKernelLaunches, sizeof(kKernelLaunches) / 4);
  if (result == kSuccess) return;
  WriteTrouble(StateKind::kBackendMissing,
               result == kMultipleSubscribers ? "no counters: another tool has the callbacks"
                                              : "no counters: launches cannot be seen",
               result);
}

// From CUDA 13.4: several tools at once, each with its own clock and buffers. False where any part
// is refused, after which the way of older versions is tried.
bool Session::BeginWithSubscriber() {
  const bool has_all = cupti_.subscribe_2 != nullptr && cupti_.unsubscribe != nullptr &&
                       cupti_.set_attribute_2 != nullptr && cupti_.enable_2 != nullptr &&
                       cupti_.disable_2 != nullptr && cupti_.register_callbacks_2 != nullptr &&
                       cupti_.next_record_2 != nullptr;
  if (version_ < kSubscriberVersion || !has_all) return false;
  SubscriberParams params = {};
  params.bytes = sizeof(params);
  params.name = "borescope";
  params.allows_others = 1;
  if (cupti_.subscribe_2(&subscriber_, SeeCall, nullptr, &params) != kSuccess) {
    subscriber_ = nullptr;
    return false;
  }
  TimestampFunction clock = ReadClock;
  size_t bytes = sizeof(clock);
  uint32_t ids = kSystemThreadIds;
  size_t id_bytes = sizeof(ids);
  // Where it is refused, threads are known by pthread_self, as before.
  cupti_.set_attribute_2(subscriber_, kThreadIdAttribute, &id_bytes, &ids);
  if (cupti_.set_attribute_2(subscriber_, kTimestampAttribute, &bytes,
                             static_cast<void*>(&clock)) == kSuccess &&
      HasOurClock() && cupti_.register_callbacks_2(subscriber_, GiveBuffer2, Return2) == kSuccess) {
    return true;
  }
  cupti_.unsubscribe(subscriber_);
  subscriber_ = nullptr;
  return false;
}

// Some versions ignore a subscriber's clock while others may subscribe; the records would then be
// of another clock, which steps.
bool Session::HasOurClock() {
  constexpr uint64_t kMostApart = 50'000'000;
  uint64_t time = 0;
  const uint64_t before = Now();
  if (cupti_.get_timestamp_2 == nullptr || cupti_.get_timestamp_2(subscriber_, &time) != kSuccess) {
    return false;
  }
  return time + kMostApart >= before && time <= Now() + kMostApart;
}

// The clock and the kind of thread ids before anything is enabled: CUPTI takes no other afterwards.
bool Session::BeginAlone() {
  if (cupti_.register_timestamp == nullptr) {
    WriteTrouble(StateKind::kBackendMissing, "this version has no clock callback", kSuccess);
    return false;
  }
  // Where it is refused, or not known, threads are known by pthread_self.
  if (cupti_.set_thread_ids != nullptr) cupti_.set_thread_ids(kSystemThreadIds);
  int result = cupti_.register_timestamp(ReadClock);
  if (result == kSuccess) result = cupti_.register_callbacks(GiveBuffer, Return);
  if (result == kSuccess) return true;
  WriteTrouble(StateKind::kBackendMissing,
               result == kMultipleSubscribers ? "another tool has it" : "it cannot be set up",
               result);
  return false;
}

int Session::SwitchKind(uint32_t kind, bool is_on) {
  if (subscriber_ != nullptr) {
    return is_on ? cupti_.enable_2(subscriber_, kind, nullptr)
                 : cupti_.disable_2(subscriber_, kind, nullptr);
  }
  if (!is_on && cupti_.disable == nullptr) return kSuccess;
  return is_on ? cupti_.enable(kind) : cupti_.disable(kind);
}

// Those calls alone, where CUPTI can; else all are collected and most are passed over.
void Session::SwitchDriverCalls(bool is_on) {
  const auto flag = static_cast<uint8_t>(is_on ? 1 : 0);
  const bool has_choice = subscriber_ != nullptr ? cupti_.enable_driver_api_2 != nullptr
                                                 : cupti_.enable_driver_api != nullptr;
  if (!has_choice) {
    SwitchKind(kDriver, is_on);
    return;
  }
  for (uint32_t call = 1; call < CallSet::kMostNumbers; ++call) {
    if (!IsWantedDriverCall(call, g_options)) continue;
    if (subscriber_ != nullptr) {
      cupti_.enable_driver_api_2(subscriber_, call, flag);
    } else {
      cupti_.enable_driver_api(call, flag);
    }
  }
}

// Where CUPTI can, what is passed over is not collected either: programs ask for their device, and
// whether there was an error, far more often than they launch anything.
void Session::LeaveOutRuntimeCalls() {
  for (uint32_t call = 1; call <= kNewestRuntimeCall; ++call) {
    if (IsWantedRuntimeCall(call, g_options)) continue;
    if (subscriber_ == nullptr && cupti_.enable_runtime_api != nullptr) {
      cupti_.enable_runtime_api(call, 0);
    } else if (subscriber_ != nullptr && cupti_.enable_runtime_api_2 != nullptr) {
      cupti_.enable_runtime_api_2(subscriber_, call, 0);
    }
  }
}

// Where records are refused that are missed, the log says so, once.
void Session::SwitchMissed(uint32_t kind, bool is_on, const char* refusal) {
  const int result = SwitchKind(kind, is_on);
  const uint64_t bit = uint64_t{1} << kind;
  if (refusal == nullptr || result == kSuccess || (refused_.fetch_or(bit) & bit) != 0) return;
  WriteTrouble(StateKind::kGap, refusal, result);
}

void Session::Switch(bool is_on) {
  const int failed = SwitchKind(kConcurrentKernel, is_on);
  // Who gets no kernels gets nothing else either, and that is said below.
  const auto missed = [&](uint32_t kind, const char* refusal) {
    SwitchMissed(kind, is_on, is_on && failed == kSuccess ? refusal : nullptr);
  };
  missed(kMemcpy, "copies cannot be recorded");
  missed(kMemset, "sets cannot be recorded");
  for (const uint32_t kind : kOtherKinds) SwitchKind(kind, is_on);
  if (g_options.api != ApiCalls::kNone) {
    missed(kRuntime, "calls cannot be recorded");
    if (is_on) LeaveOutRuntimeCalls();
    SwitchDriverCalls(is_on);
  }
  if (!g_options.has_graph_nodes) SwitchKind(kGraphTrace, is_on);
  if (g_options.has_sync) missed(kSynchronization, "waits cannot be recorded");
  if (g_options.has_memory) missed(kMemory2, "memory cannot be recorded");
  is_on_.store(is_on);
  if (failed == kSuccess) return;
  WriteTrouble(
      StateKind::kBackendMissing,
      failed == kMultipleSubscribers ? "another tool has it" : "kernels cannot be recorded",
      failed);
}

// With subscribers each profiler has its own.
void Session::TakeBack() {
  if (subscriber_ != nullptr) return;
  cupti_.register_callbacks(GiveBuffer, Return);
  if (is_on_.load()) Switch(true);
}

void Session::Flush(bool is_forced) { cupti_.flush_all(is_forced ? kForcedFlush : 0); }

int Session::NextRecord(Buffer* buffer, uint8_t** record) {
  if (subscriber_ != nullptr) {
    return cupti_.next_record_2(subscriber_, buffer->data(), buffer->valid, record);
  }
  return cupti_.next_record(buffer->data(), buffer->valid, record);
}

bool Session::DrainBySteps(Buffer* buffer) {
  if (!sizes_.IsStepped() || !sizes_.LeadToEnd(buffer->data(), buffer->valid)) return false;
  for (size_t at = 0; at < buffer->valid;) {
    const uint8_t* record = buffer->data() + at;
    const size_t bytes = sizes_.Of(Fields(record, buffer->valid - at).U32(0));
    DecodeRecord(record, bytes, g_options, cupti_);
    at += bytes;
  }
  return true;
}

// The length of a record is how far the next one is away.
void Session::DrainBuffer(Buffer* buffer) {
  if (buffer->valid != 0 && DrainBySteps(buffer)) return;
  const uint8_t* end = buffer->data() + buffer->valid;
  uint8_t* next = nullptr;
  const uint8_t* record = nullptr;
  int result = buffer->valid == 0 ? int{kMaxLimitReached} : NextRecord(buffer, &next);
  while (result == kSuccess) {
    // Never backwards or beyond the buffer, whatever CUPTI says.
    if (next < buffer->data() || next >= end || (record != nullptr && next <= record)) break;
    if (record != nullptr) {
      const auto bytes = static_cast<size_t>(next - record);
      sizes_.Learn(Fields(record, bytes).U32(0), bytes);
      DecodeRecord(record, bytes, g_options, cupti_);
    }
    record = next;
    result = NextRecord(buffer, &next);
  }
  if (record != nullptr) DecodeRecord(record, static_cast<size_t>(end - record), g_options, cupti_);
  if (result != kMaxLimitReached) {
    WriteTrouble(StateKind::kGap, "a buffer could not be read to its end", result);
  }
}

void Session::CountDropped(const Buffer& buffer) {
  size_t count = 0;
  int result = kNotInitialized;
  if (subscriber_ != nullptr && cupti_.dropped_2 != nullptr) {
    result = cupti_.dropped_2(subscriber_, buffer.context, buffer.stream, &count);
  } else if (subscriber_ == nullptr && cupti_.dropped != nullptr) {
    result = cupti_.dropped(buffer.context, buffer.stream, &count);
  }
  if (result != kSuccess || count == 0) return;
  const uint64_t body[] = {count, 0, Now()};
  Write(RecordType::kDropped, static_cast<uint32_t>(recording::DropSource::kActivity), body);
}

void Session::Drain() {
  for (Buffer* buffer = TakeReturned(); buffer != nullptr;) {
    Buffer* next = buffer->next;
    DrainBuffer(buffer);
    CountDropped(*buffer);
    RecycleBuffer(buffer);
    buffer = next;
  }
  PrepareBuffers();
}

}  // namespace borescope::inject::cuda
