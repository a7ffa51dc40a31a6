// Writes one rank's trace file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/model/scenario_pieces.h"
#include "tests/support/truth/scenario_truth.h"
#include "tests/support/writing/scenario_sink.h"

namespace borescope::scenario {

// Not thread-safe. REQUIRES: WriteHeader, WriteStep..., WriteTail, each once but WriteStep.
// Memory: one buffer of about a MiB, whatever the length of the file.
class TraceWriter {
 public:
  TraceWriter(const ScenarioConfig& config, const KernelCatalog& catalog, const RankInfo& info,
              Sink* sink);

  void WriteHeader();
  void WriteStep(const StepBatch& batch);
  void WriteTail(const TraceTail& tail);

  // Hands the rest to the sink. Returns false when any write failed; the sink stays open.
  [[nodiscard]] bool Finish();

  bool is_ok() const { return is_ok_; }
  int64_t bytes_written() const { return flushed_bytes_ + static_cast<int64_t>(text_.size()); }
  const std::vector<FaultHit>& hits() const { return hits_; }

 private:
  // scenario_writer.cc: the events of a step.
  void WriteHost(const HostEvent& event, Thread thread);
  void WritePythonArgs(const HostEvent& event);
  void WriteOpArgs(const StepBatch& batch, const HostEvent& event, Thread thread);
  void WriteCall(const RuntimeCall& call);
  void WriteCallArgs(const RuntimeCall& call);
  void WriteDevice(const StepBatch& batch, const DeviceEvent& event);
  void WriteSync(const SyncEvent& sync);
  void WriteDeviceAnnotation(const DeviceAnnotation& note);
  void WriteMemory(const MemoryEvent& event);
  void WriteActivities(const StepBatch& batch);
  void WriteCollective(const Collective& collective);

  // scenario_writer_frame.cc: what surrounds them.
  void WriteTopLevel();
  void WriteBaseTime();
  void WriteDeviceProperties();
  void WriteDistributedInfo();
  void WriteOptions();
  void WriteMember(std::string_view key, std::string_view json);
  void WriteMetadata();
  void WriteOverhead(const OverheadEvent& event);
  void WriteTraceSpan(const TraceTail& tail);
  void WriteMarkers(const TraceTail& tail);
  void WriteEnd();

  // Events: Begin, any number of Put, End.
  void BeginEvent();
  void EndEvent(Fault fault, std::string_view phase, std::string_view category,
                std::string_view name);
  void EndEvent() { EndEvent(Fault::kNone, {}, {}, {}); }
  void FlushIfFull();
  void Put(std::string_view text) { text_.append(text); }
  void PutInt(int64_t value);
  void PutTime(int64_t ns);
  void PutName(HostName name, int64_t number);
  void PutFlow(std::string_view head, int64_t id, const TextPieces::Row& row, int64_t ts_ns,
               std::string_view tail);
  void PutMember(Gap gap, std::string_view key, std::string_view json);
  void PutArg(Gap gap, std::string_view key, std::string_view json);

  const ScenarioConfig& config_;
  const KernelCatalog& catalog_;
  RankInfo info_;
  TextPieces pieces_;
  Sink* sink_;
  std::string text_;
  size_t event_begin_ = 0;
  int64_t events_ = 0;
  int64_t flushed_bytes_ = 0;
  bool has_member_ = false;
  bool is_ok_ = true;
  std::vector<FaultHit> hits_;
};

}  // namespace borescope::scenario
