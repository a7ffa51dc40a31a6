// Records what one rank does: two host threads whose events nest, and device streams that run
// their work in order. The job model (scenario_model.h) says what happens, the recorder keeps time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tests/support/model/scenario_batch.h"
#include "tests/support/model/scenario_random.h"

namespace borescope::scenario {

// The Python frame around all steps; its parent, the module's frame, is number one.
inline constexpr int64_t kModuleFrameId = 1;
inline constexpr int64_t kMainFrameId = 2;

// A point on a stream that other streams can wait for.
struct StreamMark {
  int64_t ready_ns = 0;
  int64_t correlation = 0;  // of the call that recorded it
  Stream stream = Stream::kCompute;
};

// Where the other ranks decide when a device event runs.
struct PendingCollective {
  int32_t device_event = 0;
  int64_t earliest_ns = 0;  // launch, order in the stream and waits allow it from here on
};

// Not thread-safe. REQUIRES: Begin and End are paired per thread; use Scope.
class Recorder {
 public:
  Recorder(const ScenarioConfig& config, const KernelCatalog& catalog, int rank, int64_t begin_ns);

  void StartStep(StepBatch* batch) { batch_ = batch; }

  // Continues on the other thread, whose clock is first moved to at least `not_before_ns`.
  void SwitchThread(Thread thread, int64_t not_before_ns);
  int64_t now() const { return clock().now_ns; }
  void Idle(int64_t ns) { clock().now_ns += ns; }

  // Opens and closes a host event on the current thread.
  HostEvent& Begin(HostName name);
  void End();

  // A runtime call that starts no device work. Returns its index in the batch.
  int32_t Call(Api api, int64_t dur_ns);
  void Launch(Kernel kernel, Stream stream = Stream::kCompute);
  // A kernel that takes exactly so long.
  void LaunchFor(int64_t dur_ns, Kernel kernel, Stream stream = Stream::kCompute);
  void Copy(Kernel kernel, Stream stream, int64_t bytes);
  void LaunchGraph(const std::vector<Kernel>& kernels);
  void LaunchCollective(int32_t collective);

  StreamMark Record(Stream stream);
  void WaitOnDevice(Stream stream, const StreamMark& mark);
  void WaitOnHost(const StreamMark& mark);
  void SynchronizeStream(Stream stream);
  void SynchronizeDevice();

  void Allocate(int64_t bytes, bool on_device = true);
  void Free();  // the newest allocation
  void FreeAll();

  std::vector<PendingCollective>& pending() { return pending_; }
  // Sets when a pending collective ran. REQUIRES: in launch order.
  void Resolve(const PendingCollective& pending, int64_t start_ns, int64_t end_ns);
  int64_t StreamFree(Stream stream) const { return streams_[Index(stream)].free_ns; }
  StreamMark LastMark(Stream stream) const;

  Random& random() { return random_; }
  int64_t NextPythonId() { return next_python_id_++; }
  int64_t NextSequence() { return sequence_++; }
  int64_t sequence() const { return sequence_; }
  int64_t NextFlow() { return next_flow_++; }

 private:
  struct HostClock {
    int64_t now_ns = 0;
    bool after_begin = false;  // nothing happened since the innermost event began
    std::vector<int32_t> open;
    int32_t open_op = -1;
    int64_t open_python = 0;
  };
  struct StreamState {
    int64_t free_ns = 0;      // the next work may start
    int64_t last_end_ns = 0;  // the last work ended
    int64_t wait_ns = 0;      // waited events are ready
    int64_t mark_correlation = 0;
  };
  struct LiveBlock {
    int64_t address = 0;
    int64_t bytes = 0;
    bool on_device = true;
  };

  template <class E>
  static constexpr size_t Index(E e) {
    return static_cast<size_t>(e);
  }
  HostClock& clock() { return clocks_[Index(thread_)]; }
  const HostClock& clock() const { return clocks_[Index(thread_)]; }
  std::vector<HostEvent>& events() { return batch_->host[Index(thread_)]; }

  void Lead();
  void Trail();
  void FillIds(HostEvent* event);
  void AddDeviceEvent(int32_t call, Kernel kernel, Stream stream, int64_t dur_ns);
  int64_t EarliestStart(int32_t call, Stream stream);
  SyncEvent* AddSync(int32_t call, SyncKind kind, Stream stream);
  void AddMemory(const LiveBlock& block, int64_t bytes);

  const ScenarioConfig& config_;
  const KernelCatalog& catalog_;
  StepBatch* batch_ = nullptr;
  Random random_;
  int64_t min_gap_ns_;
  int64_t kernel_percent_;
  Thread thread_ = Thread::kMain;
  std::array<HostClock, kThreads> clocks_;
  std::array<StreamState, kStreams> streams_;
  std::vector<PendingCollective> pending_;
  std::vector<LiveBlock> live_;
  int64_t next_external_id_ = 1;
  int64_t next_record_id_ = 1;
  int64_t next_correlation_;
  int64_t next_python_id_ = kMainFrameId + 1;
  int64_t next_flow_ = 1;
  int64_t sequence_ = 40;
  int64_t next_address_ = 139637976727552;
  int64_t next_event_id_ = 1;
  int64_t allocated_bytes_ = 2147483648;
};

// Opens a host event for as long as it lives.
class Scope {
 public:
  Scope(Recorder* recorder, HostName name) : recorder_(recorder), event_(&recorder->Begin(name)) {}
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope() {
    if (recorder_ != nullptr) recorder_->End();
  }

  // An op autograd knows; both ends of the arrow from forward to backward carry `sequence`.
  Scope& Sequence(int64_t sequence, int64_t flow = 0) {
    event_->sequence = sequence;
    event_->flow_id = flow;
    return *this;
  }
  Scope& Number(int64_t number) {
    event_->number = number;
    return *this;
  }

 protected:
  Scope() = default;
  Recorder* recorder_ = nullptr;
  // REQUIRES: set before children are opened, which may move the event.
  HostEvent* event_ = nullptr;
};

// A Python frame: only there when stacks are recorded.
class PyScope : public Scope {
 public:
  PyScope(Recorder* recorder, bool enabled, HostName name, int64_t number = -1) {
    if (!enabled) return;
    recorder_ = recorder;
    event_ = &recorder->Begin(name);
    event_->number = number;
  }
};

}  // namespace borescope::scenario
