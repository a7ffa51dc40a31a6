#include "borescope/ingest/events/structural_parser.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "borescope/json/json_cursor.h"
#include "borescope/json/json_string.h"

namespace borescope::internal {
namespace {

// +1 for an opening bracket, -1 for a closing one.
constexpr std::array<int8_t, 256> kDepthChange = [] {
  std::array<int8_t, 256> change{};
  change['{'] = change['['] = 1;
  change['}'] = change[']'] = -1;
  return change;
}();

int DepthChange(char c) { return kDepthChange[static_cast<unsigned char>(c)]; }

// Looks up a key; keys with escapes are rare and decoded separately.
template <class FindField>
Field LookUp(std::string_view key, const FindField& find_field, std::string& scratch) {
  const Field field = find_field(key);
  if (field != Field::kCount || std::memchr(key.data(), '\\', key.size()) == nullptr) {
    return field;
  }
  StringRepairs repairs;
  std::string decoded(DecodeString(key, scratch, repairs));
  const size_t size = decoded.size();
  decoded.append(8, '\0');  // the readable bytes that FindField needs
  return find_field(std::string_view(decoded).substr(0, size));
}

}  // namespace

StructuralParser::StructuralParser() = default;
StructuralParser::~StructuralParser() = default;
StructuralParser::StructuralParser(StructuralParser&&) noexcept = default;
StructuralParser& StructuralParser::operator=(StructuralParser&&) noexcept = default;

bool StructuralParser::FindStructure(std::string_view text) {
  if (text.size() > capacity_ || structure_ == nullptr) {
    capacity_ = text.size() + text.size() / 8;
    const simdjson::implementation* cpu = simdjson::get_active_implementation();
    if (cpu->create_dom_parser_implementation(capacity_, 1, structure_) != simdjson::SUCCESS) {
      return false;
    }
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  return structure_->stage1(bytes, text.size(), simdjson::stage1_mode::regular) ==
         simdjson::SUCCESS;
}

ParseOutcome StructuralParser::Parse(std::string_view text, uint64_t byte, EventSink& sink) {
  if (std::all_of(text.begin(), text.end(), IsSpace)) {
    return {ParseStop::kEnd, text.size()};
  }
  if (!Begin(text, byte)) {
    return {ParseStop::kDamaged, 0};
  }
  std::optional<ParseOutcome> outcome;
  while (!outcome.has_value()) {
    outcome = ReadEvent(sink);
  }
  outcome->events_end = events_end_;
  return *outcome;
}

bool StructuralParser::Begin(std::string_view text, uint64_t byte) {
  if (!FindStructure(text)) {
    return false;
  }
  text_ = text.data();
  size_ = text.size();
  byte_ = byte;
  at_ = structure_->structural_indexes.get();
  end_ = at_ + structure_->n_structural_indexes;
  event_begin_ = 0;
  events_end_ = 0;
  return true;
}

// Searches in steps that double, as the place is mostly near.
void StructuralParser::MoveTo(size_t at) {
  ptrdiff_t step = 1;
  while (end_ - at_ > step && at_[step] < at) {
    at_ += step;
    step *= 2;
  }
  at_ = std::lower_bound(at_, end_ - at_ > step ? at_ + step : end_, at);
}

std::optional<ParseOutcome> StructuralParser::ReadEvent(EventSink& sink) {
  if (at_ >= end_) {
    return ParseOutcome{ParseStop::kEnd, size_};
  }
  const size_t start = *at_;
  if (Here() == ']') {
    return ParseOutcome{ParseStop::kArrayEnd, start};
  }
  event_.Clear();
  event_.byte = byte_ + start;
  const Walk walk = WalkEvent();
  if (walk != Walk::kOk) {
    return ParseOutcome{walk == Walk::kIncomplete ? ParseStop::kIncomplete : ParseStop::kDamaged,
                        start};
  }
  sink.Add(event_);
  event_begin_ = start;
  events_end_ = size_t{at_[-1]} + 1;
  return PassComma();
}

std::optional<ParseOutcome> StructuralParser::PassComma() {
  if (at_ < end_ && Here() == ',') {
    ++at_;
    if (at_ < end_ && Here() == ']') {  // a trailing comma: for the tolerant parser to count
      return ParseOutcome{ParseStop::kDamaged, at_[-1]};
    }
  } else if (at_ < end_ && Here() != ']') {
    return ParseOutcome{ParseStop::kDamaged, *at_};
  }
  return std::nullopt;
}

StructuralParser::Walk StructuralParser::WalkEvent() {
  if (Here() != '{') {
    return Walk::kDamaged;
  }
  return WalkObject(FindEventField);
}

template <class FindField>
StructuralParser::Walk StructuralParser::WalkObject(const FindField& find_field) {
  ++at_;  // the opening brace
  if (at_ < end_ && Here() == '}') {
    ++at_;
    return Walk::kOk;
  }
  for (;;) {
    std::string_view key;
    if (at_ + 1 >= end_ || Here() != '"' || text_[at_[1]] != ':' || !StringToken(key)) {
      return at_ + 1 >= end_ ? Walk::kIncomplete : Walk::kDamaged;
    }
    at_ += 2;
    const Field field = LookUp(key.substr(1, key.size() - 2), find_field, scratch_);
    Walk walk = Walk::kOk;
    if (field == Field::kArgs && at_ < end_ && Here() == '{') {
      const uint32_t begin = *at_;
      walk = WalkObject(FindArgsField);
      event_.Set(Field::kArgs, {text_ + begin, at_[-1] + 1 - begin});
    } else {
      std::string_view token;
      walk = WalkValue(token);
      if (field != Field::kCount) {
        event_.Set(field, token);
      }
    }
    if (walk != Walk::kOk || at_ >= end_) {
      return walk != Walk::kOk ? walk : Walk::kIncomplete;
    }
    const char after = Here();
    ++at_;
    if (after != ',') {
      return after == '}' ? Walk::kOk : Walk::kDamaged;
    }
  }
}

bool StructuralParser::StringToken(std::string_view& token) const {
  const uint32_t begin = *at_;
  uint32_t last = at_[1] - 1;
  while (last > begin && IsSpace(text_[last])) {
    --last;
  }
  token = {text_ + begin, size_t{last} + 1 - begin};
  return last > begin && text_[last] == '"';
}

StructuralParser::Walk StructuralParser::WalkValue(std::string_view& token) {
  if (at_ >= end_) {
    return Walk::kIncomplete;
  }
  switch (Here()) {
    case '"':
      if (!StringToken(token)) {
        return Walk::kDamaged;
      }
      ++at_;
      return Walk::kOk;
    case '{':
    case '[':
      return WalkContainer(token);
    case '}':
    case ']':
    case ',':
    case ':':
      return Walk::kDamaged;
    default: {
      const uint32_t begin = *at_;
      uint32_t end = at_[1];
      while (end > begin && IsSpace(text_[end - 1])) {
        --end;
      }
      token = {text_ + begin, end - begin};
      ++at_;
      return Walk::kOk;
    }
  }
}

// Closing brackets must be of the kind that was opened; one bit per level stores the kinds of the
// innermost 64, beyond which only the depth counts.
StructuralParser::Walk StructuralParser::WalkContainer(std::string_view& token) {
  const uint32_t begin = *at_;
  int64_t depth = 0;
  uint64_t braces = 0;
  do {
    const char c = Here();
    const int change = DepthChange(c);
    if (change > 0) {
      braces = braces << 1 | (c == '{' ? 1 : 0);
    } else if (change < 0) {
      if (depth <= 64 && (braces & 1) != (c == '}' ? 1U : 0U)) {
        return Walk::kDamaged;
      }
      braces >>= 1;
    }
    depth += change;
    ++at_;
  } while (depth != 0 && at_ < end_);
  token = {text_ + begin, at_[-1] + 1 - begin};
  return depth == 0 ? Walk::kOk : Walk::kIncomplete;
}

}  // namespace borescope::internal
