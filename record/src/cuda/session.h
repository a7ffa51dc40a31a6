// CUPTI's collection: set up once, switched on and off with the recording. Every function but the
// callbacks inside runs on the thread that sets it up or on the flusher, never on both at once;
// Switch on any thread, but never on two at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "borescope/recording/log_format.h"
#include "cuda/library.h"
#include "cuda/record_sizes.h"

namespace borescope::inject::cuda {

class Session {
 public:
  // Registers clock and buffers. False, with a state record that says why, where CUPTI cannot be
  // used.
  bool Begin();
  // Enables or disables the kinds of activities.
  void Switch(bool is_on);
  bool is_on() const { return is_on_.load(); }
  // Other profilers then have buffers of their own.
  bool is_shared() const { return subscriber_ != nullptr; }
  // Takes CUPTI back from another profiler, which is over: its buffers, and what it has disabled.
  void TakeBack();
  // Has CUPTI return buffers: those that are complete, or all.
  void Flush(bool is_forced);
  // Writes what was returned to the log.
  void Drain();

 private:
  bool BeginWithSubscriber();
  bool BeginAlone();
  bool HasOurClock();
  void SeeProfilerCalls();
  void SeeLaunches();
  int SubscribeTo(const uint32_t* calls, size_t count);
  int SwitchKind(uint32_t kind, bool is_on);
  void SwitchMissed(uint32_t kind, bool is_on, const char* refusal);
  void SwitchDriverCalls(bool is_on);
  void LeaveOutRuntimeCalls();
  void DrainBuffer(struct Buffer* buffer);
  bool DrainBySteps(struct Buffer* buffer);
  void CountDropped(const struct Buffer& buffer);
  int NextRecord(struct Buffer* buffer, uint8_t** record);

  Cupti cupti_ = {};
  Subscriber subscriber_ = nullptr;
  Subscriber callbacks_ = nullptr;  // of versions with one subscriber
  uint32_t version_ = 0;
  RecordSizes sizes_;
  std::atomic<bool> is_on_ = false;
  std::atomic<uint64_t> refused_ = 0;  // kinds, as bits, whose refusal the log has
};

// A state record: the backend is off, or misses something, and why.
void WriteTrouble(recording::StateKind kind, const char* what, int result);

}  // namespace borescope::inject::cuda
