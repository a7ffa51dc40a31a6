#include "borescope/ingest/recording/log_names.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>

#include "borescope/ingest/cupti/cupti_names.h"
#include "borescope/ingest/time_limit.h"
#include "borescope/json/json_cursor.h"
#include "borescope/json/json_string.h"
#include "borescope/json/number.h"

namespace borescope::internal {

namespace {

template <class T>
constexpr size_t kWordsOf = sizeof(T) / sizeof(uint64_t);

size_t PlainWords(recording::RecordType type) {
  using Type = recording::RecordType;
  switch (type) {
    case Type::kString:
    case Type::kProcess:
      return 0;
    case Type::kPush:
    case Type::kPop:
    case Type::kMark:
    case Type::kPythonCall:
    case Type::kPythonReturn:
    case Type::kPythonCode:
    case Type::kDevice:
    case Type::kState:
      return 1;
    case Type::kThread:
    case Type::kRangeStart:
    case Type::kRangeEnd:
    case Type::kName:
    case Type::kExternal:
    case Type::kSample:
    case Type::kEnd:
      return 2;
    case Type::kOverhead:
    case Type::kDropped:
      return 3;
    case Type::kAnchor:
    case Type::kCall:
    case Type::kCallDetail:
    case Type::kSync:
    case Type::kGraphRun:
      return 4;
    case Type::kCounters:
      return kWordsOf<recording::CountersBody>;
    case Type::kOperator:
      return 5;
    case Type::kMemory:
      return 6;
    case Type::kKernel:
      return kWordsOf<recording::KernelBody>;
    case Type::kCopy:
    case Type::kSet:
      return kWordsOf<recording::CopyBody>;
    case Type::kEndOfChunk:
      break;
  }
  return kUnknownRecord;
}

}  // namespace

size_t LeastWords(const recording::RecordHead& head) {
  using Type = recording::RecordType;
  const auto type = static_cast<Type>(head.type);
  const bool may_have_attributes =
      type == Type::kPush || type == Type::kMark || type == Type::kRangeStart;
  const bool has_thread = type == Type::kOperator && (head.flags & recording::kHasThread) != 0;
  return PlainWords(type) + (has_thread ? 1 : 0) +
         (may_have_attributes && (head.flags & recording::kHasAttributes) != 0
              ? kWordsOf<recording::Attributes>
              : 0);
}

namespace {

struct NumberMember {
  std::string_view key;
  int64_t DeviceInfo::* member;
};
constexpr NumberMember kNumberMembers[] = {
    {"total_bytes", &DeviceInfo::total_bytes},
    {"multiprocessors", &DeviceInfo::multiprocessors},
    {"compute_major", &DeviceInfo::compute_major},
    {"compute_minor", &DeviceInfo::compute_minor},
    {"warp_size", &DeviceInfo::warp_size},
    {"max_threads_per_multiprocessor", &DeviceInfo::max_threads_per_multiprocessor},
};

void TakeMember(DeviceInfo& info, std::string_view key, std::string_view value) {
  if (key == "name" && IsString(value)) {
    info.name = StringText(value);
  }
  const auto* const row =
      std::find_if(std::begin(kNumberMembers), std::end(kNumberMembers),
                   [key](const NumberMember& number) { return number.key == key; });
  if (row != std::end(kNumberMembers)) {
    info.*row->member = LooseIntValue(value).value_or(kMissing);
  }
}

}  // namespace

void AddRecordedDevice(std::vector<DeviceInfo>& devices, uint32_t id, std::string_view text) {
  DeviceInfo info;
  info.id = id;
  JsonCursor cursor(text);
  std::string_view key;
  cursor.EnterObject();
  while (cursor.NextMember(key)) {
    TakeMember(info, key, cursor.Value());
  }
  devices.push_back(std::move(info));
}

SeriesName ParseSeriesName(std::string_view text) {
  const size_t first = text.find('/');
  const size_t second = first == std::string_view::npos ? first : text.find('/', first + 1);
  if (second == std::string_view::npos) {
    return {};
  }
  const ParsedNumber number = ParseInteger(text.substr(first + 1, second - first - 1));
  if (number.status != NumberStatus::kOk) {
    return {};
  }
  return {text.substr(0, first), number.value, text.substr(second + 1)};
}

namespace {

using recording::NameKind;
using recording::RecordType;

std::string Hex(uint64_t address) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  do {
    text.insert(text.begin(), kDigits[address & 15U]);
    address >>= 4U;
  } while (address != 0);
  return "0x" + text;
}

// Empty for kinds that the trace has in other places.
std::string DetailText(uint64_t kind, uint64_t first, uint64_t second) {
  switch (static_cast<recording::CallDetailKind>(kind)) {
    case recording::CallDetailKind::kAllocation:
      return "address=" + Hex(first) + ", bytes=" + std::to_string(second);
    case recording::CallDetailKind::kFree:
      return "address=" + Hex(first);
    case recording::CallDetailKind::kCopy:
      return "bytes=" + std::to_string(first);
    case recording::CallDetailKind::kLaunch:
    case recording::CallDetailKind::kLaunchShape:
      break;
  }
  return {};
}

}  // namespace

uint64_t LastMomentOf(const LogRecord& record) {
  switch (record.type()) {
    case RecordType::kCounters:
    case RecordType::kCall:
    case RecordType::kOperator:
    case RecordType::kKernel:
    case RecordType::kCopy:
    case RecordType::kSet:
    case RecordType::kSync:
    case RecordType::kGraphRun:
    case RecordType::kOverhead:
      return std::max(record.body[0], record.body[1]);
    case RecordType::kPush:
    case RecordType::kPop:
    case RecordType::kMark:
    case RecordType::kRangeStart:
    case RecordType::kRangeEnd:
    case RecordType::kPythonCall:
    case RecordType::kPythonReturn:
    case RecordType::kMemory:
    case RecordType::kSample:
    case RecordType::kState:
    case RecordType::kEnd:
      return record.body[0];
    default:
      return 0;
  }
}

bool IsNameRecord(const LogRecord& record) {
  switch (record.type()) {
    case RecordType::kString:
    case RecordType::kAnchor:
    case RecordType::kProcess:
    case RecordType::kThread:
    case RecordType::kName:
    case RecordType::kPythonCode:
    case RecordType::kDevice:
      return true;
    default:
      return false;
  }
}

void LogNames::AddChunk(const recording::ChunkHeader& header) {
  if (header.pthread_self != 0 && header.tid != 0) {
    threads_[LowHalf(header.pthread_self)] = header.tid;
  }
}

void LogNames::Reached(uint64_t ns) {
  last_ns_ = std::max(last_ns_, static_cast<int64_t>(std::min<uint64_t>(ns, kTimeLimitNs)));
}

void LogNames::Add(const LogRecord& record) {
  switch (record.type()) {
    case RecordType::kString:
      texts_[record.head.a] = trace_.Intern(record.Text(0));
      return;
    case RecordType::kAnchor:
      return AddAnchor(record);
    case RecordType::kProcess:
      process_text_ = record.Text(0);
      return;
    case RecordType::kThread:
      if (record.body[0] != 0) {
        threads_[LowHalf(record.body[0])] = record.head.a;
      }
      trace_.part().thread_names.push_back(
          {process_.pid, record.head.a, trace_.Intern(record.Text(2))});
      return;
    case RecordType::kName:
      return AddName(record);
    case RecordType::kPythonCode:
      codes_.push_back(
          {record.head.a,
           {LowHalf(record.body[0]), HighHalf(record.body[0]), trace_.Intern(record.Text(1))}});
      return;
    case RecordType::kDevice:
      return AddDevice(record);
    case RecordType::kCallDetail:
      return AddDetail(record);
    case RecordType::kExternal:
      externals_[record.head.a] = static_cast<int64_t>(record.body[1]);
      return;
    case RecordType::kCounters:
      AddCounters(record);
      break;
    default:
      break;
  }
  Reached(LastMomentOf(record));
}

void LogNames::AddName(const LogRecord& record) {
  const StringId text = trace_.Intern(record.Text(2));
  const auto kind = static_cast<NameKind>(record.head.a);
  if (kind == NameKind::kDomain) {
    domains_[LowHalf(record.body[0])] = text;
  } else if (kind == NameKind::kThread) {
    trace_.part().thread_names.push_back({process_.pid, LowHalf(record.body[1]), text});
  } else if (kind == NameKind::kCall) {
    const auto domain = static_cast<recording::ApiDomain>(record.body[0]);
    const bool is_cuda = domain == recording::ApiDomain::kRuntime ||  //
                         domain == recording::ApiDomain::kDriver;
    trace_.NameCall(domain, LowHalf(record.body[1]),
                    is_cuda ? trace_.Intern(ApiName(record.Text(2))) : text);
  }
}

// Values that are no numbers are none.
void LogNames::AddCounters(const LogRecord& record) {
  CountedLaunch launch{record.As<recording::CountersBody>(), {}};
  constexpr size_t kHead = kWordsOf<recording::CountersBody>;
  const size_t count = std::min<size_t>(launch.body.count, (record.body.size() - kHead) / 2);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t* const pair = record.body.data() + kHead + 2 * i;
    const auto value = std::bit_cast<double>(pair[1]);
    if (std::isfinite(value)) launch.values.emplace_back(LowHalf(pair[0]), value);
  }
  counters_.emplace(record.head.a, std::move(launch));
}

const CountedLaunch* LogNames::CountersOf(uint32_t correlation) const {
  const auto found = counters_.find(correlation);
  return found == counters_.end() ? nullptr : &found->second;
}

// The reading that took least time says best which times of the clocks are the same instant.
void LogNames::AddAnchor(const LogRecord& record) {
  const uint64_t half_width = record.body[3];
  if (half_width < half_width_) {
    half_width_ = half_width;
    base_ns_ = static_cast<int64_t>(record.body[1] - record.body[0]);
  }
}

void LogNames::AddDevice(const LogRecord& record) {
  const auto kind = static_cast<recording::DeviceRecordKind>(record.head.a);
  if (kind == recording::DeviceRecordKind::kContext) {
    devices_[LowHalf(record.body[0])] = HighHalf(record.body[0]);
  } else if (kind == recording::DeviceRecordKind::kDevice) {
    AddRecordedDevice(trace_.data().meta.devices, LowHalf(record.body[0]), record.Text(1));
  }
}

// Kernels without a call have the number 0, as calls without a number.
void LogNames::AddShape(const LogRecord& record) {
  if (record.head.a == 0) {
    return;
  }
  constexpr uint64_t kBlockMask = 0xffff;
  const uint64_t block = record.body[3];
  shapes_[record.head.a] = {
      {LowHalf(record.body[1]), HighHalf(record.body[1]), LowHalf(record.body[2])},
      {static_cast<uint32_t>(block & kBlockMask), static_cast<uint32_t>(block >> 16U & kBlockMask),
       static_cast<uint32_t>(block >> 32U & kBlockMask)},
      HighHalf(record.body[2])};
}

const LaunchShape* LogNames::ShapeOf(uint32_t correlation) const {
  const auto found = shapes_.find(correlation);
  return found == shapes_.end() ? nullptr : &found->second;
}

void LogNames::AddDetail(const LogRecord& record) {
  if (record.body[0] == static_cast<uint64_t>(recording::CallDetailKind::kLaunchShape)) {
    return AddShape(record);
  }
  const std::string text = DetailText(record.body[0], record.body[1], record.body[2]);
  if (!text.empty()) {
    arguments_[record.head.a] = trace_.Intern(text);
  }
}

// Kineto's form, so that frames of both are the same.
void LogNames::Finish() {
  for (const auto& [number, code] : codes_) {
    std::string frame(trace_.data().strings.Get(Text(code.file)));
    if (frame.empty()) {
      frames_[number] = code.name;
      continue;
    }
    frame.append("(").append(std::to_string(code.line)).append("): ");
    frame.append(trace_.data().strings.Get(code.name));
    frames_[number] = trace_.Intern(frame);
  }
}

StringId LogNames::Text(uint32_t id) {
  const auto found = texts_.find(id);
  if (found != texts_.end()) {
    return found->second;
  }
  if (id != 0) {
    trace_.diagnostics().Count(Diag::kDanglingReference, Diagnostics::kNoByte,
                               "text " + std::to_string(id));
  }
  return StringId{0};
}

StringId LogNames::Frame(uint32_t code) {
  const auto found = frames_.find(code);
  if (found != frames_.end()) {
    return found->second;
  }
  trace_.diagnostics().Count(Diag::kDanglingReference, Diagnostics::kNoByte,
                             "Python code " + std::to_string(code));
  return StringId{0};
}

int64_t LogNames::DeviceOf(uint32_t context) const {
  const auto found = devices_.find(context);
  return found == devices_.end() ? -1 : int64_t{found->second};
}

uint32_t LogNames::ThreadOf(uint64_t recorded) const {
  const auto found = recorded == 0 ? threads_.end() : threads_.find(LowHalf(recorded));
  return found == threads_.end() ? LowHalf(recorded) : found->second;
}

int64_t LogNames::ExternalOf(uint32_t correlation) const {
  const auto found = externals_.find(correlation);
  return found == externals_.end() ? kMissing : found->second;
}

}  // namespace borescope::internal
