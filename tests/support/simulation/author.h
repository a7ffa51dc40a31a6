// Writes a program down, instruction by instruction. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/simulation/program.h"

namespace borescope::simulation {

// A piece of device work that a call starts.
struct WorkSpec {
  std::string_view name;
  WorkClass work_class = WorkClass::kPointwise;
  int64_t ns = 0;
  int64_t bytes = 0;
  WorkKind kind = WorkKind::kKernel;
  int32_t collective = -1;
};

class Author {
 public:
  explicit Author(Program* program) : program_(program) {}

  int32_t AddThread(std::string_view name, bool is_recorded = true);
  int32_t AddStream(int64_t id, std::string_view name);
  int32_t AddPartition(Partition partition);
  int32_t AddCollective(std::string_view name, int32_t partition, int64_t bytes);
  int32_t AddBroadcast(int32_t partition, int64_t bytes);
  int32_t NewEvent() { return program_->events++; }

  // What follows is done by this thread, on this stream, as part of this phase.
  void OnThread(int32_t thread) { thread_ = thread; }
  void OnStream(int32_t stream) { stream_ = stream; }
  void In(Phase phase) { phase_ = phase; }
  // What follows is done in only one of the programs (see When).
  void Only(When when) { when_ = when; }
  // The launch that was written last goes to this stream when collectives overlap.
  void MoveToWhenOverlapped(int32_t stream);

  // Numbers start again for each step.
  void BeginStep();
  void EndStep();

  void OpenOp(std::string_view name, int64_t rows = 0);
  // The operator in which PyTorch describes a collective.
  void OpenComms(int32_t collective);
  void OpenNote(std::string_view name) { Open(name, FrameKind::kAnnotation); }
  void OpenData(std::string_view name);
  void Close(int32_t frames = 1);

  void Compute(int64_t ns) { Add(Action::kCompute).ns = ns; }
  void LoadData(int64_t ns);
  // Host time at which a pause would happen.
  void ComputeWithPause(int64_t ns);

  void Launch(std::string_view call, int64_t call_ns, const WorkSpec& spec, bool waits = false);
  void LaunchGraph(std::string_view call, int64_t call_ns, const std::vector<WorkSpec>& specs);
  void WaitStream(std::string_view call, int64_t call_ns);
  void WaitDevice(std::string_view call, int64_t call_ns);
  void WaitEvent(std::string_view call, int64_t call_ns, int32_t event);
  int32_t Record(int64_t call_ns);  // returns the event
  void StreamWait(int64_t call_ns, int32_t event);
  void Signal(int32_t event) { Add(Action::kSignal).event = event; }
  void Await(int32_t event) { Add(Action::kAwait).event = event; }

 private:
  Instruction& Add(Action action);
  Instruction& AddCall(Action action, std::string_view call, int64_t call_ns);
  void Open(std::string_view name, FrameKind frame);
  int32_t Intern(std::string_view name);
  void AddWork(const WorkSpec& spec, int32_t item);

  Program* program_;
  std::map<std::string, int32_t, std::less<>> ids_;
  std::vector<int32_t> items_;  // of each thread, in this step
  int32_t thread_ = 0;
  int32_t stream_ = 0;
  int32_t step_ = 0;
  Phase phase_ = Phase::kForward;
  When when_ = When::kAlways;
};

}  // namespace borescope::simulation
