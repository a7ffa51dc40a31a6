#include "borescope/packs/chakra/reference/device_events.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/text/text.h"
#include "borescope/json/json_cursor.h"
#include "borescope/json/json_string.h"

namespace borescope::internal::chakra::compat {
namespace {

// Sums of times stay exact below it, in 64 bits and, nearly, in a double.
constexpr double kLatest = 4e18;

std::optional<Number> NumberOf(std::string_view text) {
  if (const std::optional<int64_t> whole = ParseNumber<int64_t>(text); whole.has_value()) {
    return std::abs(static_cast<double>(*whole)) < kLatest ? std::optional(Number::Int(*whole))
                                                           : std::nullopt;
  }
  const std::optional<double> value = ParseNumber<double>(text);
  const bool is_good = value.has_value() && std::abs(*value) < kLatest;
  return is_good ? std::optional(Number::Double(*value)) : std::nullopt;
}

class DeviceReader {
 public:
  explicit DeviceReader(std::string text) {
    trace_.text = std::make_unique<const std::string>(std::move(text));
  }

  Result<DeviceTrace> Read() {
    JsonCursor cursor(*trace_.text);
    std::string_view key;
    bool has_events = false;
    if (!cursor.EnterObject()) {
      return Unsupported();
    }
    while (cursor.NextMember(key)) {
      if (key == "traceEvents" && cursor.EnterArray()) {
        has_events = true;
        BS_TRY(ReadEvents(cursor));
      } else {
        static_cast<void>(cursor.Value());
      }
    }
    if (cursor.failed()) {
      return Damaged(cursor);
    }
    trace_.threads = static_cast<uint32_t>(threads_.size());
    if (const auto zero = threads_.find("0"); zero != threads_.end()) {
      trace_.thread_zero = zero->second;
    }
    return has_events ? Result<DeviceTrace>(std::move(trace_)) : Unsupported();
  }

 private:
  static Error Unsupported() {
    return {ErrorCode::kUnsupportedFormat,
            "no trace of Kineto: it is no JSON object with a list \"traceEvents\""};
  }
  static Error Damaged(const JsonCursor& cursor) {
    return {.code = ErrorCode::kCorrupt,
            .cause = "the text ends early or is damaged here",
            .remedy = "without `compat` it is repaired",
            .offset = cursor.offset()};
  }

  Result<void> ReadEvents(JsonCursor& cursor) {
    constexpr size_t kBytesPerEvent = 256;
    trace_.events.clear();
    trace_.events.reserve(trace_.text->size() / kBytesPerEvent);
    while (cursor.NextElement()) {
      if (!cursor.EnterObject()) {
        return Damaged(cursor);
      }
      ReadEvent(cursor);
    }
    return cursor.failed() ? Damaged(cursor) : Result<void>();
  }

  void ReadEvent(JsonCursor& cursor) {
    DeviceEvent event;
    std::string_view key;
    while (cursor.NextMember(key)) {
      if (key == "args" && cursor.EnterObject()) {
        ReadArguments(cursor, event);
      } else {
        Take(key, cursor.Value(), event);
      }
    }
    event.thread = ThreadNumber(event.tid);
    trace_.events.push_back(event);
  }

  void Take(std::string_view key, std::string_view value, DeviceEvent& event) {
    if (key == "cat") {
      event.category = StringContent(value);
    } else if (key == "name") {
      event.name = StringContent(value);
      event.name_json = value;
    } else if (key == "ph") {
      event.phase = value;
    } else if (key == "pid") {
      event.pid = value;
    } else if (key == "tid") {
      event.tid = value;
    } else if (key == "ts") {
      event.has_begin = TakeTime(value, event.begin);
    } else if (key == "dur") {
      event.has_duration = TakeTime(value, event.duration);
    }
  }

  bool TakeTime(std::string_view value, Number& time) {
    const std::optional<Number> number = NumberOf(value);
    if (!number.has_value()) {
      trace_.diagnostics.Count(Diag::kBadFieldType, Diagnostics::kNoByte, "a time");
      return false;
    }
    time = *number;
    return true;
  }

  static void ReadArguments(JsonCursor& cursor, DeviceEvent& event) {
    std::string_view key;
    while (cursor.NextMember(key)) {
      const std::string_view value = cursor.Value();
      if (key == "External id") {
        event.external_id_given = LooseIntValue(value);
        event.external_id = event.external_id_given.value_or(kNone);
      } else if (key == "Record function id") {
        event.rf_id = ParseNumber<int64_t>(value);
      } else if (key == "correlation") {
        event.correlation = ParseNumber<int64_t>(value).value_or(kNone);
      } else if (key == "stream") {
        event.stream = value;
      } else if (key == "Process Group Name") {
        event.group = value == "null" ? std::string_view() : value;
      } else if (key == "wait_on_stream") {
        event.wait_on_stream = ParseNumber<int64_t>(value).value_or(kNone);
      } else if (key == "wait_on_cuda_event_record_corr_id") {
        event.wait_on_record_correlation = ParseNumber<int64_t>(value).value_or(kNone);
      }
    }
  }

  uint32_t ThreadNumber(std::string_view tid) {
    tid = tid.empty() ? "0" : tid;
    if (tid == last_tid_) {
      return last_thread_;
    }
    last_tid_ = tid;
    last_thread_ = threads_.try_emplace(tid, static_cast<uint32_t>(threads_.size())).first->second;
    return last_thread_;
  }

  DeviceTrace trace_;
  HashMap<std::string_view, uint32_t> threads_;
  std::string_view last_tid_;
  uint32_t last_thread_ = 0;
};

}  // namespace

Result<DeviceTrace> ReadDeviceTrace(std::string text) {
  return DeviceReader(std::move(text)).Read();
}

}  // namespace borescope::internal::chakra::compat
