// Sampling while a program is recorded: threads of the launcher that measure in turns and add to a
// log of the run.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>

namespace borescope::internal {

struct SamplingState;

// One thread for the system and one for the GPUs, whose libraries may hang where a GPU is sick: it
// is then left behind.
class Sampling {
 public:
  // Samples the processes of `root` and the GPUs every `interval`, for the first time after one.
  // The log appears in `folder` with the first sample. What cannot be measured is left out.
  Sampling(const std::string& folder, pid_t root, std::chrono::nanoseconds interval);
  Sampling(const Sampling&) = delete;
  Sampling& operator=(const Sampling&) = delete;
  // Ends it. Waits for a measurement that is being made, at most two seconds.
  ~Sampling() { End(); }

  // The same, before that. Takes no memory.
  void End();
  // After End: why some or all samples ended earlier, as where the disk is full; empty: they did
  // not.
  std::string WhyEndedEarly() const;

 private:
  std::shared_ptr<SamplingState> state_;
};

}  // namespace borescope::internal
