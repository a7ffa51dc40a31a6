// Records of threads, which become events of the host: ranges, marks, frames of Python, operators
// and calls.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/ingest/recording/log_names.h"
#include "borescope/ingest/recording/recording_trace.h"

namespace borescope::internal {

class ThreadRecords {
 public:
  ThreadRecords(RecordingTrace& trace, const LogProcess& process, LogNames& names);

  // The records that follow are of this thread.
  void BeginChunk(uint32_t tid);
  // A record that is long enough for its type; false if it is none of a thread.
  bool Add(const LogRecord& record);
  // Ends what is open with the last record of the process.
  void Finish();

 private:
  struct Thread {
    uint32_t tid = 0;
    TrackId track;
    HashMap<uint32_t, std::vector<uint32_t>> open;      // host rows, by domain
    std::vector<std::pair<uint32_t, uint32_t>> frames;  // code and host row
  };
  struct RangeEnd {
    uint64_t id;
    int64_t ns;
  };

  void Push(const LogRecord& record);
  void Pop(const LogRecord& record);
  bool IsCopied() const;
  // The end of something of which no begin is known: `in_parent`, as the parent began it.
  void EndsUnknown(StringId category, bool in_parent);
  void Mark(const LogRecord& record);
  void StartRange(const LogRecord& record);
  void EndRange(const LogRecord& record);
  void EnterFrame(const LogRecord& record);
  void LeaveFrame(const LogRecord& record);
  void AddOperator(const LogRecord& record);
  uint32_t AddOperatorDetail(const LogRecord& record, size_t inputs);
  void AddCall(const LogRecord& record);

  TrackId Track();
  uint32_t AddRange(const LogRecord& record, size_t text_word, TrackId track);
  TorchOperators::Around Around(uint32_t domain) const;
  uint32_t AddXlaRange(const XlaText& xla, const LogRecord& record, TrackId track);
  uint32_t AddTorchRange(const OperatorText& op, const LogRecord& record, TrackId track);
  StringId InDomain(StringId name, uint32_t domain);
  uint32_t AddHost(RecordTime time, StringId name, HostKind kind, TrackId track, uint32_t detail);
  void End(uint32_t row, int64_t end_ns, StringId category);
  void EndOpen(uint32_t row, StringId category);
  void EndRanges();

  RecordingTrace& trace_;
  TorchOperators torch_;
  const LogProcess& process_;
  LogNames& names_;
  StringId range_, mark_, async_, python_, operator_, call_;
  HashMap<uint32_t, Thread> threads_;
  Thread* thread_ = nullptr;
  HashMap<uint64_t, uint32_t> ranges_;  // host rows of those that are open, by their id
  std::vector<RangeEnd> ends_;
  HashMap<uint32_t, uint32_t>
      scopes_;  // of open operations of XLA: the row of the scope around one
};

}  // namespace borescope::internal
