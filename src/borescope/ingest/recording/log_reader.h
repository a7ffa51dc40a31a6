// Reads one log into the trace of its recording.
#pragma once

#include <functional>

#include "borescope/ingest/recording/device_records.h"
#include "borescope/ingest/recording/log_chunks.h"
#include "borescope/ingest/recording/log_names.h"
#include "borescope/ingest/recording/thread_records.h"

namespace borescope::internal {

class LogReader {
 public:
  LogReader(RecordingTrace& trace, const LogSource& source, const recording::LogHeader& header,
            LogProcess process);

  // `read`: called with the bytes of events read so far.
  void Read(const std::function<void(uint64_t)>& read);

  const LogNames& names() const { return names_; }

 private:
  void LeaveOutOverwritten();
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
