#include "borescope/packs/hta/recorded/recorded_frame.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "borescope/analysis/core/row.h"
#include "borescope/base/each_row.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/json/json_cursor.h"
#include "borescope/json/json_string.h"
#include "borescope/json/number.h"

namespace borescope::internal {

namespace {

constexpr std::string_view kStep = "ProfilerStep";

// The number of "ProfilerStep # 12"; nothing for other names.
std::optional<int64_t> StepNumber(std::string_view name) {
  if (!name.starts_with(kStep)) {
    return std::nullopt;
  }
  name.remove_prefix(kStep.size());
  const auto skip_space = [&] {
    name.remove_prefix(std::min(name.find_first_not_of(" \t\n\r\f\v"), name.size()));
  };
  skip_space();
  if (!name.starts_with('#')) {
    return std::nullopt;
  }
  name.remove_prefix(1);
  skip_space();
  int64_t number = 0;
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
  return parsed.ec == std::errc() && number >= 0 ? std::optional(number) : std::nullopt;
}

// Finds the step at a time: of overlapping steps the last one in the file.
class StepsOverTime {
 public:
  explicit StepsOverTime(const Table& events) { Collect(events); }

  // -1 for none.
  int64_t At(double ts_us) const {
    const auto after = std::upper_bound(begins_.begin(), begins_.end(), ts_us);
    return after == begins_.begin() ? -1
                                    : numbers_[static_cast<size_t>(after - begins_.begin()) - 1];
  }

 private:
  struct Edge {
    double ts_us;
    size_t step;  // in the order of the file
    bool is_begin;
  };

  void Collect(const Table& events) {
    const StringValues& names = Texts(events, "name");
    const FloatValues& begins = Floats(events, "ts_us");
    const FloatValues& durations = Floats(events, "dur_us");
    std::vector<std::optional<int64_t>> of_text;
    for (const std::string& text : names.texts()) {
      of_text.push_back(StepNumber(text));
    }
    std::vector<Edge> edges;
    std::vector<int64_t> steps;
    for (size_t row = 0; row < names.size(); ++row) {
      if (const auto& number = of_text[names.numbers()[row]]; number.has_value()) {
        edges.push_back({begins[row], steps.size(), true});
        edges.push_back({begins[row] + durations[row], steps.size(), false});
        steps.push_back(*number);
      }
    }
    Sweep(std::move(edges), steps);
  }

  void Sweep(std::vector<Edge> edges, const std::vector<int64_t>& steps) {
    std::stable_sort(edges.begin(), edges.end(),
                     [](const Edge& a, const Edge& b) { return a.ts_us < b.ts_us; });
    std::set<size_t> begun;
    std::set<size_t> ended;  // before they began: rounding can make a step empty
    for (size_t i = 0; i < edges.size(); ++i) {
      const Edge& edge = edges[i];
      if (edge.is_begin && ended.erase(edge.step) == 0) {
        begun.insert(edge.step);
      } else if (!edge.is_begin && begun.erase(edge.step) == 0) {
        ended.insert(edge.step);
      }
      if (i + 1 == edges.size() || edges[i + 1].ts_us != edge.ts_us) {
        begins_.push_back(edge.ts_us);
        numbers_.push_back(begun.empty() ? -1 : steps[*begun.rbegin()]);
      }
    }
  }

  std::vector<double> begins_;
  std::vector<int64_t> numbers_;  // from each begin on
};

}  // namespace

bool IsHtaStepName(std::string_view name) {
  return name.starts_with("ProfilerStep#") && name.size() > kStep.size() + 1 &&
         name[kStep.size() + 1] >= '0' && name[kStep.size() + 1] <= '9';
}

std::vector<char> FindDeviceRows(const Table& events) {
  const StringValues& names = Texts(events, "name");
  std::vector<char> is_sync;
  for (const std::string& text : names.texts()) {
    is_sync.push_back(text == "Event Sync" || text == "Context Sync" ? 1 : 0);
  }
  const IntValues& streams = Ints(events, "stream");
  const IntValues& correlations = Ints(events, "correlation");
  const Column& numbers = *events.Find("correlation");
  std::vector<char> device(events.rows(), 0);
  for (size_t row = 0; row < device.size(); ++row) {
    const bool has_number = !numbers.IsMissing(row) && correlations[row] >= 0;
    device[row] = (streams[row] >= 0 && has_number) || is_sync[names.numbers()[row]] != 0 ? 1 : 0;
  }
  return device;
}

void LinkCorrelations(Table& events) {
  const std::vector<char> device = FindDeviceRows(events);
  const IntValues& correlations = Ints(events, "correlation");
  const IntValues& indexes = Ints(events, "index");
  HashMap<int64_t, int64_t> last[2];  // index by correlation, of host and device
  for (const size_t row : EachIndex(device.size())) {
    if (correlations[row] != -1) {
      last[device[row] != 0 ? 1 : 0][correlations[row]] = indexes[row];
    }
  }
  auto& linked = std::get<IntValues>(events.Find("index_correlation")->values);
  for (const size_t row : EachIndex(device.size())) {
    const auto& partners = last[device[row] != 0 ? 0 : 1];
    const auto found = partners.find(correlations[row]);
    linked[row] = correlations[row] == -1 || found == partners.end()
                      ? std::min<int64_t>(correlations[row], 0)
                      : found->second;
  }
}

NumberKind FillIterations(Table& events) {
  const StepsOverTime steps(events);
  const FloatValues& begins = Floats(events, "ts_us");
  const IntValues& streams = Ints(events, "stream");
  const IntValues& indexes = Ints(events, "index");
  const IntValues& links = Ints(events, "index_correlation");
  const StringValues& categories = Texts(events, "cat");
  Column& column = *events.Find("iteration");
  auto& iterations = std::get<IntValues>(column.values);
  std::vector<char> open(events.rows(), 1);
  for (const size_t row : EachIndex(streams.size())) {
    if (streams[row] < 0 || (streams[row] == 0 && categories[row] == "cpu_op")) {
      iterations[row] = steps.At(begins[row]);
      open[row] = 0;
    }
  }
  const std::vector<char> by_time = open;
  for (const size_t row : EachIndex(streams.size())) {
    if (streams[row] > 0) {
      const auto partner = std::lower_bound(indexes.begin(), indexes.end(), links[row]);
      const bool is_linked = links[row] > 0 && partner != indexes.end() && *partner == links[row];
      const auto at = static_cast<size_t>(partner - indexes.begin());
      iterations[row] = is_linked ? iterations[at] : -1;
      open[row] = is_linked ? by_time[at] : 0;
    }
  }
  NumberKind kind;
  for (const char is_open : open) {
    kind.See(is_open != 0 ? LooseType::kNull : LooseType::kInt);
  }
  column.missing = kind.Has(LooseType::kNull) ? std::move(open) : std::vector<char>();
  return kind;
}

namespace {

constexpr HtaArgType kInt = HtaArgType::kInt;
constexpr HtaArgType kFloat = HtaArgType::kFloat;
constexpr HtaArgType kValue = HtaArgType::kValue;

constexpr HtaArg kArgs[] = {
    {"stream", "stream", kInt, -1, {}, "Stream (queue) of the device; -1 for none."},
    {"correlation", "correlation", kInt, -1, {}, "Correlation number of call and work."},
    {"bytes", "bytes", kInt, -1, {}, "Bytes of a copy."},
    {"memory_bw_gbps", "memory bandwidth (GB/s)", kFloat, 0, {}, "Recorded rate of a copy."},
    {"wait_on_stream", "wait_on_stream", kInt, -1, {}, "The stream that is waited for."},
    {"wait_on_cuda_event_record_corr_id",
     "wait_on_cuda_event_record_corr_id",
     kInt,
     -1,
     {},
     "Correlation number of the call that recorded the event that is waited for."},
    {"input_dims", "Input Dims", kValue, 0, R"("-1")", "Shapes of inputs, as JSON."},
    {"input_type", "Input type", kValue, 0, R"("-1")", "Types of inputs, as JSON."},
    {"input_strides", "Input Strides", kValue, 0, R"("-1")", "Strides of inputs, as JSON."},
    {"external_id", "External id", kInt, -1, {}, "Number that ties work to its operator."},
    {"python_id", "Python id", kInt, -1, {}, "Number of a Python frame."},
    {"python_parent_id", "Python parent id", kInt, -1, {}, "Number of the frame around it."},
    {"collective_name", "Collective name", kValue, 0, R"("")", "Name of the collective, as JSON."},
    {"in_msg_nelems", "In msg nelems", kInt, 0, {}, "Elements that a collective takes."},
    {"out_msg_nelems", "Out msg nelems", kInt, 0, {}, "Elements that it gives."},
    {"msg_dtype", "dtype", kValue, 0, R"("")", "Their type, as JSON."},
    {"group_size", "Group size", kInt, 0, {}, "Ranks that take part."},
    {"process_rank", "Rank", kInt, -1, {}, "Rank of the process, as the event says."},
    {"in_split_size", "In split size", kValue, 0, R"("[]")", "Elements for each rank, as JSON."},
    {"out_split_size", "Out split size", kValue, 0, R"("[]")", "Elements of each rank, as JSON."},
};

}  // namespace

std::span<const HtaArg> HtaArgs() { return kArgs; }

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

// pandas.to_numeric, with -1 for what is not a number.
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

// Smallest and largest number of a column; none if it has no numbers.
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
            "sum: ts + dur.");
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

// Notes the columns of every event, because HTA leaves out rows only after it has built the
// columns.
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

// Adds a value to a column of whole numbers, or to `others` if it is not a whole number.
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

// An empty value means that the event has no such argument.
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

// Rounds to whole microseconds, starts up and ends down, if any event of the file has a fraction.
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

// Rows without a measurement have -1, as in HTA.
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

namespace {

LooseNumber ReadFloat(std::string_view value) {
  const ParsedDouble parsed = ParseDouble(value);
  return parsed.status == NumberStatus::kOk ? LooseNumber{LooseType::kFloat, 0, parsed.value}
                                            : LooseNumber{LooseType::kOther, 0, 0};
}

}  // namespace

LooseNumber ReadLooseNumber(std::string_view value) {
  if (value.empty() || value == "null") {
    return {};
  }
  if (value == "NaN") {
    return {LooseType::kFloat, 0, std::numeric_limits<double>::quiet_NaN()};
  }
  const char first = value.front();
  if (first != '-' && (first < '0' || first > '9')) {
    return {LooseType::kOther, 0, 0};
  }
  if (value.find_first_of(".eE") != std::string_view::npos) {
    return ReadFloat(value);
  }
  const ParsedNumber parsed = ParseInteger(value);
  return parsed.status == NumberStatus::kOk
             ? LooseNumber{LooseType::kInt, parsed.value, static_cast<double>(parsed.value)}
             : LooseNumber{LooseType::kOther, 0, 0};
}

std::string_view NumberKind::name() const {
  const bool has_float = Has(LooseType::kFloat);
  const bool has_number = has_float || Has(LooseType::kInt);
  if (Has(LooseType::kOther) || !has_number) {
    return "object";
  }
  return has_float || Has(LooseType::kNull) ? "float" : "int";
}

namespace {

constexpr size_t kPiece = size_t{1} << 20;

}  // namespace

// Appends a piece of the list to the buffer; false at its end.
Result<bool> EventTexts::Fill() {
  CheckStop();
  buffer_.erase(0, at_);
  at_ = 0;
  while (read_ < end_) {
    const size_t before = buffer_.size();
    buffer_.resize(before + kPiece);
    BS_ASSIGN(const size_t got, source_.Read(buffer_.data() + before, kPiece));
    const uint64_t first = std::min<uint64_t>(std::max(begin_, read_) - read_, got);
    const uint64_t last = std::min<uint64_t>(end_ - read_, got);
    read_ += got;
    buffer_.resize(before + last);
    buffer_.erase(before, first);
    if (got == 0) {
      read_ = end_;
    } else if (buffer_.size() > before) {
      return true;
    }
  }
  return false;
}

bool EventTexts::SkipToObject() {
  at_ = std::min(buffer_.find('{', at_), buffer_.size());
  return at_ < buffer_.size();
}

// The end of the object that begins at at_; npos if the buffer ends before it.
size_t EventTexts::FindEnd() const {
  size_t depth = 0;
  for (size_t i = at_; i < buffer_.size(); ++i) {
    const char c = buffer_[i];
    if (c == '"') {
      i = FindClosingQuote(buffer_, i + 1);
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return i + 1;
    }
  }
  return std::string::npos;
}

Result<std::string_view> EventTexts::Next() {
  while (!SkipToObject()) {
    BS_ASSIGN(const bool has_more, Fill());
    if (!has_more) {
      return std::string_view();
    }
  }
  for (;;) {
    const size_t end = FindEnd();
    if (end != std::string::npos) {
      const std::string_view text = std::string_view(buffer_).substr(at_, end - at_);
      at_ = end;
      return text;
    }
    BS_ASSIGN(const bool has_more, Fill());
    if (!has_more) {
      return std::string_view();
    }
  }
}

}  // namespace borescope::internal
