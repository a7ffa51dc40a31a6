// RecordedFrame: the events of a file as HolisticTraceAnalysis' parser turns them into a frame of
// pandas. It has every event with a category and a duration, the arguments of HtaArgs, times in
// whole microseconds if any time of the file has a fraction, the rows of host and device that
// belong together, and the step of each row. No event is left out because of its step, and times
// are those of the file.
//
// It is made from the text of the file, because a Trace keeps neither categories nor the arguments
// that no other analysis needs.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/result.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// Numbers of JSON as Python reads them, and the type that pandas gives a column of them.

enum class LooseType : uint8_t { kNull, kInt, kFloat, kOther };

// The text of one value. kInt: `integer`, and `number` as the nearest double. kFloat: `number`.
// Whole numbers of more than 64 bits, texts, lists and flags are kOther.
struct LooseNumber {
  LooseType type = LooseType::kNull;
  int64_t integer = 0;
  double number = 0;
};
LooseNumber ReadLooseNumber(std::string_view value);

// The types of the values that a column was seen to have.
class NumberKind {
 public:
  void See(LooseType type) { seen_ |= 1U << static_cast<unsigned>(type); }
  bool Has(LooseType type) const { return ((seen_ >> static_cast<unsigned>(type)) & 1) != 0; }
  // The type in pandas: "int", "float" (also if a value is missing), or "object".
  std::string_view name() const;
  bool is_int() const { return name() == "int"; }
  bool is_float() const { return name() == "float"; }

 private:
  unsigned seen_ = 0;  // a bit for each LooseType
};

// EventTexts: the recorded text of a list of events, one event after another.

// Reads the bytes [begin, end) of what `source` yields, which are the inside of a JSON array. Holds
// about a piece of them and the longest event in memory. Not thread-safe.
class EventTexts {
 public:
  // `source` outlives this.
  EventTexts(ByteSource& source, uint64_t begin, uint64_t end)
      : source_(source), begin_(begin), end_(end) {}

  // The next object of the list, from brace to brace; empty after the last one, and if the text
  // ends within one. The view is valid until the next call.
  Result<std::string_view> Next();

 private:
  Result<bool> Fill();
  bool SkipToObject();
  size_t FindEnd() const;

  ByteSource& source_;
  uint64_t begin_;
  uint64_t end_;
  uint64_t read_ = 0;   // bytes of the source so far
  std::string buffer_;  // bytes of [begin, end) that were read and not returned yet
  size_t at_ = 0;       // in the buffer
};

// The members of an event that become columns.
enum class EventField : uint8_t { kCat, kName, kPid, kTid, kTs, kDur, kArgs, kCount };
inline constexpr size_t kEventFields = static_cast<size_t>(EventField::kCount);

// One event: the text of each member; empty if it is missing.
using EventMembers = std::array<std::string_view, kEventFields>;

// The table without rows.
Table NewHtaEventTable();
// One row for each column of HTA's frame, in its order: the type in pandas.
Table NewHtaColumnTable();

class RecordedFrame {
 public:
  explicit RecordedFrame(int64_t rank) : rank_(rank), events_(NewHtaEventTable()) {}

  // Reads all events, then completes the rows. REQUIRES: called once.
  Result<void> Read(EventTexts& texts);

  // What was read.
  Table TakeEvents() { return std::move(events_); }
  Table ColumnTable() const;

 private:
  void Add(std::string_view text);
  void NoteFields(const EventMembers& members, const std::vector<EventField>& order);
  void AddRow(const EventMembers& members, const LooseNumber& ts, const LooseNumber& dur);
  static void AddId(Column& column, std::string_view value, std::string& others);
  void AddArgs(std::string_view args, bool has_counters, std::string& others);
  void AddArg(size_t arg, std::string_view value, std::string& others);
  void AddCounter(std::string_view key, std::string_view value, std::string& others);
  void ReadMembers(std::string_view text, EventMembers& members, std::vector<EventField>& order);
  void RoundTimes();
  void FillCounters();
  std::string_view TypeOf(EventField field) const { return kinds_[Number(field)].name(); }
  static size_t Number(EventField field) { return static_cast<size_t>(field); }
  bool rounds() const { return kinds_[Number(EventField::kTs)].is_float(); }

  int64_t rank_;
  Table events_;
  int64_t next_index_ = 0;
  std::array<NumberKind, kEventFields> kinds_;  // over all events, including those without a row
  std::array<int64_t, kEventFields> present_{};
  std::vector<EventField> order_;      // of first appearance
  std::vector<NumberKind> arg_kinds_;  // over the rows
  NumberKind iteration_kind_;
  struct Counter {
    NumberKind kind;
    std::vector<std::pair<size_t, double>> values;  // by row
  };
  std::map<std::string, Counter> counters_;
  std::vector<std::string_view> arg_values_;  // of the current row
  std::string scratch_;
};

// What HolisticTraceAnalysis adds to the frame of a file: which rows belong together, and the step
// of each row. Pure functions over the table of RecordedFrame.

// Per row: whether HTA takes it for a row of the device.
std::vector<char> FindDeviceRows(const Table& events);

// Whether this is the name of a step: "ProfilerStep#12".
bool IsHtaStepName(std::string_view name);

// Fills in index_correlation. Of several partners the last one counts.
void LinkCorrelations(Table& events);

// Fills in iteration: host rows by time, device rows by their partner. Returns the type of the
// numbers. Rows to which HTA gives no step have none.
NumberKind FillIterations(Table& events);

// The arguments of events that HolisticTraceAnalysis keeps by default, in the order of the columns
// of its frames.

enum class HtaArgType : uint8_t {
  kInt,
  kFloat,
  kValue,  // anything, as JSON text
};

struct HtaArg {
  std::string_view column;
  std::string_view key;  // in "args"
  HtaArgType type = HtaArgType::kInt;
  int64_t default_number = -1;          // for events without it
  std::string_view default_value = {};  // kValue: likewise
  std::string_view doc;
};

std::span<const HtaArg> HtaArgs();

}  // namespace borescope::internal
