// How long a device was busy, with what: unions of intervals over a time line that is closed piece
// by piece, so that a trace of any length needs the memory of one step.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace borescope::scenario {

enum class Work : uint8_t { kCompute, kComm, kCopy };

struct BusyTotals {
  int64_t busy_ns = 0;          // any work
  int64_t compute_ns = 0;       // compute
  int64_t exposed_comm_ns = 0;  // communication without compute
  int64_t exposed_copy_ns = 0;  // copies without compute and communication
  int64_t comm_ns = 0;          // communication, whatever runs beside it

  BusyTotals& operator+=(const BusyTotals& other);
};

class BusySweep {
 public:
  void Add(Work work, int64_t begin_ns, int64_t end_ns) {
    if (end_ns > begin_ns) pending_.push_back({begin_ns, end_ns, work});
  }

  // Closes the time up to `horizon_ns` and returns what was busy since the last call.
  // REQUIRES: no interval added later begins before the horizon. Exact all the same, because what
  // crosses the horizon is cut there: lengths of unions add up over disjoint pieces of time.
  BusyTotals Advance(int64_t horizon_ns);

  // Closes everything.
  BusyTotals Finish() { return Advance(INT64_MAX); }

 private:
  struct Interval {
    int64_t begin_ns;
    int64_t end_ns;
    Work work;
  };

  std::vector<Interval> pending_;
  std::vector<Interval> closed_;
};

}  // namespace borescope::scenario
