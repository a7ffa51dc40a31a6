#include "roctracer/session.h"

#include <atomic>
#include <cstdlib>

#include "core/backend_state.h"
#include "core/clock.h"
#include "core/collector.h"
#include "core/files.h"
#include "core/writer.h"
#include "rocm/session.h"
#include "roctracer/calls.h"
#include "roctracer/decode.h"
#include "roctracer/library.h"

namespace borescope::inject::roctracer {

namespace {

using recording::ChunkKind;
using recording::RecordType;
using recording::StateKind;

constexpr size_t kBufferBytes = size_t{1} << 20U;

Roctracer library;
void* pool;
std::atomic<bool> was_asked;
std::atomic<bool> has_begun;
std::atomic<bool> has_said_switch;  // each trouble once, not with each turn
std::atomic<bool> has_said_rest;
std::atomic<bool> has_said_clock;

void WriteState(StateKind kind, const char* what, int result) {
  WriteBackendState("roctracer", kind, what, result);
}

void SayOnce(std::atomic<bool>* has_said, const char* what, int result) {
  if (!has_said->exchange(true)) WriteState(StateKind::kGap, what, result);
}

void TakeBuffer(const char* begin, const char* end, void*) {
  const QuietSection quiet;
  if (t_thread.chunk_kind == 0) {
    t_thread.chunk_kind = static_cast<uint32_t>(ChunkKind::kActivity);
  }
  const size_t rest = DecodeBuffer(reinterpret_cast<const uint8_t*>(begin),
                                   reinterpret_cast<const uint8_t*>(end), library);
  if (rest == 0) return;
  SayOnce(&has_said_rest, "a buffer could not be read to its end", kSuccess);
  const uint64_t records = (rest + record_offset::kBytes - 1) / record_offset::kBytes;
  const uint64_t body[] = {records, 0, Now()};
  Write(RecordType::kDropped, static_cast<uint32_t>(recording::DropSource::kActivity), body);
}

bool IsNear(uint64_t time, uint64_t other) {
  constexpr uint64_t kMostApart = 50'000'000;
  return time + kMostApart >= other && time <= other + kMostApart;
}

// Its clock is that of HSA, which counts the time in which the machine sleeps; older ones do not.
// It says no time before HSA begins. Any other clock is read again in each turn.
void FollowClock() {
  const uint64_t ours = Now();
  const uint64_t boot = Nanoseconds(CLOCK_BOOTTIME);
  uint64_t theirs = 0;
  const bool is_known =
      library.timestamp != nullptr && library.timestamp(&theirs) == kSuccess && theirs != 0;
  if (!is_known || IsNear(theirs, boot)) {
    SetClockOffset(static_cast<int64_t>(boot - ours));
  } else if (IsNear(theirs, ours)) {
    SetClockOffset(0);
  } else {
    SayOnce(&has_said_clock, "its clock is not known; times of device work may be off", kSuccess);
    SetClockOffset(static_cast<int64_t>(theirs - ours));
  }
}

int SwitchWork(bool is_on) {
  int first = kSuccess;
  for (const uint32_t work : {kDispatch, kCopy}) {
    const int result =
        is_on ? library.enable_work(kHipWork, work, pool) : library.disable_work(kHipWork, work);
    if (first == kSuccess) first = result;
  }
  return first;
}

// Calls last to begin and first to end: work without its call is worse than a call without work.
void SwitchTo(bool is_on) {
  FollowClock();
  int result = is_on ? SwitchWork(true) : SwitchCalls(library, false);
  const int second = is_on ? SwitchCalls(library, true) : SwitchWork(false);
  if (result == kSuccess) result = second;
  if (result != kSuccess) SayOnce(&has_said_switch, "it cannot be switched", result);
}

// It returns when what is in the pool was handed over.
void Fetch() {
  FollowClock();
  library.flush(pool);
}

constinit Collector collector({SwitchTo, Fetch, Fetch});

void FollowAtOnce(bool is_recording) { collector.FollowAtOnce(is_recording); }

// Registered after HIP and roctracer were loaded, so that it runs before what they do at exit.
void EndAtExit() {
  const QuietSection quiet;
  collector.EndOnThread();
}

const char* WhyNot(Found found) {
  switch (found) {
    case Found::kNoLibrary:
      return "libroctracer64.so.4 is not found, and rocprofiler-sdk neither";
    case Found::kNoFunctions:
      return "this version lacks functions";
    case Found::kOtherVersion:
      return "its version is not known";
    case Found::kYes:
      break;
  }
  return nullptr;
}

int OpenPool() {
  PoolProperties properties = {};
  properties.buffer_bytes = kBufferBytes;
  properties.take_buffer = TakeBuffer;
  return library.open_pool(&properties, &pool);
}

// A failure is never the program's.
void Begin() {
  if (const char* why = WhyNot(FindRoctracer(&library)); why != nullptr) {
    return WriteState(StateKind::kBackendMissing, why, kSuccess);
  }
  // Older versions want it before anything of HIP is enabled.
  if (library.set_properties != nullptr) library.set_properties(kHipCalls, nullptr);
  if (const int result = OpenPool(); result != kSuccess) {
    return WriteState(StateKind::kBackendMissing, "device work cannot be recorded", result);
  }
  has_begun.store(true);
  if (!collector.Begin(FollowAtOnce)) {
    return WriteState(StateKind::kBackendMissing, "no thread can be had", kSuccess);
  }
  atexit(EndAtExit);
}

bool IsWanted() {
  return IsEnabled() && g_options.has_rocm && !rocm::HasAnswered() && !WillRocprofilerAsk();
}

}  // namespace

void BeginWithHip() {
  if (was_asked.load() || !IsEnabled() || !g_options.has_rocm) return;
  const QuietSection quiet;
  if (!was_asked.exchange(true) && IsWanted()) Begin();
}

bool HasBegun() { return has_begun.load(); }

void FlushDevice() {
  const QuietSection quiet;
  collector.FetchOnThread();
}

}  // namespace borescope::inject::roctracer
