#include "borescope/ingest/ncu/ncu_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/ingest/cupti/demangle.h"
#include "borescope/ingest/ncu/message_fields.h"
#include "borescope/ingest/ncu/nvtx_state.h"
#include "borescope/trace/report_texts.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kMagic("NVR\0", 4);
constexpr uint64_t kKnownVersion = 7;
constexpr size_t kMostNames = 1'000'000;
constexpr size_t kMostMetrics = 100'000;  // of a kernel
constexpr double kLargest = 1e290;        // more than any count, and small enough to add up

}  // namespace

bool IsNcuReport(std::string_view begin) { return begin.starts_with(kMagic); }

namespace {

// What the header of a block says about what follows it.
struct BlockHeader {
  uint64_t sources = 0;  // code of devices
  uint64_t results = 0;
  uint64_t range_results = 0;
  uint64_t payload_bytes = 0;
};

// Takes the messages of a report apart. `at` names the place of the current one in diagnostics.
class NcuReader {
 public:
  NcuReader(CounterReport& report, Diagnostics& diagnostics)
      : report_(report), diagnostics_(diagnostics) {}

  void ReadFileHeader(std::string_view message, uint64_t at);
  Result<BlockHeader> ReadBlockHeader(std::string_view message, uint64_t at);
  Result<void> ReadResult(std::string_view message, uint64_t at);
  void Finish();

  uint64_t version() const { return version_; }

 private:
  // A value as stored; a metric has a number, a text or neither.
  struct StoredValue {
    std::optional<double> number;
    std::optional<int64_t> exact;  // of a whole number that a double does not hold
    std::optional<std::string_view> text;
  };

  Result<void> AddNames(std::string_view message);
  void ReadProcess(std::string_view message);
  void ReadSession(std::string_view message);
  void ReadDevice(std::string_view message);
  void ReadKeyAndText(std::string_view message);
  void ReadCommandLine(std::string_view line);
  void AddMetric(std::string_view message, CountedKernel& kernel);
  StoredValue ReadValue(std::string_view message);
  std::array<int64_t, 3> ReadSize(std::string_view message);
  void ReadClocks(std::string_view message);
  void ReadRule(std::string_view message, CountedKernel& kernel);
  void ReadAdvice(std::string_view message, const std::string& rule, CountedKernel& kernel);
  void ReadFocus(std::string_view message, CountedKernel::Advice& advice);
  void ReadRanges(std::string_view message, CountedKernel& kernel);
  void NameKernel(std::string_view mangled, std::string_view readable, CountedKernel& kernel);
  void FindDevice(CountedKernel& kernel) const;
  void CountSensitive(std::string_view what);

  // After the fields of a message were read.
  void NoteDamage(const MessageFields& fields) { is_damaged_ |= fields.is_damaged(); }
  void CountDamage(std::string_view what) {
    if (std::exchange(is_damaged_, false)) {
      diagnostics_.Count(Diag::kDamagedMessage, at_, what);
    }
  }
  std::string Text(std::string_view bytes) {
    if (IsValidUtf8(bytes)) {
      return std::string(bytes);
    }
    diagnostics_.Count(Diag::kInvalidUtf8, at_, "a text of the report");
    return ToValidUtf8(bytes);
  }

  CounterReport& report_;
  Diagnostics& diagnostics_;
  Demangler demangle_;
  uint64_t at_ = 0;
  bool is_damaged_ = false;  // a part of the current message
  uint64_t version_ = 0;
  std::set<std::string, std::less<>> devices_;  // models
  std::set<std::string, std::less<>> hosts_;
  bool has_mangled_names_ = true;  // of all kernels
  std::optional<uint32_t> device_index_metric_;
  std::optional<uint32_t> device_id_metric_;
  bool has_held_clocks_ = false;
  bool has_free_clocks_ = false;
};

void NcuReader::ReadFileHeader(std::string_view message, uint64_t at) {
  at_ = at;
  MessageFields fields(message);
  while (fields.Next()) {
    if (fields.number() == 1) {
      version_ = fields.Integer().value_or(0);
    }
  }
  NoteDamage(fields);
  CountDamage("the header of the file");
}

Result<void> NcuReader::AddNames(std::string_view message) {
  MessageFields fields(message);
  while (fields.Next()) {
    const std::optional<std::string_view> bytes = fields.Bytes();
    if (fields.number() != 1 || !bytes.has_value()) {
      continue;
    }
    if (report_.metrics.size() == kMostNames) {
      return Error{ErrorCode::kCorrupt,
                   fmt::format("more than {} names of metrics, which no report has", kMostNames),
                   "make the report again"};
    }
    const auto metric = static_cast<uint32_t>(report_.metrics.size());
    std::string name = Text(*bytes);
    if (name == "device__attribute_device_index") {
      device_index_metric_ = metric;
    } else if (name == "launch__device_id") {
      device_id_metric_ = metric;
    }
    std::string unit(UnitOfMetric(name));
    report_.metrics.push_back({std::move(name), std::move(unit)});
  }
  NoteDamage(fields);
  return {};
}

void NcuReader::CountSensitive(std::string_view what) {
  const auto same = std::find_if(report_.sensitive.begin(), report_.sensitive.end(),
                                 [what](const auto& row) { return row.first == what; });
  if (same == report_.sensitive.end()) {
    report_.sensitive.emplace_back(what, 1);
  } else {
    ++same->second;
  }
}

void NcuReader::ReadProcess(std::string_view message) {
  MessageFields fields(message);
  while (fields.Next()) {
    const std::string_view bytes = fields.Bytes().value_or(std::string_view());
    if (fields.number() == 2 && !bytes.empty() && hosts_.insert(std::string(bytes)).second) {
      CountSensitive("host name");
    } else if (fields.number() == 3 && report_.program.empty()) {
      report_.program = Text(bytes.substr(bytes.find_last_of("/\\") + 1));
    }
  }
  NoteDamage(fields);
}

void NcuReader::ReadDevice(std::string_view message) {
  MessageFields fields(message);
  while (fields.Next()) {
    if (fields.number() == 2 && fields.Bytes().has_value() && !fields.Bytes()->empty()) {
      devices_.insert(Text(*fields.Bytes()));
    }
  }
  NoteDamage(fields);
}

// "2025.3.1" of "2025.3.1.0 (build 36398880) (public-release)".
std::string_view ReleaseOf(std::string_view version) {
  version = version.substr(0, version.find(' '));
  size_t end = 0;
  for (int part = 0; part < 3 && end != std::string_view::npos; ++part) {
    end = version.find('.', part == 0 ? 0 : end + 1);
  }
  constexpr size_t kLongest = 64;
  return version.substr(0, std::min(end, kLongest));
}

void NcuReader::ReadKeyAndText(std::string_view message) {
  std::string_view key;
  std::string_view text;
  MessageFields fields(message);
  while (fields.Next()) {
    const std::string_view bytes = fields.Bytes().value_or(std::string_view());
    if (fields.number() == 1) {
      key = bytes;
    } else if (fields.number() == 2) {
      text = bytes;
    }
  }
  NoteDamage(fields);
  if (key == "Nsight Compute Target" && !text.empty()) {
    report_.tool = "Nsight Compute " + Text(ReleaseOf(text));
  }
}

// The value of "--cache-control none" or "--cache-control=none".
std::string_view OptionIn(std::string_view line, std::string_view option) {
  for (size_t at = line.find(option); at != std::string_view::npos;
       at = line.find(option, at + 1)) {
    const std::string_view rest = line.substr(at + option.size());
    const bool is_begin = at == 0 || line[at - 1] == ' ';
    if (is_begin && (rest.starts_with(' ') || rest.starts_with('='))) {
      return rest.substr(1, rest.find(' ', 1) - 1);
    }
  }
  return {};
}

CounterSetting SettingOf(std::string_view value) {
  return value == "none" ? CounterSetting::kNo : CounterSetting::kYes;
}

void NcuReader::ReadCommandLine(std::string_view line) {
  report_.caches_flushed = SettingOf(OptionIn(line, "--cache-control"));
  report_.clocks_held = SettingOf(OptionIn(line, "--clock-control"));
  constexpr size_t kLongest = 64;
  report_.replay_mode = Text(OptionIn(line, "--replay-mode").substr(0, kLongest));
  report_.graph_profiling = Text(OptionIn(line, "--graph-profiling").substr(0, kLongest));
}

void NcuReader::ReadSession(std::string_view message) {
  MessageFields fields(message);
  while (fields.Next()) {
    const std::optional<std::string_view> bytes = fields.Bytes();
    if (fields.number() == 2) {
      report_.started_s = fields.Count().value_or(report_.started_s);
    }
    if (!bytes.has_value()) {
      continue;
    }
    switch (fields.number()) {
      case 3:
        CountSensitive("system");
        break;
      case 4:
        CountSensitive("network addresses");
        break;
      case 6:
        ReadDevice(*bytes);
        break;
      case 8:
        ReadKeyAndText(*bytes);
        break;
      case 9:
        CountSensitive("program and environment");
        break;
      case 11:
        CountSensitive("command line");
        ReadCommandLine(*bytes);
        break;
      default:
        break;
    }
  }
  NoteDamage(fields);
}

Result<BlockHeader> NcuReader::ReadBlockHeader(std::string_view message, uint64_t at) {
  at_ = at;
  BlockHeader header;
  MessageFields fields(message);
  while (fields.Next()) {
    const uint64_t number = fields.Integer().value_or(0);
    const std::string_view bytes = fields.Bytes().value_or(std::string_view());
    switch (fields.number()) {
      case 1:
        header.sources = number;
        break;
      case 2:
        header.results = number;
        break;
      case 3:
        ReadSession(bytes);
        break;
      case 4:
        BS_TRY(AddNames(bytes));
        break;
      case 5:
        header.payload_bytes = number;
        break;
      case 6:
        ReadProcess(bytes);
        break;
      case 7:
        header.range_results = number;
        break;
      default:
        break;
    }
  }
  NoteDamage(fields);
  CountDamage("the header of a block");
  return header;
}

NcuReader::StoredValue NcuReader::ReadValue(std::string_view message) {
  StoredValue value;
  MessageFields fields(message);
  while (fields.Next()) {
    switch (fields.number()) {
      case 1:
        value.text = fields.Bytes();
        break;
      case 2:
        value.number = fields.Float();
        break;
      case 3:
        value.number = fields.Double();
        break;
      case 4:
      case 5:
        if (fields.Integer().has_value()) {
          value.number = static_cast<double>(*fields.Integer());
          value.exact = ExactWhole(*fields.Integer());
        }
        break;
      default:
        break;
    }
  }
  NoteDamage(fields);
  return value;
}

void NcuReader::AddMetric(std::string_view message, CountedKernel& kernel) {
  uint64_t name = ~uint64_t{0};
  StoredValue value;
  MessageFields fields(message);
  while (fields.Next()) {
    if (fields.number() == 1) {
      name = fields.Integer().value_or(name);
    } else if (fields.number() == 2 && fields.Bytes().has_value()) {
      value = ReadValue(*fields.Bytes());
    }
  }
  NoteDamage(fields);
  if (name >= report_.metrics.size()) {
    diagnostics_.Count(Diag::kUnnamedMetric, at_, fmt::format("metric {}", name));
    return;
  }
  const auto metric = static_cast<uint32_t>(name);
  if (value.text.has_value()) {
    kernel.texts.push_back({metric, Text(*value.text)});
  } else if (value.number.has_value() && !(std::abs(*value.number) <= kLargest)) {  // NaN, too
    diagnostics_.Count(Diag::kNonFiniteNumber, at_, report_.metrics[metric].name);
  } else if (value.number.has_value()) {
    kernel.values.push_back({metric, *value.number, 0, value.exact});
  }
}

std::array<int64_t, 3> NcuReader::ReadSize(std::string_view message) {
  std::array<int64_t, 3> size = {};
  MessageFields fields(message);
  while (fields.Next()) {
    if (fields.number() >= 1 && fields.number() <= size.size()) {
      size[fields.number() - 1] = fields.Count().value_or(0);
    }
  }
  NoteDamage(fields);
  return size;
}

void NcuReader::ReadClocks(std::string_view message) {
  MessageFields fields(message);
  while (fields.Next()) {
    if (fields.number() == 1 && fields.Integer().has_value()) {
      (*fields.Integer() == 0 ? has_free_clocks_ : has_held_clocks_) = true;
    }
  }
  NoteDamage(fields);
}

// What a rule says: nothing, or several things.
void NcuReader::ReadRule(std::string_view message, CountedKernel& kernel) {
  // Every piece of advice has the name of its rule: a small file could ask for their product.
  constexpr size_t kLongestRule = 256;
  constexpr size_t kMostAdvice = 10'000;
  std::string rule;
  std::vector<std::string_view> bodies;
  MessageFields fields(message);
  while (fields.Next()) {
    if (fields.number() == 1) {
      rule = Text(fields.Bytes().value_or(std::string_view()).substr(0, kLongestRule));
    } else if (fields.number() == 3 && fields.Bytes().has_value()) {
      bodies.push_back(*fields.Bytes());
    }
  }
  NoteDamage(fields);
  for (const std::string_view body : bodies) {
    MessageFields items(body);
    while (items.Next()) {
      if (items.number() == 1 && items.Bytes().has_value() && kernel.advice.size() < kMostAdvice) {
        ReadAdvice(*items.Bytes(), rule, kernel);
      }
    }
    NoteDamage(items);
  }
}

void NcuReader::ReadAdvice(std::string_view message, const std::string& rule,
                           CountedKernel& kernel) {
  CountedKernel::Advice advice{.rule = rule};
  MessageFields fields(message);
  while (fields.Next()) {
    const std::string_view bytes = fields.Bytes().value_or(std::string_view());
    MessageFields parts(bytes);
    if (fields.number() == 1) {
      while (parts.Next()) {
        std::string& text = parts.number() == 4 ? advice.title : advice.text;
        if ((parts.number() == 1 || parts.number() == 4) && parts.Bytes().has_value()) {
          text = Text(*parts.Bytes());
        }
      }
    } else if (fields.number() == 8) {
      ReadFocus(bytes, advice);
    } else if (fields.number() == 10) {
      while (parts.Next()) {
        if (parts.number() == 1) {
          advice.is_of_part = parts.Integer() == uint64_t{1};
        } else if (parts.number() == 2) {
          const double percent = parts.Double().value_or(-1);
          advice.speedup_percent = percent >= 0 && percent <= 100 ? percent : -1;
        }
      }
    }
    NoteDamage(parts);
  }
  NoteDamage(fields);
  if (!advice.text.empty() || !advice.title.empty()) {
    kernel.advice.push_back(std::move(advice));
  }
}

void NcuReader::ReadFocus(std::string_view message, CountedKernel::Advice& advice) {
  std::string metric;
  std::optional<double> value;
  MessageFields fields(message);
  while (fields.Next()) {
    if (fields.number() == 2) {
      metric = Text(fields.Bytes().value_or(std::string_view()));
    } else if (fields.number() == 3) {
      value = fields.Double();
    }
  }
  NoteDamage(fields);
  if (!metric.empty() && value.has_value() && std::abs(*value) <= kLargest) {
    advice.focus.emplace_back(std::move(metric), *value);
  }
}

void NcuReader::NameKernel(std::string_view mangled, std::string_view readable,
                           CountedKernel& kernel) {
  has_mangled_names_ &= !mangled.empty();
  if (mangled.starts_with("_Z")) {
    kernel.name = Text(demangle_(mangled));
  } else {
    kernel.name = Text(!mangled.empty() ? mangled : readable);
  }
  if (kernel.name.empty()) {
    kernel.name = kernel.function;
  } else if (kernel.function.empty()) {
    kernel.function = FunctionInName(kernel.name);
  }
}

void NcuReader::FindDevice(CountedKernel& kernel) const {
  const auto value_of = [&](std::optional<uint32_t> metric) -> std::optional<double> {
    const auto value =
        std::find_if(kernel.values.begin(), kernel.values.end(),
                     [&](const CountedKernel::Value& v) { return v.metric == metric; });
    return value == kernel.values.end() ? std::nullopt : std::optional(value->value);
  };
  constexpr double kMostDevices = 1 << 20;
  const double device =
      value_of(device_index_metric_).value_or(value_of(device_id_metric_).value_or(0));
  kernel.device = device >= 0 && device < kMostDevices ? static_cast<int64_t>(device) : 0;
}

void NcuReader::ReadRanges(std::string_view message, CountedKernel& kernel) {
  NvtxState nvtx;
  is_damaged_ |= !nvtx.Read(message);
  kernel.ranges.clear();
  kernel.range_numbers.clear();
  if (!nvtx.LabelKernel(kernel)) {
    diagnostics_.Count(Diag::kNvtxThreadUnknown, at_, "a kernel");
  }
  for (std::string& label : kernel.ranges) {
    label = Text(label);
  }
}

Error TooManyMetrics() {
  return {ErrorCode::kCorrupt,
          fmt::format("a kernel with more than {} metrics, which no report has", kMostMetrics),
          "make the report again"};
}

Result<void> NcuReader::ReadResult(std::string_view message, uint64_t at) {
  at_ = at;
  CountedKernel kernel;
  std::string_view mangled;
  std::string_view readable;
  size_t metrics = 0;
  MessageFields fields(message);
  while (fields.Next()) {
    const std::string_view bytes = fields.Bytes().value_or(std::string_view());
    switch (fields.number()) {
      case 1:
        kernel.pid = fields.Count().value_or(0);
        break;
      case 5:
        mangled = bytes;
        break;
      case 6:
        kernel.function = Text(bytes);
        break;
      case 7:
        readable = bytes;
        break;
      case 10:
        kernel.grid = ReadSize(bytes);
        break;
      case 11:
        kernel.block = ReadSize(bytes);
        break;
      case 13:
        if (++metrics > kMostMetrics) {
          return TooManyMetrics();
        }
        AddMetric(bytes, kernel);
        break;
      case 19:
        ReadRule(bytes, kernel);
        break;
      case 21:
        ReadRanges(bytes, kernel);
        break;
      case 22:
        kernel.context = fields.Count().value_or(0);
        break;
      case 23:
        kernel.stream = fields.Count().value_or(0);
        break;
      case 25:
        ReadClocks(bytes);
        break;
      case 28:
        CountSensitive("call stack");
        break;
      default:
        break;
    }
  }
  NoteDamage(fields);
  CountDamage("a kernel");
  NameKernel(mangled, readable, kernel);
  FindDevice(kernel);
  if (!kernel.name.empty() || !kernel.values.empty()) {
    report_.kernels.push_back(std::move(kernel));
  }
  return {};
}

void NcuReader::Finish() {
  report_.whole_names = has_mangled_names_;
  if (report_.tool.empty()) {
    report_.tool = "Nsight Compute";
  }
  for (const std::string& device : devices_) {
    report_.device += (report_.device.empty() ? "" : ", ") + device;
  }
  if (has_held_clocks_ != has_free_clocks_) {
    report_.clocks_held = has_held_clocks_ ? CounterSetting::kYes : CounterSetting::kNo;
  }
  FinishReport(report_, diagnostics_);
}

// Reads the blocks of a file.
class Container {
 public:
  Container(ForwardBytes& bytes, NcuReader& reader, Diagnostics& diagnostics)
      : bytes_(bytes), reader_(reader), diagnostics_(diagnostics) {}

  // False if the bytes are not those of a report.
  bool ReadBegin();
  // To the end of the file, or to where it is cut off.
  Result<void> ReadBlocks();

 private:
  // How reading an entry ended.
  enum class Took : uint8_t { kEntry, kEndOfPayload, kEndOfFile };

  std::optional<uint32_t> TakeSize();
  std::optional<std::string_view> TakeMessage();
  // The next entry of a payload; `left` are its bytes that are left. Only with `text` it is read.
  Took TakeEntry(uint64_t& left, std::string_view* text);
  // False at the end of the file.
  Result<bool> ReadPayload(const BlockHeader& header);
  void CountTruncated() {
    diagnostics_.Count(Diag::kTruncatedReport, at_, "the last complete entry ends there");
  }

  ForwardBytes& bytes_;
  NcuReader& reader_;
  Diagnostics& diagnostics_;
  uint64_t at_ = 0;     // behind what was read completely
  uint64_t entry_ = 0;  // where the last message begins
};

// Little endian.
std::optional<uint32_t> Container::TakeSize() {
  constexpr size_t kSizeBytes = 4;
  const std::optional<std::string_view> bytes = bytes_.Take(kSizeBytes);
  if (!bytes.has_value()) {
    return std::nullopt;
  }
  uint32_t size = 0;
  for (size_t i = 0; i < kSizeBytes; ++i) {
    size |= uint32_t{static_cast<unsigned char>((*bytes)[i])} << (8 * i);
  }
  return size;
}

std::optional<std::string_view> Container::TakeMessage() {
  const std::optional<uint32_t> size = TakeSize();
  if (!size.has_value()) {
    return std::nullopt;
  }
  entry_ = at_ + 4;
  const std::optional<std::string_view> message = bytes_.Take(*size);
  at_ += message.has_value() ? 4 + uint64_t{*size} : 0;
  return message;
}

bool Container::ReadBegin() {
  const std::optional<std::string_view> magic = bytes_.Take(kMagic.size());
  if (!magic.has_value() || *magic != kMagic) {
    return false;
  }
  at_ = kMagic.size();
  const std::optional<std::string_view> header = TakeMessage();
  if (header.has_value()) {
    reader_.ReadFileHeader(*header, entry_);
  }
  return header.has_value();
}

Container::Took Container::TakeEntry(uint64_t& left, std::string_view* text) {
  constexpr uint64_t kSizeBytes = 4;
  if (left < kSizeBytes) {
    return Took::kEndOfPayload;
  }
  const std::optional<uint32_t> size = TakeSize();
  if (!size.has_value()) {
    return Took::kEndOfFile;
  }
  left -= kSizeBytes;
  entry_ = at_ + kSizeBytes;
  if (*size > left) {
    at_ = entry_;
    return Took::kEndOfPayload;
  }
  if (text == nullptr) {
    if (!bytes_.Skip(*size)) {
      return Took::kEndOfFile;
    }
  } else {
    const std::optional<std::string_view> message = bytes_.Take(*size);
    if (!message.has_value()) {
      return Took::kEndOfFile;
    }
    *text = *message;
  }
  left -= *size;
  at_ = entry_ + *size;
  return Took::kEntry;
}

Result<bool> Container::ReadPayload(const BlockHeader& header) {
  uint64_t left = header.payload_bytes;
  const uint64_t end = at_ + left;
  Took took = Took::kEntry;
  for (uint64_t i = 0; i < header.sources && took == Took::kEntry; ++i) {
    CheckStopAt(i);
    took = TakeEntry(left, nullptr);
  }
  for (uint64_t i = 0; i < header.results && took == Took::kEntry; ++i) {
    CheckStop();
    std::string_view message;
    took = TakeEntry(left, &message);
    if (took == Took::kEntry) {
      BS_TRY(reader_.ReadResult(message, entry_));
    }
  }
  // Those that are there: the header may claim any number.
  const uint64_t first = at_;
  uint64_t range_results = 0;
  for (uint64_t i = 0; i < header.range_results && took == Took::kEntry; ++i) {
    CheckStopAt(i);
    took = TakeEntry(left, nullptr);
    range_results += took == Took::kEntry ? 1 : 0;
  }
  diagnostics_.CountMany(Diag::kUnreadRangeResults, range_results, first);
  if (took == Took::kEndOfFile) {
    return false;
  }
  if (left != 0 || took == Took::kEndOfPayload) {
    diagnostics_.Count(Diag::kDamagedBlock, at_, fmt::format("{} bytes are no entries", left));
  }
  if (!bytes_.Skip(left)) {
    return false;
  }
  at_ = end;
  return true;
}

Result<void> Container::ReadBlocks() {
  while (!bytes_.AtEnd()) {
    CheckStop();
    const std::optional<std::string_view> message = TakeMessage();
    if (!message.has_value()) {
      CountTruncated();
      return {};
    }
    BS_ASSIGN(const BlockHeader header, reader_.ReadBlockHeader(*message, entry_));
    BS_ASSIGN(const bool is_whole, ReadPayload(header));
    if (!is_whole) {
      CountTruncated();
      return {};
    }
  }
  return {};
}

}  // namespace

namespace {

// By metric, each once: the first one counts. Returns how many were repeated.
template <class T>
uint64_t SortByMetric(std::vector<T>& values) {
  const auto by_metric = [](const T& a, const T& b) { return a.metric < b.metric; };
  std::stable_sort(values.begin(), values.end(), by_metric);
  const auto end = std::unique(values.begin(), values.end(),
                               [](const T& a, const T& b) { return a.metric == b.metric; });
  const auto repeated = static_cast<uint64_t>(values.end() - end);
  values.erase(end, values.end());
  return repeated;
}

void CountWithoutValue(const CounterReport& report, Diagnostics& diagnostics) {
  constexpr size_t kMostShown = 4;
  std::string names;
  for (size_t i = 0; i < report.without_value.size() && i < kMostShown; ++i) {
    names += (i == 0 ? "" : ", ") + report.metrics[report.without_value[i].first].name;
  }
  if (report.without_value.size() > kMostShown) {
    names += fmt::format(" and {} more", report.without_value.size() - kMostShown);
  }
  diagnostics.CountMany(Diag::kMetricWithoutValue, report.without_value.size(),
                        Diagnostics::kNoByte, names);
}

}  // namespace

void FinishReport(CounterReport& report, Diagnostics& diagnostics) {
  std::optional<uint32_t> duration;
  for (uint32_t metric = 0; metric < report.metrics.size(); ++metric) {
    if (report.metrics[metric].name == "gpu__time_duration.sum") {
      duration = metric;
    }
  }
  std::vector<uint64_t> kernels_with(report.metrics.size());  // a value
  constexpr double kLongest = 1e18;
  for (size_t i = 0; i < report.kernels.size(); ++i) {
    CheckStopAt(i);
    CountedKernel& kernel = report.kernels[i];
    const uint64_t repeated = SortByMetric(kernel.values) + SortByMetric(kernel.texts);
    diagnostics.CountMany(Diag::kDuplicateKey, repeated, Diagnostics::kNoByte, kernel.name);
    for (const CountedKernel::Value& value : kernel.values) {
      ++kernels_with[value.metric];
      if (value.metric == duration && value.value >= 0 && value.value <= kLongest) {
        kernel.dur_ns = std::llround(value.value);
      }
    }
    for (const CountedKernel::Text& text : kernel.texts) {
      ++kernels_with[text.metric];
    }
  }
  const uint64_t kernels = report.kernels.size();
  for (uint32_t metric = 0; metric < report.metrics.size(); ++metric) {
    if (kernels_with[metric] < kernels) {
      report.without_value.emplace_back(metric, kernels - kernels_with[metric]);
    }
  }
  CountWithoutValue(report, diagnostics);
}

Result<CounterReport> ReadNcuReport(ForwardBytes& bytes, const std::string& name,
                                    Diagnostics& diagnostics) {
  CounterReport report;
  report.file = name;
  NcuReader reader(report, diagnostics);
  Container container(bytes, reader, diagnostics);
  const bool has_begin = container.ReadBegin();
  if (!has_begin && !bytes.error().has_value()) {
    return Error{ErrorCode::kCorrupt, "the report ends before its first kernel",
                 "copy it again, or let ncu finish", name};
  }
  Result<void> read = has_begin ? container.ReadBlocks() : Result<void>();
  if (bytes.error().has_value()) {
    return InFile(name, *bytes.error());
  }
  if (!read.ok()) {
    return InFile(name, read.error());
  }
  if (reader.version() != kKnownVersion) {
    const std::string version = fmt::format("version {}", reader.version());
    if (report.kernels.empty()) {
      return Error{ErrorCode::kUnsupportedFormat,
                   "a report of Nsight Compute of " + version + ", in which no kernel was found",
                   "export it with ncu --import FILE --csv --page raw --print-units base, and give "
                   "that text",
                   name};
    }
    diagnostics.Count(Diag::kUnknownReportVersion, Diagnostics::kNoByte, version);
  }
  reader.Finish();
  return report;
}

}  // namespace borescope::internal
