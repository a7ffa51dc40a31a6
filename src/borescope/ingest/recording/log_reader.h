// Reads one log into the trace of its recording.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/ingest/recording/log_chunks.h"
#include "borescope/ingest/recording/log_names.h"
#include "borescope/ingest/recording/thread_records.h"

namespace borescope::internal {

// Records of devices and of memory, samples, and the gaps that a log reports.

class DeviceRecords {
 public:
  DeviceRecords(RecordingTrace& trace, const LogProcess& process, LogNames& names);

  // A record that is long enough for its type; false if it is none of a device.
  bool Add(const LogRecord& record);
  // Adds the runs of graphs, which are known to be work once their kernels are, and counters of
  // kernels that have no record.
  void Finish();

 private:
  struct GraphRun {
    uint32_t correlation, device, stream, graph;
    RecordTime time;
  };
  // What all work has.
  struct Work {
    StringId category;
    DeviceKind kind;
    StringId name;
    uint64_t start, end;
    int64_t device, stream;
    uint32_t correlation;
  };

  recording::KernelBody KernelOf(const LogRecord& record) const;
  void AddShape(uint32_t row, const recording::KernelBody& body);
  void AddKernel(const LogRecord& record);
  void AddCopy(const LogRecord& record);
  void AddSet(const LogRecord& record);
  void AddSync(const LogRecord& record);
  void AddMemory(const LogRecord& record);
  void AddGraphRun(const LogRecord& record);
  void AddOverhead(const LogRecord& record);
  void AddCounters(const CountedLaunch& launch, const Work& kernel);
  void AddSample(const LogRecord& record);

  bool AddWork(const Work& work, uint32_t detail);
  void AddRow(DeviceKind kind, RecordTime time, StringId name, int64_t device, int64_t stream,
              uint32_t correlation, uint32_t detail);
  int32_t Small(uint64_t value);

  RecordingTrace& trace_;
  const LogProcess& process_;
  LogNames& names_;
  StringId kernel_, copy_, set_, sync_, memory_, graph_, overhead_, counters_;
  HashSet<uint32_t> graph_launches_;  // correlations of kernels of graphs
  std::vector<GraphRun> graph_runs_;
  HashSet<uint32_t> counted_;  // correlations of kernels whose counters have a row
};

// Of a ring, which says up to when chunks that their writers left may be overwritten: the end of
// that time. 0: none are.
uint64_t OverwrittenUntil(const LogSource& source, std::span<const LogChunk> chunks);

class LogReader {
 public:
  LogReader(RecordingTrace& trace, const LogSource& source, const recording::LogHeader& header,
            LogProcess process);

  // `read`: called with the bytes of events read so far.
  void Read(const std::function<void(uint64_t)>& read);
  // The same of some of its chunks, where `names` are records of names that other chunks hold.
  void ReadChunks(std::vector<LogChunk> chunks, std::span<const uint64_t> names,
                  const std::function<void(uint64_t)>& read);

  const LogNames& names() const { return names_; }

 private:
  void LeaveOutOverwritten();
  void ReadAll(std::span<const uint64_t> names, const std::function<void(uint64_t)>& read);
  void AddNames(std::span<const uint64_t> words);
  void ReadNames();
  void ReadEvents(const LogChunk& chunk);
  void AddEvent(const LogRecord& record);
  void AddState(const LogRecord& record);
  void AddDropped(const LogRecord& record);
  bool IsUsable(const LogRecord& record);

  RecordingTrace& trace_;
  const LogSource& source_;
  const recording::LogHeader& header_;
  const LogProcess process_;
  const bool is_ring_;
  LogNames names_;
  ThreadRecords threads_;
  DeviceRecords devices_;
  ChunkBuffer buffer_;
  std::vector<LogChunk> chunks_;
};

}  // namespace borescope::internal
