#include "borescope/output/json_values.h"

#include <algorithm>
#include <optional>

#include "borescope/base/text/text.h"
#include "borescope/json/json_check.h"
#include "borescope/json/json_cursor.h"
#include "borescope/json/json_string.h"
#include "borescope/output/utf8.h"

namespace borescope::internal {
namespace {

constexpr size_t kMostShown = 40;  // characters of a value in a message

// What a string says, nothing where it is not text.
std::optional<std::string> Decoded(std::string_view content) {
  std::string scratch;
  StringRepairs repairs;
  std::string text(DecodeString(content, scratch, repairs));
  const bool is_text = !repairs.invalid_utf8 && !repairs.control && !repairs.bad_escape;
  return is_text ? std::optional(std::move(text)) : std::nullopt;
}

// The byte where the text cannot go on as JSON; its size if it ends too early. Nothing if all of it
// is one value.
std::optional<size_t> FindFault(std::string_view text) {
  constexpr size_t kPiece = size_t{64} << 10;
  JsonCheck check;
  for (size_t at = 0; at < text.size(); at += kPiece) {
    JsonCheck slow = check;
    if (check.Take(text.substr(at, kPiece))) {
      continue;
    }
    while (at < text.size() && slow.Take(text.substr(at, 1))) {
      ++at;
    }
    return at;
  }
  return check.Finish() ? std::nullopt : std::optional(text.size());
}

}  // namespace

Error JsonValues::FaultAt(size_t offset, std::string_view cause) const {
  return {.code = ErrorCode::kCorrupt, .cause = std::string(cause), .offset = offset};
}

Error JsonValues::Fault(std::string_view at, std::string_view cause) const {
  return FaultAt(static_cast<size_t>(at.data() - text_.data()), cause);
}

Error JsonValues::NotA(std::string_view value, std::string_view what) const {
  const bool is_long = value.size() > kMostShown;
  const std::string shown = ToPrintable(value.substr(0, kMostShown)) + (is_long ? "..." : "");
  return Fault(value, "'" + shown + "' is no " + std::string(what));
}

Result<void> JsonValues::Check() const {
  const std::optional<size_t> fault = FindFault(text_);
  if (!fault.has_value()) {
    return {};
  }
  return FaultAt(*fault, *fault == text_.size() ? "the text ends too early" : "this is no JSON");
}

Result<void> JsonValues::Members(std::string_view object, std::span<JsonMember> members) const {
  JsonCursor cursor(object);
  if (!cursor.EnterObject()) {
    return NotA(object, "object");
  }
  for (std::string_view raw; cursor.NextMember(raw);) {
    const std::string_view value = cursor.Value();
    const std::optional<std::string> key = Decoded(raw);
    const auto member = std::find_if(members.begin(), members.end(),
                                     [&](const JsonMember& one) { return one.key == key; });
    if (member != members.end() && !member->value.empty()) {
      return Fault(raw, "a second member \"" + *key + "\"");
    }
    if (member != members.end()) {
      member->value = value;
    }
  }
  for (const JsonMember& member : members) {
    if (member.is_required && member.value.empty()) {
      return Fault(object, "there is no member \"" + std::string(member.key) + "\"");
    }
  }
  return {};
}

Result<void> JsonValues::Elements(std::string_view array,
                                  const std::function<Result<void>(std::string_view)>& read) const {
  JsonCursor cursor(array);
  if (!cursor.EnterArray()) {
    return NotA(array, "list");
  }
  while (cursor.NextElement()) {
    BS_TRY(read(cursor.Value()));
  }
  return {};
}

Result<std::string> JsonValues::Text(std::string_view value) const {
  if (!IsString(value)) {
    return NotA(value, "text");
  }
  std::optional<std::string> text = Decoded(StringContent(value));
  if (!text.has_value()) {
    return Fault(value, "a text that is not valid UTF-8");
  }
  return std::move(*text);
}

Result<int64_t> JsonValues::Int(std::string_view value) const {
  const std::optional<int64_t> number = ParseNumber<int64_t>(value);
  return number.has_value() ? Result<int64_t>(*number) : NotA(value, "whole number of 64 bits");
}

Result<uint64_t> JsonValues::Uint(std::string_view value) const {
  const std::optional<uint64_t> number = ParseNumber<uint64_t>(value);
  return number.has_value() ? Result<uint64_t>(*number) : NotA(value, "count");
}

Result<double> JsonValues::Double(std::string_view value) const {
  const std::optional<double> number = ParseNumber<double>(value);
  return number.has_value() ? Result<double>(*number) : NotA(value, "number that a double holds");
}

Result<bool> JsonValues::Bool(std::string_view value) const {
  if (value != "true" && value != "false") {
    return NotA(value, "truth value");
  }
  return value == "true";
}

}  // namespace borescope::internal
