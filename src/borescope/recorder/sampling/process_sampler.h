// Samples of the processes of a program, from /proc: processor time, memory, threads, switches,
// faults, input and output; and how much of the machine's time is lost to waiting.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <vector>

#include "borescope/recorder/sampling/sample.h"

namespace borescope::internal {

// The processes that a program consists of: itself, and all that they started.

// One thread at a time.
class ProcessTree {
 public:
  explicit ProcessTree(pid_t root);

  // The processes that run now, by number. One whose parent has ended stays a member if it was seen
  // before.
  std::vector<pid_t> Members();

 private:
  std::map<pid_t, uint64_t> members_;  // with the time of their start: numbers are used again
};

// Series of a process: process/PID/cpu (per cent of one processor since the last sample),
// resident_bytes, threads, context_switches, minor_faults, major_faults, read_bytes, written_bytes
// (all since its start). Of the machine: host/0/cpu_pressure, memory_pressure, io_pressure (per
// cent of the last ten seconds in which somebody waited for it).
class ProcessSampler : public Sampler {
 public:
  explicit ProcessSampler(pid_t root) : tree_(root) {}
  void Read(std::vector<Sample>& samples) override;

 private:
  struct Moment {
    uint64_t cpu_ns = 0;
    uint64_t now_ns = 0;
  };
  void ReadCpu(pid_t pid, std::vector<Sample>& samples);

  ProcessTree tree_;
  std::map<pid_t, Moment> last_;
};

}  // namespace borescope::internal
