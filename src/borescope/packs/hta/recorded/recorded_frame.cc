#include "borescope/packs/hta/recorded/recorded_frame.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/row.h"
#include "borescope/json/json_cursor.h"
#include "borescope/json/json_string.h"
#include "borescope/packs/hta/recorded/event_args.h"
#include "borescope/packs/hta/recorded/frame_links.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kFieldNames[kEventFields] = {"cat", "name", "pid", "tid",
                                                        "ts",  "dur",  "args"};
constexpr double kMostUs = 9e15;  // doubles are exact up to there
constexpr std::string_view kCounterCategory = "\"cuda_profiler_range\"";

// Adds a member to the text of a JSON object, which is empty at first.
void AddMember(std::string_view name, std::string_view value, std::string& object) {
  object += object.empty() ? "{\"" : ", \"";
  object.append(name).append("\": ").append(value);
}

// pandas.to_numeric, where what is no number becomes -1.
int64_t StreamNumber(std::string_view value) {
  const LooseNumber number = ReadLooseNumber(IsString(value) ? StringContent(value) : value);
  if (number.type == LooseType::kInt) {
    return number.integer;
  }
  const bool fits = number.type == LooseType::kFloat && std::abs(number.number) < 9e18;
  return fits ? static_cast<int64_t>(number.number) : -1;
}

void AddTimes(Table& table) {
  const auto us = [&](std::string_view name, std::string_view doc) {
    AddFloat(table, name, Unit::kMicroseconds, Role::kDerived, doc);
  };
  us("ts_us", "Start, from the first start of all ranks; with --as-parsed as recorded.");
  us("dur_us", "Duration; below 0 where rounding left nothing.");
  us("end_us", "End as recorded: HTA does not align it.");
}

void AddArgColumns(Table& table) {
  for (const HtaArg& arg : HtaArgs()) {
    if (arg.type == HtaArgType::kValue) {
      AddString(table, arg.column, Role::kDerived, arg.doc);
    } else if (arg.type == HtaArgType::kFloat) {
      AddFloat(table, arg.column, Unit::kGigabytesPerSecond, Role::kDerived, arg.doc);
    } else {
      AddInt(table, arg.column, Unit::kNone, Role::kDerived, arg.doc);
    }
  }
}

// Smallest and largest number of a column; nothing if there is none.
struct Range {
  std::optional<int64_t> least;
  std::optional<int64_t> most;
};

Range RangeOf(const Column& column) {
  Range range;
  for (size_t row = 0; row < column.size(); ++row) {
    const auto* ints = std::get_if<IntValues>(&column.values);
    const int64_t value =
        ints != nullptr ? (*ints)[row] : std::llround(std::get<FloatValues>(column.values)[row]);
    if (!column.IsMissing(row)) {
      range.least = std::min(range.least.value_or(value), value);
      range.most = std::max(range.most.value_or(value), value);
    }
  }
  return range;
}

}  // namespace

Table NewHtaEventTable() {
  Table table{"events", "Events (as HolisticTraceAnalysis)", {}};
  AddRankKey(table);
  AddInt(table, "index", Unit::kNone, Role::kDerived, "Position in traceEvents, from 0.");
  AddString(table, "cat", Role::kDerived, "Category.");
  AddString(table, "name", Role::kDerived, "Name.");
  AddInt(table, "pid", Unit::kNone, Role::kDerived, "Process, or device.");
  AddInt(table, "tid", Unit::kNone, Role::kDerived, "Thread, or stream.");
  AddTimes(table);
  AddArgColumns(table);
  AddInt(table, "index_correlation", Unit::kNone, Role::kDerived,
         "Index of the call, or of the work, of the same correlation number; 0 where there is no "
         "such event, -1 without a number.");
  AddInt(table, "iteration", Unit::kNone, Role::kDerived,
         "Step; -1 for none, missing on stream 0 of devices.");
  AddString(table, "other_values", Role::kDerived,
            "Values that do not fit the type of their column, as a JSON object by column.");
  table.preview_rows = 20;
  return table;
}

Table NewHtaColumnTable() {
  Table table{"event_columns", "Columns of HTA's frames", {}};
  AddRankKey(table);
  AddString(table, "column", Role::kDerived, "Name of the column in HTA's frame, in its order.");
  AddString(table, "type", Role::kDerived,
            "How pandas holds it: int, float or object; symbol: a number of its table of names; "
            "sum: ts + "
            "dur.");
  AddInt(table, "min", Unit::kNone, Role::kDerived,
         "Of whole numbers the smallest, before any step was left out.");
  AddInt(table, "max", Unit::kNone, Role::kDerived, "The largest.");
  return table;
}

Result<void> RecordedFrame::Read(EventTexts& texts) {
  arg_kinds_.resize(HtaArgs().size());
  for (;;) {
    BS_ASSIGN(const std::string_view text, texts.Next());
    if (text.empty()) {
      break;
    }
    Add(text);
  }
  for (size_t field = 0; field < kEventFields; ++field) {
    if (present_[field] != next_index_) {
      kinds_[field].See(LooseType::kNull);
    }
  }
  RoundTimes();
  LinkCorrelations(events_);
  iteration_kind_ = FillIterations(events_);
  FillCounters();
  return {};
}

void RecordedFrame::ReadMembers(std::string_view text, EventMembers& members,
                                std::vector<EventField>& order) {
  JsonCursor cursor(text);
  cursor.EnterObject();
  for (std::string_view key; cursor.NextMember(key);) {
    const auto* name = std::find(std::begin(kFieldNames), std::end(kFieldNames), key);
    const std::string_view value = cursor.Value();
    if (name != std::end(kFieldNames)) {
      const auto field = static_cast<size_t>(name - std::begin(kFieldNames));
      if (members[field].empty()) {
        order.push_back(static_cast<EventField>(field));
      }
      members[field] = value;
    }
  }
}

// What the columns of all events look like, of which HTA leaves out rows only later.
void RecordedFrame::NoteFields(const EventMembers& members, const std::vector<EventField>& order) {
  for (const EventField field : order) {
    if (present_[Number(field)]++ == 0) {
      order_.push_back(field);
    }
  }
  for (const EventField field : {EventField::kPid, EventField::kTid}) {
    if (!members[Number(field)].empty()) {
      kinds_[Number(field)].See(ReadLooseNumber(members[Number(field)]).type);
    }
  }
}

void RecordedFrame::Add(std::string_view text) {
  EventMembers members;
  std::vector<EventField> order;
  ReadMembers(text, members, order);
  NoteFields(members, order);
  const LooseNumber ts = ReadLooseNumber(members[Number(EventField::kTs)]);
  const LooseNumber dur = ReadLooseNumber(members[Number(EventField::kDur)]);
  kinds_[Number(EventField::kTs)].See(ts.type);
  kinds_[Number(EventField::kDur)].See(dur.type);
  const std::string_view cat = members[Number(EventField::kCat)];
  const auto is_time = [](const LooseNumber& time) {
    return (time.type == LooseType::kInt || time.type == LooseType::kFloat) &&
           std::abs(time.number) < kMostUs;
  };
  if (is_time(ts) && is_time(dur) && IsString(cat) && cat != "\"Trace\"") {
    AddRow(members, ts, dur);
  }
  ++next_index_;
}

void RecordedFrame::AddRow(const EventMembers& members, const LooseNumber& ts,
                           const LooseNumber& dur) {
  std::string others;
  const auto text = [&](EventField field) { return StringText(members[Number(field)]); };
  size_t column = 0;
  const auto next = [&]() -> Column& { return events_.columns[column++]; };
  Push(next(), rank_);
  Push(next(), next_index_);
  Push(next(), text(EventField::kCat));
  Push(next(), text(EventField::kName));
  AddId(next(), members[Number(EventField::kPid)], others);
  AddId(next(), members[Number(EventField::kTid)], others);
  Push(next(), ts.number);
  Push(next(), dur.number);
  Push(next(), ts.number + dur.number);
  AddArgs(members[Number(EventField::kArgs)], members[Number(EventField::kCat)] == kCounterCategory,
          others);
  column += HtaArgs().size();
  Push(next(), int64_t{-1});
  Push(next(), int64_t{-1});
  others.empty() ? PushMissing(next()) : Push(next(), others + "}");
}

// A column of whole numbers, or in `others` what is none.
void RecordedFrame::AddId(Column& column, std::string_view value, std::string& others) {
  const LooseNumber number = ReadLooseNumber(value);
  if (number.type == LooseType::kInt) {
    Push(column, number.integer);
    return;
  }
  PushMissing(column);
  if (number.type != LooseType::kNull) {
    AddMember(column.name, value, others);
  }
}

void RecordedFrame::AddArgs(std::string_view args, bool has_counters, std::string& others) {
  arg_values_.assign(HtaArgs().size(), {});
  JsonCursor cursor(args);
  if (cursor.EnterObject()) {
    for (std::string_view key; cursor.NextMember(key);) {
      const auto found = std::find_if(HtaArgs().begin(), HtaArgs().end(),
                                      [&](const HtaArg& arg) { return arg.key == key; });
      const std::string_view value = cursor.Value();
      if (found != HtaArgs().end()) {
        arg_values_[static_cast<size_t>(found - HtaArgs().begin())] = value;
      } else if (has_counters) {
        AddCounter(key, value, others);
      }
    }
  }
  for (size_t arg = 0; arg < HtaArgs().size(); ++arg) {
    AddArg(arg, arg_values_[arg], others);
  }
}

// An empty value: the event has no such argument.
void RecordedFrame::AddArg(size_t number, std::string_view value, std::string& others) {
  const HtaArg& arg = HtaArgs()[number];
  constexpr size_t kFirst = 9;  // column of the first argument
  Column& column = events_.columns[kFirst + number];
  if (arg.type == HtaArgType::kValue) {
    arg_kinds_[number].See(LooseType::kOther);
    value == "null" ? PushMissing(column) : Push(column, value.empty() ? arg.default_value : value);
    return;
  }
  if (arg.column == "stream") {
    arg_kinds_[number].See(LooseType::kInt);
    Push(column, value.empty() ? -1 : StreamNumber(value));
    return;
  }
  const bool is_float = arg.type == HtaArgType::kFloat;
  if (value.empty()) {
    arg_kinds_[number].See(is_float ? LooseType::kFloat : LooseType::kInt);
    is_float ? Push(column, static_cast<double>(arg.default_number))
             : Push(column, arg.default_number);
    return;
  }
  const LooseNumber read = ReadLooseNumber(value);
  arg_kinds_[number].See(read.type);
  if (is_float && (read.type == LooseType::kInt || read.type == LooseType::kFloat)) {
    Push(column, read.number);
  } else if (!is_float && read.type == LooseType::kInt) {
    Push(column, read.integer);
  } else {
    PushMissing(column);
    if (read.type != LooseType::kNull) {
      AddMember(arg.column, value, others);
    }
  }
}

void RecordedFrame::AddCounter(std::string_view key, std::string_view value, std::string& others) {
  StringRepairs repairs;
  const std::string name(DecodeString(key, scratch_, repairs));
  if (events_.Find(name) != nullptr) {
    return;
  }
  Counter& counter = counters_[name];
  const LooseNumber read = ReadLooseNumber(value);
  counter.kind.See(read.type);
  if (read.type == LooseType::kOther) {
    AddMember(key, value, others);
  }
  counter.values.emplace_back(events_.rows() - 1, read.number);
}

// To whole microseconds, starts up and ends down, where any event of the file has a fraction.
void RecordedFrame::RoundTimes() {
  if (!rounds()) {
    return;
  }
  auto& ts = std::get<FloatValues>(events_.Find("ts_us")->values);
  auto& dur = std::get<FloatValues>(events_.Find("dur_us")->values);
  auto& end = std::get<FloatValues>(events_.Find("end_us")->values);
  for (size_t row = 0; row < ts.size(); ++row) {
    ts[row] = std::ceil(ts[row]);
    end[row] = std::floor(end[row]);
    dur[row] = end[row] - ts[row];
  }
}

// Rows that measured nothing have -1, as in HTA.
void RecordedFrame::FillCounters() {
  for (auto& [name, counter] : counters_) {
    Column& column = AddFloat(events_, name, Unit::kNone, Role::kDerived,
                              "Counter as recorded; -1 where it was not measured.");
    auto& values = std::get<FloatValues>(column.values);
    values.assign(std::get<IntValues>(events_.Find("index")->values).size(), -1.0);
    for (const auto& [row, value] : counter.values) {
      values[row] = value;
    }
  }
}

Table RecordedFrame::ColumnTable() const {
  Table table = NewHtaColumnTable();
  const auto add = [&](std::string_view name, std::string_view type, std::string_view column) {
    const Range range = type == "int" ? RangeOf(*events_.Find(column)) : Range();
    Row(table).Int(rank_).Text(name).Text(type).MaybeInt(range.least).MaybeInt(range.most);
  };
  const bool has_gaps = kinds_[Number(EventField::kTs)].Has(LooseType::kNull);
  const bool has_open = has_gaps || kinds_[Number(EventField::kDur)].Has(LooseType::kNull);
  const std::string_view ts_type = rounds() && !has_gaps ? "int" : TypeOf(EventField::kTs);
  const std::string_view end_type = has_open ? "float" : "int";
  add("index", "int", "index");
  for (const EventField field : order_) {
    switch (field) {
      case EventField::kCat:
      case EventField::kName:
        add(kFieldNames[Number(field)], "symbol", "");
        break;
      case EventField::kTs:
        add("ts", ts_type, "ts_us");
        break;
      case EventField::kDur:
        add("dur", rounds() ? end_type : TypeOf(field), "dur_us");
        break;
      case EventField::kArgs:
      case EventField::kCount:
        break;
      default:
        add(kFieldNames[Number(field)], TypeOf(field), kFieldNames[Number(field)]);
    }
  }
  if (rounds()) {
    add("end", end_type, "end_us");
  }
  for (size_t arg = 0; arg < HtaArgs().size(); ++arg) {
    add(HtaArgs()[arg].column, arg_kinds_[arg].name(), HtaArgs()[arg].column);
  }
  for (const auto& [name, counter] : counters_) {
    add(name, counter.kind.name(), name);
  }
  add("index_correlation", "int", "index_correlation");
  add("iteration", iteration_kind_.name(), "iteration");
  if (!rounds()) {
    add("end", "sum", "");
  }
  return table;
}

}  // namespace borescope::internal
