// Records of devices and of memory, samples, and the gaps that a log reports.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/ingest/recording/log_names.h"

namespace borescope::internal {

class DeviceRecords {
 public:
  DeviceRecords(RecordingTrace& trace, const LogProcess& process, LogNames& names);

  // A record that is long enough for its type; false if it is none of a device.
  bool Add(const LogRecord& record);
  // Adds the runs of graphs, which are known to be work once their kernels are.
  void Finish();

 private:
  struct GraphRun {
    uint32_t correlation, device, stream, graph;
    EventTime time;
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
  void AddSample(const LogRecord& record);

  bool AddWork(const Work& work, uint32_t detail);
  void AddRow(DeviceKind kind, EventTime time, StringId name, int64_t device, int64_t stream,
              uint32_t correlation, uint32_t detail);
  int32_t Small(uint64_t value);

  RecordingTrace& trace_;
  const LogProcess& process_;
  LogNames& names_;
  StringId kernel_, copy_, set_, sync_, memory_, graph_, overhead_;
  HashSet<uint32_t> graph_launches_;  // correlations of kernels of graphs
  std::vector<GraphRun> graph_runs_;
};

}  // namespace borescope::internal
