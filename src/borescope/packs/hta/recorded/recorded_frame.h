// RecordedFrame: the events of a file as HolisticTraceAnalysis' parser turns them into a frame of
// pandas: every event with a category and a duration, the arguments of HtaArgs, times in whole
// microseconds where any has a fraction, the rows of host and device that belong together, and the
// step of each. Nothing is left out because of steps, and times are those of the file.
//
// It is made from the text of the file, because a Trace keeps neither categories nor the arguments
// that no other analysis needs.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/packs/hta/recorded/event_texts.h"
#include "borescope/packs/hta/recorded/number_kind.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// The members of an event that become columns.
enum class EventField : uint8_t { kCat, kName, kPid, kTid, kTs, kDur, kArgs, kCount };
inline constexpr size_t kEventFields = static_cast<size_t>(EventField::kCount);

// One event: the text of each member; empty where there is none.
using EventMembers = std::array<std::string_view, kEventFields>;

// The table without rows.
Table NewHtaEventTable();
// Of HTA's columns in their order: how pandas holds each.
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
  std::array<NumberKind, kEventFields> kinds_;  // over all events, whether they became rows or not
  std::array<int64_t, kEventFields> present_{};
  std::vector<EventField> order_;      // of first appearance
  std::vector<NumberKind> arg_kinds_;  // over the rows
  NumberKind iteration_kind_;
  struct Counter {
    NumberKind kind;
    std::vector<std::pair<size_t, double>> values;  // by row
  };
  std::map<std::string, Counter> counters_;
  std::vector<std::string_view> arg_values_;  // of the row at hand
  std::string scratch_;
};

}  // namespace borescope::internal
