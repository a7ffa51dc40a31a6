#include "borescope/output/json_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "borescope/base/check.h"
#include "borescope/output/utf8.h"

namespace borescope::internal {
namespace {

constexpr size_t kFlushBytes = 64 * 1024;

// What a byte below 0x20 is written as.
std::string EscapedControl(char byte) {
  switch (byte) {
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    case '\r':
      return "\\r";
    default:
      return fmt::format("\\u{:04x}", static_cast<unsigned>(byte));
  }
}

// How many bytes from the first on are written as they are: of nearly all texts all of them.
size_t PlainPrefix(std::string_view text) {
  const auto is_special = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte >= 0x80 || c == '"' || c == '\\' || c == '#';
  };
  return static_cast<size_t>(std::find_if(text.begin(), text.end(), is_special) - text.begin());
}

void AppendUnit(std::string& json, char32_t unit) {
  json += fmt::format("\\u{:04x}", static_cast<uint32_t>(unit));
}

// JSON whose texts, the only places of such characters, show what they hold. Those beyond the first
// plane are two units of UTF-16.
std::string EscapeUnprintable(std::string_view json) {
  std::string escaped;
  escaped.reserve(json.size());
  while (!json.empty()) {
    const CodePoint point = DecodeUtf8(json);
    if (point.value < 0x7F || !IsUnprintable(point.value)) {
      escaped += json.substr(0, point.bytes);
    } else if (point.value < 0x10000) {
      AppendUnit(escaped, point.value);
    } else {
      AppendUnit(escaped, 0xD800 + ((point.value - 0x10000) >> 10));
      AppendUnit(escaped, 0xDC00 + ((point.value - 0x10000) & 0x3FF));
    }
    json.remove_prefix(point.bytes);
  }
  return escaped;
}

}  // namespace

void AppendJsonString(std::string& json, std::string_view text) {
  json += '"';
  while (true) {
    const size_t plain = PlainPrefix(text);
    json += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) {
      break;
    }
    const CodePoint point = DecodeUtf8(text);
    if (point.value == '"' || point.value == '\\') {
      json += '\\';
      json += text.front();
    } else if (point.value < 0x20) {
      json += EscapedControl(text.front());
    } else if (IsCommandAnywhere(text)) {
      AppendUnit(json, U'#');
    } else {
      json += point.valid ? text.substr(0, point.bytes) : kReplacementUtf8;
    }
    text.remove_prefix(point.bytes);
  }
  json += '"';
}

std::string ShortestDouble(double value) {
  BS_DCHECK(std::isfinite(value));
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) {
    text += ".0";
  }
  return text;
}

void JsonWriter::Key(std::string_view key) {
  BeforeValue();
  AppendJsonString(buffer_, key);
  buffer_ += ':';
  needs_comma_ = false;
}

void JsonWriter::String(std::string_view text) {
  BeforeValue();
  AppendJsonString(buffer_, text);
}

void JsonWriter::Int(int64_t value) {
  BeforeValue();
  const fmt::format_int digits(value);
  buffer_.append(digits.data(), digits.size());
}

void JsonWriter::Uint(uint64_t value) {
  BeforeValue();
  const fmt::format_int digits(value);
  buffer_.append(digits.data(), digits.size());
}

void JsonWriter::Double(double value) {
  BeforeValue();
  buffer_ += std::isfinite(value) ? ShortestDouble(value) : "null";
}

void JsonWriter::Bool(bool value) {
  BeforeValue();
  buffer_ += value ? "true" : "false";
}

void JsonWriter::Null() {
  BeforeValue();
  buffer_ += "null";
}

Result<void> JsonWriter::Finish() {
  BS_DCHECK(depth_ == 0);
  buffer_ += '\n';
  Flush();
  return status_;
}

void JsonWriter::Begin(char bracket) {
  BeforeValue();
  buffer_ += bracket;
  needs_comma_ = false;
  ++depth_;
}

void JsonWriter::End(char bracket) {
  BS_DCHECK(depth_ > 0);
  PutBreak();
  buffer_ += bracket;
  needs_comma_ = true;
  --depth_;
}

void JsonWriter::BeforeValue() {
  if (needs_comma_) {
    buffer_ += ',';
  }
  PutBreak();
  if (buffer_.size() >= kFlushBytes) {
    Flush();
  }
  needs_comma_ = true;
}

void JsonWriter::PutBreak() {
  if (break_indent_ >= 0) {
    buffer_ += '\n';
    buffer_.append(static_cast<size_t>(break_indent_), ' ');
    break_indent_ = -1;
  }
}

void JsonWriter::Flush() {
  if (status_.ok()) {
    status_ = sink_.Write(printable_ ? EscapeUnprintable(buffer_) : buffer_);
  }
  buffer_.clear();
}

}  // namespace borescope::internal
