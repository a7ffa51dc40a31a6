// The document around the events of a Chrome trace of another profiler than PyTorch's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/ingest/events/event_parser.h"
#include "borescope/ingest/events/event_values.h"
#include "borescope/ingest/events/text_reader.h"
#include "borescope/ingest/load.h"
#include "borescope/trace/trace.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {

// ChromeRows: the events of a Chrome trace that another profiler than Kineto wrote, as they are
// in the file, with those arguments that its reader asks for. What they mean becomes clear only
// when all are known, since names of processes may come last; each reader then adds rows to the
// TracePart.

// Not thread-safe. Views of texts live as long as it.
class ChromeRows final : public EventSink {
 public:
  // A complete event (X) or the end of an arrow (s, f).
  struct Row {
    char phase = 'X';
    StringId name;
    StringId category;
    int64_t pid = 0;
    int64_t tid = 0;
    int64_t ts_ns = 0;
    int64_t dur_ns = 0;
    StringId id;  // of an arrow
    uint32_t first_arg = 0;
    uint32_t end_arg = 0;
  };
  // One value of a counter (C).
  struct Counter {
    int64_t pid = 0;
    int64_t ts_ns = 0;
    StringId name;
    StringId key;
    double value = 0;
  };

  // Of arguments those named `keys` are kept, whose places in the list are their numbers.
  explicit ChromeRows(std::span<const std::string_view> keys)
      : keys_(keys), values_(part_.data.diagnostics) {}

  void Add(const RawEvent& event) override;
  Diagnostics& diagnostics() override { return part_.data.diagnostics; }

  const std::vector<Row>& rows() const { return rows_; }
  const std::vector<Counter>& counters() const { return counters_; }
  std::string_view Text(StringId id) const { return part_.data.strings.Get(id); }
  // The text of an argument, whatever its type; empty where it is not recorded.
  std::string_view Arg(const Row& row, size_t key) const;
  std::optional<int64_t> Number(const Row& row, size_t key) const;

  // The processes that metadata name, in the order of their numbers.
  const std::map<int64_t, std::string>& processes() const { return process_names_; }
  std::string_view ThreadName(int64_t pid, int64_t tid) const;
  // A "pid" that is no number, as it is written; else empty.
  std::string_view PidText(int64_t pid) const;

  // Where the reader adds its rows; names are texts of it.
  TracePart& part() { return part_; }

 private:
  struct Argument {
    uint32_t key;
    StringId text;
  };

  StringId Intern(const RawEvent& event, Field field);
  int64_t Pid(const RawEvent& event);
  void AddRow(const RawEvent& event, char phase);
  void AddArguments(const RawEvent& event, Row& row);
  void AddCounter(const RawEvent& event);
  void AddMetadata(const RawEvent& event);

  const std::span<const std::string_view> keys_;
  TracePart part_;
  EventValues values_;  // counts into part_'s diagnostics
  StringPool texts_;    // of arguments and ids
  std::vector<Row> rows_;
  std::vector<Argument> arguments_;
  std::vector<Counter> counters_;
  std::map<int64_t, std::string> process_names_;
  std::map<std::pair<int64_t, int64_t>, std::string> thread_names_;
  std::map<int64_t, std::string> pid_texts_;
};

// Adds rows to a TracePart, with what all readers of Chrome traces leave unrecorded.
class ChromeTrace {
 public:
  explicit ChromeTrace(TracePart& part) : part_(part) {}

  // A row of the spine of host events. `detail` as in the table of its kind.
  void AddHost(HostKind kind, StringId name, TrackId track, int64_t ts_ns, int64_t dur_ns,
               uint32_t detail = kNoDetail);
  struct DeviceRow {
    DeviceKind kind = DeviceKind::kKernel;
    StringId name;
    TrackId track;
    int64_t ts_ns = 0;
    int64_t dur_ns = 0;
    int64_t correlation = kMissing;
    int64_t external_id = kMissing;
    uint32_t detail = kNoDetail;
  };
  void AddDevice(const DeviceRow& row);

  TrackId Thread(int64_t pid, int64_t tid, std::string_view name);
  TrackId Stream(int64_t device, int64_t stream, std::string_view name);

  // Rows of tables of details.
  uint32_t AddOperator(int64_t external_id);
  uint32_t AddCall(int64_t correlation);
  // 0 bytes: not recorded.
  uint32_t AddCopy(int64_t bytes);

  // A step of a training loop, under the name by which steps are found, around what its program
  // calls it.
  void AddStep(int64_t number, const ChromeRows::Row& row, TrackId track);

  TracePart& part() { return part_; }

 private:
  TracePart& part_;
};

// Reads all events into `rows`, then lets `understand` add what they mean to rows.part() and to the
// metadata.
Result<Trace> LoadChromeDocument(TextReader& reader, const std::string& name,
                                 const LoadOptions& options, ChromeRows& rows,
                                 const std::function<void(Meta& meta)>& understand);

}  // namespace borescope::internal
