// The planned events of one step of one rank: what the job model produces, the faults change, the
// truth counts and the writer writes. Times are integer nanoseconds on the trace's own time line.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tests/support/model/scenario_catalog.h"
#include "tests/support/scenario_config.h"

namespace borescope::scenario {

enum class Thread : uint8_t { kMain, kBackward };
inline constexpr int kThreads = 2;

enum class Stream : uint8_t { kCompute, kComm, kCopy };
inline constexpr int kStreams = 3;

// An op, an annotation or a Python frame. Parents come before their children.
struct HostEvent {
  int64_t ts_ns = 0;
  int64_t dur_ns = 0;
  int64_t external_id = 0;  // ops and annotations
  int64_t record_id = 0;
  int64_t event_index = 0;
  int64_t sequence = -1;  // autograd's number, -1 = none
  int64_t flow_id = 0;    // arrow from forward to backward, 0 = none
  int64_t python_id = 0;
  int64_t python_parent = 0;
  int64_t number = -1;     // appended to the name: "ProfilerStep#" + 7
  int32_t parent_op = -1;  // nearest enclosing op, an index into the same thread's events
  int32_t collective = -1;
  HostName name{};
  HostKind kind = HostKind::kOp;
  bool is_leaf = true;  // nothing was recorded inside
  Fault fault = Fault::kNone;
};

struct RuntimeCall {
  int64_t ts_ns = 0;
  int64_t dur_ns = 0;
  int64_t correlation = 0;
  int64_t external_id = 0;  // 0 = not written
  int64_t bytes = 0;
  int32_t op = -1;  // nearest enclosing op on its thread
  int32_t device_begin = 0;
  int32_t device_count = 0;
  int32_t sync = -1;
  Api api{};
  Kernel kernel{};  // what it launches; AMD writes that on the host side too
  Thread thread = Thread::kMain;
  Stream stream = Stream::kCompute;
  bool is_dropped = false;
  bool is_pinned = false;  // another event's fault relies on this one staying as it is
  Fault fault = Fault::kNone;
};

// A kernel, a copy or a memset.
struct DeviceEvent {
  int64_t ts_ns = 0;
  int64_t dur_ns = 0;
  int64_t correlation = 0;
  int64_t external_id = 0;  // 0 = not written
  int64_t bytes = 0;
  double bandwidth_gbps = 0;
  int32_t call = -1;
  int32_t collective = -1;
  Kernel kernel{};
  Stream stream = Stream::kCompute;
  bool is_dropped = false;
  bool is_pinned = false;
  Fault fault = Fault::kNone;
};

enum class SyncKind : uint8_t { kStreamSync, kContextSync, kEventSync, kStreamWaitEvent };

struct SyncEvent {
  int64_t ts_ns = 0;
  int64_t dur_ns = 0;
  int64_t correlation = 0;
  int64_t external_id = 0;
  int64_t record_correlation = -1;  // of the cudaEventRecord waited for
  int64_t event_id = 0;
  SyncKind kind = SyncKind::kStreamSync;
  Stream stream = Stream::kCompute;
  Stream wait_on = Stream::kCompute;
};

// The device's copy of a host annotation.
struct DeviceAnnotation {
  int64_t ts_ns = 0;
  int64_t dur_ns = 0;
  int64_t external_id = 0;
  int64_t number = -1;
  HostName name{};
  Stream stream = Stream::kCompute;
};

struct MemoryEvent {
  int64_t ts_ns = 0;
  int64_t event_index = 0;
  int64_t address = 0;
  int64_t bytes = 0;  // negative = freed
  int64_t allocated = 0;
  int64_t reserved = 0;
  Thread thread = Thread::kMain;
  bool on_device = true;
};

// One all-reduce, equal on every rank.
struct Collective {
  int64_t elements = 0;
  int64_t sequence = 0;
};

struct OverheadEvent {
  int64_t ts_ns = 0;
  int64_t dur_ns = 0;
};

// What a piece of the critical path is spent on.
enum class PathBound : uint8_t {
  kCpu,
  kDataLoad,
  kLaunch,
  kKernelKernelDelay,
  kGpuCompute,
  kGpuCommunication,
  kGpuMemoryCopy
};

// Where a piece of the critical path ends: at the begin or the end of an event.
struct PathMark {
  enum class Of : uint8_t { kMainThread, kCalls, kDevice };

  PathBound bound = PathBound::kCpu;  // of the piece since the mark before
  Of of = Of::kMainThread;
  int32_t index = 0;
  bool is_end = false;
};

struct StepBatch {
  int64_t step = 0;
  int32_t step_event = 0;  // the ProfilerStep annotation in host[kMain]
  std::array<std::vector<HostEvent>, kThreads> host;
  std::vector<RuntimeCall> calls;
  std::vector<DeviceEvent> device;
  std::vector<SyncEvent> syncs;
  std::vector<DeviceAnnotation> annotations;
  std::vector<MemoryEvent> memory;
  std::vector<Collective> collectives;
  std::vector<OverheadEvent> overheads;
  std::vector<PathMark> path;  // from the begin of the step to its end; empty: not known

  void Clear();
};

// What is written once, after the last step.
struct TraceTail {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  std::vector<HostEvent> root_frames;  // outermost Python frames, around all steps
  bool is_truncated = false;
};

}  // namespace borescope::scenario
