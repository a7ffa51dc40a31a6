#include "borescope/query/pattern.h"

#include <algorithm>

#include "borescope/base/text/text.h"

namespace borescope::internal::query {
namespace {

// Takes the first character off `text`, which is not empty.
std::string_view TakeCharacter(std::string_view& text) {
  const std::string_view character = FirstCharacter(text);
  text.remove_prefix(character.size());
  return character;
}

// What follows "[", up to the "]" that ends it, which may not be its first character; nothing if
// none does.
std::optional<std::string_view> TakeSet(std::string_view& rest) {
  const size_t first = rest.starts_with('^') ? 1 : 0;
  const size_t end = rest.find(']', first + 1);
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view set = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return set;
}

// Characters of UTF-8 are in the order of their bytes.
bool IsInSet(std::string_view set, std::string_view character) {
  const bool is_inverted = set.starts_with('^');
  set.remove_prefix(is_inverted ? 1 : 0);
  // "]" can only be the first, and is then no begin of a range.
  bool is_in = set.starts_with(']') && character == "]";
  set.remove_prefix(set.starts_with(']') ? 1 : 0);
  if (set.starts_with('-')) {
    is_in = is_in || character == "-";
    set.remove_prefix(1);
  }
  while (!set.empty()) {
    const std::string_view low = TakeCharacter(set);
    std::string_view high = low;
    if (set.size() > 1 && set.front() == '-') {
      set.remove_prefix(1);
      high = TakeCharacter(set);
    }
    is_in = is_in || character == low || (low <= character && character <= high);
  }
  return is_in != is_inverted;
}

// The number of the first character of `text`, as SQLite reads it (sqlite3Utf8Read of its utf.c):
// any number of bytes may continue it, and what is no character of Unicode is U+FFFD. A byte that
// only continues is a character by itself.
uint32_t NumberOf(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character.front());
  if (lead < 0xC0) {
    return lead;
  }
  uint32_t number = lead < 0xE0   ? lead & 0x1FU
                    : lead < 0xF0 ? lead & 0x0FU
                    : lead < 0xF8 ? lead & 0x07U
                    : lead < 0xFC ? lead & 0x03U
                    : lead < 0xFE ? lead & 0x01U
                                  : 0;
  for (const char byte : character.substr(1)) {
    number = (number << 6U) + (static_cast<unsigned char>(byte) & 0x3FU);
  }
  const bool is_none =
      number < 0x80 || (number & 0xFFFFF800U) == 0xD800 || (number & 0xFFFFFFFEU) == 0xFFFE;
  return is_none ? 0xFFFD : number;
}

// One text of bytes for each number, in the order of the numbers.
void AppendNumber(std::string& text, uint32_t number) {
  if (number < 0x80) {
    text += static_cast<char>(number);
    return;
  }
  constexpr int kContinuations = 6;  // of 6 bits each
  text += static_cast<char>(0xC0);
  for (int i = kContinuations - 1; i >= 0; --i) {
    text += static_cast<char>(0x80U | (number >> (6U * static_cast<unsigned>(i)) & 0x3FU));
  }
}

// `text` up to the first NUL, where SQLite ends it, such that characters are equal for SQLite if
// and only if their bytes are; in `room` unless it is ASCII.
std::string_view AsSqliteReads(std::string_view text, std::string& room) {
  text = text.substr(0, text.find('\0'));
  if (std::all_of(text.begin(), text.end(),
                  [](char byte) { return static_cast<unsigned char>(byte) < 0x80; })) {
    return text;
  }
  room.clear();
  while (!text.empty()) {
    AppendNumber(room, NumberOf(TakeCharacter(text)));
  }
  return room;
}

}  // namespace

std::string_view FirstCharacter(std::string_view text) {
  size_t size = 1;
  if (static_cast<unsigned char>(text.front()) >= 0xC0) {
    while (size < text.size() && IsContinuation(text[size])) {
      ++size;
    }
  }
  return text.substr(0, size);
}

Pattern Pattern::Like(std::string_view text, std::string_view escape) {
  Pattern pattern;
  pattern.ignores_case_ = true;
  std::string text_room;
  std::string escape_room;
  escape = AsSqliteReads(escape, escape_room);
  for (std::string_view rest = AsSqliteReads(text, text_room); !rest.empty();) {
    std::string_view character = TakeCharacter(rest);
    const bool is_escaped = !escape.empty() && character == escape;
    if (is_escaped && rest.empty()) {
      pattern.never_ = true;
      return pattern;
    }
    character = is_escaped ? TakeCharacter(rest) : character;
    if (!is_escaped && (character == "%" || character == "_")) {
      pattern.pieces_.push_back({character == "%" ? Kind::kMany : Kind::kOne, {}});
    } else {
      pattern.pieces_.push_back({Kind::kCharacter, LowerCase(character)});
    }
  }
  return pattern;
}

Pattern Pattern::Glob(std::string_view text) {
  Pattern pattern;
  std::string room;
  for (std::string_view rest = AsSqliteReads(text, room); !rest.empty();) {
    const std::string_view character = TakeCharacter(rest);
    if (character == "*" || character == "?") {
      pattern.pieces_.push_back({character == "*" ? Kind::kMany : Kind::kOne, {}});
    } else if (character == "[") {
      const std::optional<std::string_view> set = TakeSet(rest);
      if (!set.has_value()) {
        pattern.never_ = true;
        return pattern;
      }
      pattern.pieces_.push_back({Kind::kSet, std::string(*set)});
    } else {
      pattern.pieces_.push_back({Kind::kCharacter, std::string(character)});
    }
  }
  return pattern;
}

bool Pattern::MatchesPiece(const Piece& piece, std::string_view character) const {
  switch (piece.kind) {
    case Kind::kOne:
      return true;
    case Kind::kSet:
      return IsInSet(piece.text, character);
    default:
      return piece.text == character ||
             (ignores_case_ && character.size() == 1 && piece.text == LowerCase(character));
  }
}

// When the rest fails, only the last "many" has to take one more character: an earlier one could
// take only what that one takes as well.
std::optional<bool> Pattern::Matches(std::string_view text, const Deadline& deadline) const {
  constexpr size_t kBetweenLooks = 1 << 14;
  if (never_) {
    return false;
  }
  std::string room;
  std::string_view rest = AsSqliteReads(text, room);
  size_t piece = 0;
  std::optional<size_t> many;   // the last that was passed
  std::string_view after_many;  // the text that is left after what it takes so far
  for (size_t compared = 1;; ++compared) {
    if (compared % kBetweenLooks == 0 && deadline.passed()) {
      return std::nullopt;
    }
    if (piece < pieces_.size() && pieces_[piece].kind == Kind::kMany) {
      many = piece++;
      after_many = rest;
    } else if (piece < pieces_.size() && !rest.empty() &&
               MatchesPiece(pieces_[piece], FirstCharacter(rest))) {
      TakeCharacter(rest);
      ++piece;
    } else if (piece == pieces_.size() && rest.empty()) {
      return true;
    } else if (!many.has_value() || after_many.empty() || *many + 1 == pieces_.size()) {
      // What is left over may be anything after a last "many", and nothing else.
      return many.has_value() && !after_many.empty();
    } else {
      TakeCharacter(after_many);
      rest = after_many;
      piece = *many + 1;
    }
  }
}

}  // namespace borescope::internal::query
