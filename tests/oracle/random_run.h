// Small random runs of one rank as plain lists, for twins that answer a question straight from what
// was planted: few streams and threads, times that collide, launches without work and work without
// launches, graphs, work before its launch, work beside work on one stream.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "borescope/trace/trace.h"
#include "tests/oracle/random.h"

namespace borescope::internal::testkit {

struct Time {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t length() const { return end - begin; }
  bool Covers(Time inner) const { return begin <= inner.begin && inner.end <= end; }
};

// An operator, an annotation or a Python frame.
struct RunFrame {
  HostKind kind = HostKind::kOp;
  std::string name;
  int64_t thread = 0;
  Time time;
};

struct RunCall {
  std::string name;
  int64_t thread = 0;
  Time time;
  int64_t correlation = 0;
};

inline constexpr int kNoCall = -1;

struct RunWork {
  DeviceKind kind = DeviceKind::kKernel;
  std::string name;
  int64_t gpu = 0;
  int64_t stream = 0;
  Time time;
  int call = kNoCall;        // index into calls
  int64_t bytes = kMissing;  // of copies
  bool has_number = true;    // without a call: one that no call has
};

struct RunNote {
  std::string name;
  int64_t gpu = 0;
  int64_t stream = 0;
  Time time;
};

// Each list in the order in which it is recorded.
struct RandomRun {
  std::vector<RunFrame> frames;
  std::vector<RunCall> calls;
  std::vector<RunWork> work;
  std::vector<RunNote> notes;  // device annotations

  Time all() const;  // from the first begin to the last end
};

// Every time lies in [0, kRunEnd].
inline constexpr int64_t kRunEnd = 80;

// The annotations that windows are taken from: steps 1 to 3, and instances of this one.
inline constexpr const char* kWindowName = "window";

RandomRun MakeRandomRun(Random& random);

Trace TraceOf(const RandomRun& run);

// --- what twins share ---

// What a question selects. The streams and the windows, which are host time, each moment a flag.
struct RunSelection {
  std::vector<char> inside;   // per ns: time that is measured
  bool all_time = true;       // then everything is counted, also at the very end
  int64_t stream = kMissing;  // the only one; kMissing: all

  bool Keeps(const RunWork& work) const { return stream == kMissing || work.stream == stream; }
  bool KeepsTime(int64_t ns) const { return all_time || inside[static_cast<size_t>(ns)] != 0; }
};

// When work was asked for: the begin of its launch, else its own.
int64_t RequestTime(const RandomRun& run, const RunWork& work);

// Indices of the work of each call that has some, by begin; of equal ones in order of device,
// stream and recording.
std::map<int, std::vector<size_t>> WorkOfCalls(const RandomRun& run);

// Of the frames around the call on its thread the innermost that `fits`; nullptr: none. Innermost
// is what begins last; of those what ends first; of those the inner kind, then the later one.
const RunFrame* Innermost(const RandomRun& run, const RunCall& call,
                          const std::function<bool(const RunFrame&)>& fits);

bool IsCompute(const RunWork& work);
bool IsCommunication(const RunWork& work);

}  // namespace borescope::internal::testkit
