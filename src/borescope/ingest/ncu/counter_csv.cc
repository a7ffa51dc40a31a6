#include "borescope/ingest/ncu/counter_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/ingest/ncu/ncu_report.h"
#include "borescope/trace/report_texts.h"

namespace borescope::internal {

void CsvRows::TakeCell(std::string& cell) {
  cell.clear();
  if (at_ < text_.size() && text_[at_] == '"') {
    ++at_;
    while (true) {
      const size_t quote = std::min(text_.find('"', at_), text_.size());
      cell.append(text_.substr(at_, quote - at_));
      at_ = std::min(quote + 1, text_.size());
      if (quote == text_.size()) {
        is_cut_ = true;
        return;
      }
      if (at_ == text_.size() || text_[at_] != '"') {
        break;
      }
      cell += '"';
      ++at_;
    }
  }
  const size_t end = std::min(text_.find_first_of(",\n", at_), text_.size());
  cell.append(text_.substr(at_, end - at_));
  if (cell.ends_with('\r') && (end == text_.size() || text_[end] == '\n')) {
    cell.pop_back();
  }
  at_ = end;
}

bool CsvRows::Next(std::vector<std::string>& cells) {
  while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r')) {
    ++at_;
  }
  if (at_ == text_.size()) {
    return false;
  }
  begin_ = at_;
  size_t count = 0;
  while (true) {
    if (count == cells.size()) {
      cells.emplace_back();
    }
    TakeCell(cells[count++]);
    if (at_ == text_.size() || text_[at_] == '\n') {
      break;
    }
    ++at_;  // the comma
  }
  cells.resize(count);
  return true;
}

size_t FindNcuCsv(std::string_view text) {
  for (size_t line = 0; line < text.size();) {
    const size_t end = std::min(text.find('\n', line), text.size());
    const std::string_view names = text.substr(line, end - line);
    if (names.starts_with("\"ID\",") && Contains(names, "\"Kernel Name\"")) {
      return line;
    }
    line = end + 1;
  }
  return std::string_view::npos;
}

bool IsNcuCsv(std::string_view begin) {
  const bool is_json = begin.starts_with('{') || begin.starts_with('[');
  return !is_json && FindNcuCsv(begin.substr(0, kCsvBeginBytes)) != std::string_view::npos;
}

namespace {

constexpr size_t kNoColumn = std::numeric_limits<size_t>::max();

size_t ColumnOf(const std::vector<std::string>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? kNoColumn : static_cast<size_t>(found - names.begin());
}

std::string_view CellOf(const std::vector<std::string>& cells, size_t column) {
  return column < cells.size() ? std::string_view(cells[column]) : std::string_view();
}

// The number of a cell with nothing but digits, also grouped; else 0.
int64_t WholeNumber(std::string_view cell) {
  std::string digits;
  for (const char c : cell) {
    if (IsDigit(c)) {
      digits += c;
    }
  }
  return ParseNumber<int64_t>(digits).value_or(0);
}

// The whole number of a cell, whose digits may be grouped by commas, where the double that was read
// of it does not hold it.
std::optional<int64_t> ExactNumber(std::string_view cell, double value) {
  std::string digits;
  for (const char c : cell) {
    if (!IsDigit(c) && c != ',') {
      return std::nullopt;
    }
    if (c != ',') {
      digits += c;
    }
  }
  const std::optional<uint64_t> number = ParseNumber<uint64_t>(digits);
  // A cell with decimals after its comma, or in a larger unit, has another value.
  return number.has_value() && static_cast<double>(*number) == value ? ExactWhole(*number)
                                                                     : std::nullopt;
}

// "(1056, 1, 1)".
std::array<int64_t, 3> SizeOf(std::string_view cell) {
  std::array<int64_t, 3> size = {};
  size_t at = 0;
  for (int64_t& part : size) {
    at = std::min(cell.find_first_of("0123456789", at), cell.size());
    const size_t end = std::min(cell.find_first_not_of("0123456789", at), cell.size());
    part = ParseNumber<int64_t>(cell.substr(at, end - at)).value_or(0);
    at = end;
  }
  return size;
}

std::string ValidText(std::string_view text, uint64_t at, Diagnostics& diagnostics) {
  if (IsValidUtf8(text)) {
    return std::string(text);
  }
  diagnostics.Count(Diag::kInvalidUtf8, at, "a text of the report");
  return ToValidUtf8(text);
}

// "<default domain>:step:none:none:none:none:none:none" is domain and text, then six fields, of
// which the last repeats the text if it was registered. Both texts may hold colons.
std::string LabelOf(std::string_view range) {
  constexpr std::string_view kDefault = "<default domain>";
  const size_t domain_end = std::min(range.find(':'), range.size());
  const std::string_view domain = range.substr(0, domain_end);
  const std::string_view rest = range.substr(std::min(domain_end + 1, range.size()));
  std::string_view text = rest;
  for (size_t at = rest.find(':'); at != std::string_view::npos; at = rest.find(':', at + 1)) {
    size_t end = at;
    constexpr int kFieldsBeforeLast = 5;
    for (int field = 0; field < kFieldsBeforeLast && end != std::string_view::npos; ++field) {
      end = rest.find(':', end + 1);
    }
    if (end == std::string_view::npos) {
      break;
    }
    const std::string_view last = rest.substr(end + 1);
    if (last == "none" || last == rest.substr(0, at)) {
      text = rest.substr(0, at);
      break;
    }
  }
  std::string label(domain == kDefault ? std::string_view() : domain);
  label += label.empty() ? "" : ":";
  return label.append(text);
}

// 1285  "<default domain>:step:…"  "CCCL:…": the ranges of each thread after its number. Nothing
// if several threads have some.
std::optional<std::vector<std::string>> LabelsOf(std::string_view cell) {
  std::vector<std::string> labels;
  int threads = 0;
  bool is_new_thread = false;
  for (size_t at = 0; at < cell.size();) {
    const size_t quote = cell.find('"', at);
    const std::string_view between = cell.substr(at, std::min(quote, cell.size()) - at);
    is_new_thread |= between.find_first_of("0123456789") != std::string_view::npos;
    if (quote == std::string_view::npos) {
      break;
    }
    // A text may hold quotation marks: a range ends at one that blanks, a line or nothing follow.
    size_t end = cell.find('"', quote + 1);
    while (end != std::string_view::npos && end + 1 < cell.size() && !IsSpace(cell[end + 1])) {
      end = cell.find('"', end + 1);
    }
    end = std::min(end, cell.size());
    threads += is_new_thread ? 1 : 0;
    is_new_thread = false;
    labels.push_back(LabelOf(cell.substr(quote + 1, end - quote - 1)));
    at = std::min(end + 1, cell.size());
  }
  return threads > 1 ? std::nullopt : std::optional(std::move(labels));
}

class NcuCsvReader {
 public:
  NcuCsvReader(std::string_view text, CounterReport& report, Diagnostics& diagnostics)
      : text_(text), report_(report), diagnostics_(diagnostics) {}

  // REQUIRES: the text begins with the line of names.
  void Read();

 private:
  void FindColumns();
  bool IsMetricName(size_t column) const;
  bool IsMetricColumn(size_t column) const { return is_metric_[column]; }
  // Whether any number of the file shows that the comma is the decimal sign.
  bool FindsDecimalComma() const;
  bool NextRow(CsvRows& rows, std::vector<std::string>& cells) const;
  void ReadRow(const std::vector<std::string>& cells);
  CountedKernel& KernelOf(const std::vector<std::string>& cells);
  void ReadRanges(std::string_view cell, CountedKernel& kernel);
  uint32_t MetricOf(std::string_view name, std::string_view unit);
  void AddValue(uint32_t metric, std::string_view cell, int power, CountedKernel& kernel);
  void MakeMetrics(const std::vector<std::string>& units);

  std::string_view text_;
  CounterReport& report_;
  Diagnostics& diagnostics_;
  std::vector<std::string> names_;
  std::vector<bool> is_metric_;  // by column
  struct Columns {
    size_t id, pid, program, kernel, context, stream, block, grid, device, cc, ranges;
    size_t metric, unit, value;  // of the long form
  } columns_{};
  bool is_long_ = false;
  bool decimal_comma_ = false;
  std::vector<PrefixedUnit> units_;  // of the wide form, by column
  std::vector<uint32_t> metrics_;
  std::map<std::string, uint32_t, std::less<>> numbers_;
  std::map<std::pair<std::string, std::string>, size_t> kernels_;  // by process and ID
  uint64_t at_ = 0;
};

void NcuCsvReader::FindColumns() {
  const auto of = [this](std::string_view name) { return ColumnOf(names_, name); };
  columns_ = {.id = of("ID"),
              .pid = of("Process ID"),
              .program = of("Process Name"),
              .kernel = of("Kernel Name"),
              .context = of("Context"),
              .stream = of("Stream"),
              .block = of("Block Size"),
              .grid = of("Grid Size"),
              .device = of("Device"),
              .cc = of("CC"),
              .ranges = kNoColumn,
              .metric = of("Metric Name"),
              .unit = of("Metric Unit"),
              .value = of("Metric Value")};
  const auto ranges = std::find_if(names_.begin(), names_.end(), [](const std::string& name) {
    return name.starts_with("thread Domain:Push/Pop_Range");
  });
  columns_.ranges =
      ranges == names_.end() ? kNoColumn : static_cast<size_t>(ranges - names_.begin());
  is_long_ = columns_.metric != kNoColumn && columns_.value != kNoColumn;
  is_metric_.clear();
  for (size_t column = 0; column < names_.size(); ++column) {
    is_metric_.push_back(IsMetricName(column));
  }
}

// The name of the kernel is a metric, too, which is empty in texts.
bool NcuCsvReader::IsMetricName(size_t column) const {
  if (names_[column] == "launch__kernel_name") {
    return false;
  }
  return columns_.cc != kNoColumn ? column > columns_.cc : Contains(names_[column], "__");
}

// Lines of ncu itself end the table.
bool NcuCsvReader::NextRow(CsvRows& rows, std::vector<std::string>& cells) const {
  return rows.Next(cells) && !text_.substr(rows.row_begin()).starts_with("==");
}

bool NcuCsvReader::FindsDecimalComma() const {
  CsvRows rows(text_);
  std::vector<std::string> cells;
  for (size_t row = 0; NextRow(rows, cells); ++row) {
    CheckStopAt(row);
    for (size_t column = 0; column < cells.size(); ++column) {
      const bool is_value =
          is_long_ ? column == columns_.value : column < names_.size() && IsMetricColumn(column);
      if (is_value && Contains(cells[column], ",") && ProvesDecimalComma(cells[column])) {
        return true;
      }
    }
  }
  return false;
}

uint32_t NcuCsvReader::MetricOf(std::string_view name, std::string_view unit) {
  const auto known = numbers_.find(name);
  if (known != numbers_.end()) {
    return known->second;
  }
  const auto metric = static_cast<uint32_t>(report_.metrics.size());
  report_.metrics.push_back({ValidText(name, at_, diagnostics_), std::string(unit)});
  numbers_.emplace(name, metric);
  return metric;
}

void NcuCsvReader::ReadRanges(std::string_view cell, CountedKernel& kernel) {
  std::optional<std::vector<std::string>> labels = LabelsOf(cell);
  if (!labels.has_value()) {
    diagnostics_.Count(Diag::kNvtxThreadUnknown, at_, kernel.function);
    return;
  }
  for (std::string& label : *labels) {
    kernel.ranges.push_back(ValidText(label, at_, diagnostics_));
  }
}

CountedKernel& NcuCsvReader::KernelOf(const std::vector<std::string>& cells) {
  const auto [place, is_new] = kernels_.emplace(
      std::pair(std::string(CellOf(cells, columns_.pid)), std::string(CellOf(cells, columns_.id))),
      report_.kernels.size());
  if (!is_new) {
    return report_.kernels[place->second];
  }
  CountedKernel& kernel = report_.kernels.emplace_back();
  kernel.name = ValidText(CellOf(cells, columns_.kernel), at_, diagnostics_);
  kernel.function = FunctionInName(kernel.name);
  kernel.grid = SizeOf(CellOf(cells, columns_.grid));
  kernel.block = SizeOf(CellOf(cells, columns_.block));
  kernel.pid = WholeNumber(CellOf(cells, columns_.pid));
  kernel.device = WholeNumber(CellOf(cells, columns_.device));
  kernel.context = WholeNumber(CellOf(cells, columns_.context));
  kernel.stream = WholeNumber(CellOf(cells, columns_.stream));
  ReadRanges(CellOf(cells, columns_.ranges), kernel);
  if (report_.program.empty()) {
    const std::string_view program = CellOf(cells, columns_.program);
    report_.program = ValidText(program.substr(program.find_last_of("/\\") + 1), at_, diagnostics_);
  }
  return kernel;
}

bool IsMissingValue(std::string_view cell) {
  return cell.empty() || cell == "n/a" || cell == "N/A" || cell == "(not available)";
}

void NcuCsvReader::AddValue(uint32_t metric, std::string_view cell, int power,
                            CountedKernel& kernel) {
  cell = Trimmed(cell);
  if (IsMissingValue(cell)) {
    return;
  }
  const std::string& name = report_.metrics[metric].name;
  const std::optional<PrintedNumber> number = ParsePrinted(cell, decimal_comma_, power);
  if (number.has_value()) {
    constexpr double kHalf = 0.5;  // beyond, digits before the decimal sign are lost
    if (number->rounded_by > kHalf) {
      diagnostics_.Count(Diag::kRoundedCounters, at_, name);
    }
    kernel.values.push_back(
        {metric, number->value, number->rounded_by, ExactNumber(cell, number->value)});
    return;
  }
  const std::string lower = LowerCase(cell);
  if (lower == "nan" || lower == "-nan" || lower == "inf" || lower == "-inf") {
    diagnostics_.Count(Diag::kNonFiniteNumber, at_, name);
    return;
  }
  kernel.texts.push_back({metric, ValidText(cell, at_, diagnostics_)});
}

void NcuCsvReader::ReadRow(const std::vector<std::string>& cells) {
  if (is_long_) {
    const std::string_view metric = CellOf(cells, columns_.metric);
    CountedKernel& kernel = KernelOf(cells);
    if (Contains(metric, "__")) {  // others are labels of pages
      const PrefixedUnit unit = ParseUnit(CellOf(cells, columns_.unit));
      AddValue(MetricOf(metric, unit.unit), CellOf(cells, columns_.value), unit.power, kernel);
    }
    return;
  }
  CountedKernel& kernel = KernelOf(cells);
  for (size_t column = 0; column < cells.size(); ++column) {
    if (IsMetricColumn(column)) {
      AddValue(metrics_[column], cells[column], units_[column].power, kernel);
    }
  }
}

// Of the wide form: the metrics of the columns, with the units in the second line, if it has them.
void NcuCsvReader::MakeMetrics(const std::vector<std::string>& units) {
  units_.resize(names_.size());
  metrics_.resize(names_.size());
  for (size_t column = 0; column < names_.size(); ++column) {
    if (IsMetricColumn(column)) {
      units_[column] = ParseUnit(CellOf(units, column));
      metrics_[column] = MetricOf(names_[column], units_[column].unit);
    }
  }
}

void NcuCsvReader::Read() {
  CsvRows rows(text_);
  rows.Next(names_);
  FindColumns();
  decimal_comma_ = FindsDecimalComma();
  std::vector<std::string> cells;
  bool is_first = !is_long_;
  for (size_t row = 0; NextRow(rows, cells); ++row) {
    CheckStopAt(row);
    at_ = rows.row_begin();
    if (cells.size() != names_.size() || rows.is_cut()) {
      diagnostics_.Count(
          rows.at_end() ? Diag::kTruncatedReport : Diag::kDamagedMessage, at_,
          fmt::format("a row of {} cells in place of {}", cells.size(), names_.size()));
      continue;
    }
    if (std::exchange(is_first, false)) {
      const bool is_units = columns_.id != kNoColumn && cells[columns_.id].empty();
      MakeMetrics(is_units ? cells : std::vector<std::string>());
      if (is_units) {
        continue;
      }
    }
    ReadRow(cells);
  }
}

}  // namespace

Result<CounterReport> ReadNcuCsv(std::string_view text, const std::string& name,
                                 Diagnostics& diagnostics) {
  const size_t begin = FindNcuCsv(text);
  if (begin == std::string_view::npos) {
    return Error{ErrorCode::kUnsupportedFormat,
                 "no line with the names of columns, as ncu --csv prints them",
                 "export the report with ncu --import FILE --csv --page raw --print-units base",
                 name};
  }
  CounterReport report;
  report.file = name;
  report.tool = "Nsight Compute";
  report.whole_names = false;
  NcuCsvReader(text.substr(begin), report, diagnostics).Read();
  FinishReport(report, diagnostics);
  return report;
}

namespace {

constexpr std::string_view kDispatch = "Dispatch_Id";
constexpr std::string_view kCounterName = "Counter_Name";
constexpr std::string_view kCounterValue = "Counter_Value";

}  // namespace

bool IsRocprofCounters(std::string_view begin) {
  constexpr size_t kLongestLine = 4096;
  begin = begin.substr(0, kLongestLine);
  const std::string_view line = begin.substr(0, begin.find('\n'));
  return Contains(line, kDispatch) && Contains(line, kCounterName) && Contains(line, kCounterValue);
}

struct RocprofCounters::Columns {
  size_t dispatch, agent, queue, process, grid, kernel, workgroup, counter, value, start, end;
};

namespace {

// "pass_2" of "out/pass_2/host/83_counter_collection.csv"; empty without one.
std::string PassOf(std::string_view path) {
  for (size_t at = 0; at < path.size();) {
    const size_t end = std::min(path.find_first_of("/\\", at), path.size());
    const std::string_view folder = path.substr(at, end - at);
    const size_t begin = folder.find('_') + 1;
    if (end < path.size() && (folder.starts_with("pass_") || folder.starts_with("pmc_")) &&
        ParseNumber<uint32_t>(folder.substr(begin)).has_value()) {
      return std::string(folder);
    }
    at = end + 1;
  }
  return {};
}

// 4 of "4" and of "Agent 4".
int64_t NumberBehind(std::string_view text) {
  const size_t last = text.find_last_not_of("0123456789");
  return ParseNumber<int64_t>(last == std::string_view::npos ? text : text.substr(last + 1))
      .value_or(0);
}

}  // namespace

int64_t RocprofCounters::ProcessOf(const std::string& pass, int64_t pid) {
  if (processes_.empty()) {
    first_pass_ = pass;
  }
  std::vector<int64_t>& seen = processes_[pass];
  const auto place = std::find(seen.begin(), seen.end(), pid);
  const auto number = static_cast<size_t>(place - seen.begin());
  if (place == seen.end()) {
    seen.push_back(pid);
  }
  const std::vector<int64_t>& first = processes_[first_pass_];
  return !pass.empty() && number < first.size() ? first[number] : pid;
}

size_t RocprofCounters::KernelOf(const std::vector<std::string>& cells, const Columns& columns,
                                 int64_t pid, Diagnostics& diagnostics) {
  const int64_t agent = NumberBehind(CellOf(cells, columns.agent));
  const int64_t dispatch = WholeNumber(CellOf(cells, columns.dispatch));
  std::string recorded(CellOf(cells, columns.kernel));
  const auto [place, is_new] =
      kernels_.emplace(Key(pid, agent, dispatch, recorded), report_.kernels.size());
  if (!is_new) {
    return place->second;
  }
  for (const std::string_view end : {" [clone .kd]", ".kd"}) {
    if (recorded.ends_with(end)) {
      recorded.resize(recorded.size() - end.size());
    }
  }
  CountedKernel& kernel = report_.kernels.emplace_back();
  kernel.name = ValidText(demangle_(recorded), Diagnostics::kNoByte, diagnostics);
  kernel.function = FunctionInName(kernel.name);
  kernel.grid = {WholeNumber(CellOf(cells, columns.grid)), 1, 1};
  kernel.block = {WholeNumber(CellOf(cells, columns.workgroup)), 1, 1};
  kernel.pid = pid;
  kernel.device = agent;
  kernel.stream = NumberBehind(CellOf(cells, columns.queue));
  const std::optional<int64_t> start = ParseNumber<int64_t>(CellOf(cells, columns.start));
  const std::optional<int64_t> end = ParseNumber<int64_t>(CellOf(cells, columns.end));
  constexpr int64_t kLatest = int64_t{1} << 61;
  if (start > 0 && end >= start && end < kLatest) {
    kernel.ts_ns = *start;
    kernel.dur_ns = *end - *start;
  }
  dispatches_.push_back(dispatch);
  return place->second;
}

void RocprofCounters::AddValue(const std::vector<std::string>& cells, const Columns& columns,
                               CountedKernel& kernel, uint64_t at, Diagnostics& diagnostics) {
  const std::string_view name = CellOf(cells, columns.counter);
  const std::string_view cell = Trimmed(CellOf(cells, columns.value));
  const auto [metric, is_new] =
      metrics_.emplace(std::string(name), static_cast<uint32_t>(report_.metrics.size()));
  if (is_new) {
    const bool is_size = name == "FETCH_SIZE" || name == "WRITE_SIZE";
    report_.metrics.push_back({ValidText(name, at, diagnostics), is_size ? "KiB" : ""});
  }
  const std::optional<PrintedNumber> value = ParsePrinted(cell, false);
  if (value.has_value()) {
    kernel.values.push_back(
        {metric->second, value->value, value->rounded_by, ExactNumber(cell, value->value)});
  } else if (!cell.empty()) {
    diagnostics.Count(Diag::kNonFiniteNumber, at, name);
  }
}

Result<void> RocprofCounters::Add(std::string_view text, const std::string& name,
                                  Diagnostics& diagnostics) {
  CsvRows rows(text);
  std::vector<std::string> names;
  if (!IsRocprofCounters(text) || !rows.Next(names)) {
    return Error{ErrorCode::kUnsupportedFormat,
                 "no line with the names of columns, as rocprofv3 writes them",
                 "give the *_counter_collection.csv that rocprofv3 --pmc made", name};
  }
  const auto of = [&](std::string_view column) { return ColumnOf(names, column); };
  const Columns columns = {.dispatch = of(kDispatch),
                           .agent = of("Agent_Id"),
                           .queue = of("Queue_Id"),
                           .process = of("Process_Id"),
                           .grid = of("Grid_Size"),
                           .kernel = of("Kernel_Name"),
                           .workgroup = of("Workgroup_Size"),
                           .counter = of(kCounterName),
                           .value = of(kCounterValue),
                           .start = of("Start_Timestamp"),
                           .end = of("End_Timestamp")};
  ++files_;
  report_.file = files_ == 1 ? name : report_.file;
  const std::string pass = PassOf(name);
  std::vector<std::string> cells;
  for (size_t row = 0; rows.Next(cells); ++row) {
    CheckStopAt(row);
    if (cells.size() != names.size() || rows.is_cut()) {
      diagnostics.Count(
          rows.at_end() ? Diag::kTruncatedReport : Diag::kDamagedMessage, rows.row_begin(),
          fmt::format("a row of {} cells in place of {}", cells.size(), names.size()));
      continue;
    }
    const int64_t pid = ProcessOf(pass, WholeNumber(CellOf(cells, columns.process)));
    const size_t kernel = KernelOf(cells, columns, pid, diagnostics);
    AddValue(cells, columns, report_.kernels[kernel], rows.row_begin(), diagnostics);
  }
  return {};
}

CounterReport RocprofCounters::Finish(Diagnostics& diagnostics) {
  report_.tool = "rocprofv3";
  if (files_ > 1) {
    report_.file += fmt::format(" and {} more", files_ - 1);
  }
  report_.amd = true;
  // Processes in the order of their appearance, their dispatches by number.
  std::map<int64_t, size_t> places;
  std::set<int64_t> found;
  for (const CountedKernel& kernel : report_.kernels) {
    places.emplace(kernel.pid, places.size());
    found.insert(kernel.device);
  }
  const std::vector<int64_t> agents(found.begin(), found.end());
  std::vector<size_t> order(report_.kernels.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const auto key = [&](size_t i) {
      return std::pair(places[report_.kernels[i].pid], dispatches_[i]);
    };
    return key(a) < key(b);
  });
  std::vector<CountedKernel> kernels;
  kernels.reserve(order.size());
  for (const size_t kernel : order) {
    kernels.push_back(std::move(report_.kernels[kernel]));
    // Agents are numbered with the processors of the host; devices are counted from 0.
    kernels.back().device =
        std::lower_bound(agents.begin(), agents.end(), kernels.back().device) - agents.begin();
  }
  report_.kernels = std::move(kernels);
  FinishReport(report_, diagnostics);
  return std::move(report_);
}

}  // namespace borescope::internal
