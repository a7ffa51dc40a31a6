#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/ingest/pickle/plain_reader.h"
#include "borescope/json/json_cursor.h"
#include "borescope/json/json_string.h"
#include "borescope/json/number.h"

namespace borescope::internal {
namespace {

constexpr size_t kPieceElements = 1000;  // of a list that are folded together, as in pickles

// JSON text from front to back, containers folded at their ends.
class PlainJsonReader {
 public:
  PlainJsonReader(std::string_view text, PlainStore& store, PlainFolder& folder)
      : text_(text), store_(store), folder_(folder) {}

  Result<PlainRead> Read() {
    BS_TRY(ReadValues());
    if (is_cut_) {
      BS_TRY(Unwind());
    } else {
      SkipSpace();
      if (at_ < text_.size()) {
        return Bad("text follows the end of the value");
      }
    }
    return PlainRead{.root = values_.empty() ? PlainValue{} : values_.front(),
                     .is_cut = is_cut_,
                     .cut_texts = cut_texts_,
                     .bytes = text_.size()};
  }

 private:
  // A list or an object that has not ended.
  struct Level {
    PlainKind kind = PlainKind::kList;
    size_t begin = 0;  // of what is in it, among values_
    std::optional<PlainValue> folded = {};
    bool is_kept = false;  // its folder leaves it to the store
  };

  Error Bad(std::string cause) const {
    return {.code = ErrorCode::kCorrupt, .cause = std::move(cause), .offset = at_};
  }

  void SkipSpace() {
    while (at_ < text_.size() && IsSpace(text_[at_])) {
      ++at_;
    }
  }

  // The next character that is no white space; 0 at the end, which is too early: is_cut_.
  char Peek() {
    SkipSpace();
    is_cut_ = at_ >= text_.size();
    return is_cut_ ? '\0' : text_[at_];
  }

  // Values until the outermost one is complete.
  Result<void> ReadValues() {
    bool is_first = true;  // of the level entered last
    for (size_t i = 0;; ++i) {
      CheckStopAt(i);
      const char next = Peek();
      if (is_cut_) {
        return {};
      }
      if (!levels_.empty()) {
        const bool ends = next == (levels_.back().kind == PlainKind::kList ? ']' : '}');
        if (ends) {
          ++at_;
          BS_TRY(EndLevel());
          if (levels_.empty()) {
            return {};
          }
          is_first = false;
          continue;
        }
        BS_TRY(ReadSeparator(is_first));
      }
      is_first = false;
      if (is_cut_) {
        return {};
      }
      BS_ASSIGN(is_first, ReadOne());
      if (is_cut_ || (levels_.empty() && !is_first)) {
        return {};
      }
    }
  }

  // The comma before all but the first value, and the key of a member.
  Result<void> ReadSeparator(bool is_first) {
    if (!is_first) {
      if (text_[at_] != ',') {
        return Bad("a comma is missing");
      }
      ++at_;
    }
    if (levels_.back().kind != PlainKind::kDict) {
      return {};
    }
    if (Peek() != '"') {
      return is_cut_ ? Result<void>() : Bad("a key is missing");
    }
    BS_TRY(ReadString());
    if (is_cut_) {
      return {};
    }
    if (Peek() != ':') {
      return is_cut_ ? Result<void>() : Bad("a colon is missing");
    }
    ++at_;
    return {};
  }

  // One value, or the begin of a container, which is true.
  Result<bool> ReadOne() {
    const char next = Peek();
    if (next == '{' || next == '[') {
      if (levels_.size() >= PlainStore::kNesting) {
        return Bad("values nest deeper than " + std::to_string(PlainStore::kNesting));
      }
      ++at_;
      levels_.push_back({next == '{' ? PlainKind::kDict : PlainKind::kList, values_.size()});
      return true;
    }
    if (next == '"') {
      BS_TRY(ReadString());
    } else if (!is_cut_) {
      BS_TRY(ReadScalar());
    }
    if (!is_cut_) {
      BS_TRY(FoldPiece());
    }
    return false;
  }

  Result<void> ReadString() {
    const size_t end = FindClosingQuote(text_, at_ + 1);
    if (end >= text_.size()) {
      is_cut_ = true;
      return {};
    }
    std::string_view raw = text_.substr(at_ + 1, end - at_ - 1);
    if (raw.size() > PlainStore::kTextBytes) {
      raw = raw.substr(0, PlainStore::kTextBytes);
      ++cut_texts_;
    }
    StringRepairs repairs;
    values_.push_back(store_.InternValue(DecodeString(raw, scratch_, repairs)));
    at_ = end + 1;
    return {};
  }

  Result<void> ReadScalar() {
    const size_t end = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
    const std::string_view token = text_.substr(at_, end - at_);
    if (end == text_.size() && !levels_.empty()) {
      is_cut_ = true;  // the rest of it may be missing
      return {};
    }
    if (token == "null" || token == "NaN" || token == "Infinity" || token == "-Infinity") {
      values_.push_back({});
    } else if (token == "true" || token == "false") {
      values_.push_back(PlainBool(token == "true"));
    } else {
      BS_ASSIGN(const PlainValue number, Number(token));
      values_.push_back(number);
    }
    at_ = end;
    return {};
  }

  Result<PlainValue> Number(std::string_view token) const {
    if (token.find_first_of(".eE") == std::string_view::npos) {
      const ParsedNumber whole = ParseInteger(token);
      if (whole.status == NumberStatus::kOk) {
        return PlainInt(whole.value);
      }
      const ParsedNumber wide = ParseUnsigned(token);
      if (wide.status == NumberStatus::kOk && !token.starts_with('-')) {
        return PlainValue{.kind = PlainKind::kWide, .bits = static_cast<uint64_t>(wide.value)};
      }
    }
    const ParsedDouble number = ParseDouble(token);
    if (number.status != NumberStatus::kOk) {
      return Bad("'" + std::string(token.substr(0, 40)) + "' is no value");
    }
    return PlainFloat(number.value);
  }

  // Offers a full piece of the innermost list.
  Result<void> FoldPiece() {
    if (levels_.empty() || levels_.back().kind != PlainKind::kList) {
      return {};
    }
    Level& level = levels_.back();
    if (level.is_kept || values_.size() - level.begin < kPieceElements) {
      return {};
    }
    FoldElements(level);
    return {};
  }

  void FoldElements(Level& level) {
    const std::span<const PlainValue> elements = std::span(values_).subspan(level.begin);
    if (level.is_kept || (elements.empty() && level.folded.has_value())) {
      return;
    }
    const std::optional<PlainValue> folded =
        elements.empty() ? std::nullopt : folder_.FoldList(level.folded, elements);
    level.is_kept = !folded.has_value() && !level.folded.has_value();
    if (folded.has_value()) {
      level.folded = folded;
    }
    if (!level.is_kept) {
      values_.resize(level.begin);
    }
  }

  Result<void> EndLevel() {
    Level level = levels_.back();
    std::optional<PlainValue> value;
    if (level.kind == PlainKind::kList) {
      FoldElements(level);
      value = level.folded;
    } else if (values_.size() > level.begin) {
      value = folder_.FoldDict(std::span(values_).subspan(level.begin));
    }
    if (!value.has_value()) {
      value = store_.Keep(level.kind, std::span(values_).subspan(level.begin));
      if (!value.has_value()) {
        return Bad("values nest too deeply");
      }
    }
    levels_.pop_back();
    values_.resize(level.begin);
    values_.push_back(*value);
    return FoldPiece();
  }

  // The text ends in the middle: keeps lists, and the outermost object.
  Result<void> Unwind() {
    while (!levels_.empty()) {
      const Level& level = levels_.back();
      const bool is_object = level.kind == PlainKind::kDict;
      if (is_object && levels_.size() > 1) {
        values_.resize(level.begin);
        levels_.pop_back();
        continue;
      }
      if (is_object && (values_.size() - level.begin) % 2 != 0) {
        values_.pop_back();
      }
      BS_TRY(EndLevel());
    }
    return {};
  }

  std::string_view text_;
  PlainStore& store_;
  PlainFolder& folder_;
  size_t at_ = 0;
  std::vector<PlainValue> values_;  // of all levels, innermost last
  std::vector<Level> levels_;
  std::string scratch_;
  uint64_t cut_texts_ = 0;
  bool is_cut_ = false;
};

// The content by what the text of a JSON object begins with.
PlainContent GuessJson(std::string_view head) {
  JsonCursor cursor(head);
  std::string_view key;
  if (!cursor.EnterObject()) {
    return PlainContent::kNone;
  }
  // Reports of NCCL's RAS service begin with that key, too.
  bool may_be_dump = false;
  while (cursor.NextMember(key)) {
    if (key == "nccl_version") {
      may_be_dump = !Contains(head, "\"communicators");
    }
    if (key == "segments" || key == "device_traces") {
      return PlainContent::kMemorySnapshot;
    }
    if (key == "pg_config" || key == "pg_status" || key == "nccl_comm_state" ||
        key == "comm_lib_version") {
      return PlainContent::kFlightRecorder;
    }
    if (key == "entries" && Contains(head, "\"profiling_name\"")) {
      return PlainContent::kFlightRecorder;
    }
    if (cursor.Value().empty()) {
      break;
    }
  }
  return may_be_dump ? PlainContent::kFlightRecorder : PlainContent::kNone;
}

// A text of the head of a pickle, or what is no text: empty.
std::string_view FirstTextOfPickle(std::string_view head) {
  for (size_t at = 2; at < head.size();) {
    switch (static_cast<unsigned char>(head[at])) {
      case 0x95:
        at += 9;
        break;
      case 0x94:
      case '}':
      case '(':
        at += 1;
        break;
      case 'q':
        at += 2;
        break;
      case 'r':
        at += 5;
        break;
      case 0x8c:
        return at + 2 > head.size() ? std::string_view()
                                    : head.substr(at + 2, static_cast<unsigned char>(head[at + 1]));
      case 'X':
        return at + 5 > head.size() ? std::string_view()
                                    : head.substr(at + 5, static_cast<unsigned char>(head[at + 1]));
      default:
        return {};
    }
  }
  return {};
}

// Whether the head of a pickle has the text, as pickles of protocol 2, 4 and later write a short
// one.
bool HasTextOfPickle(std::string_view head, std::string_view text) {
  const std::string size(1, static_cast<char>(text.size()));
  return Contains(head, "\x8c" + size + std::string(text)) ||
         Contains(head, "X" + size + std::string(3, '\0') + std::string(text));
}

// By the first key; where that is another one, by a key that only one of both has.
PlainContent GuessPickle(std::string_view head) {
  constexpr std::string_view kOfRecorder[] = {"version",        "entries",      "pg_config",
                                              "pg_status",      "nccl_version", "comm_lib_version",
                                              "nccl_comm_state"};
  constexpr std::string_view kOfSnapshot[] = {"segments", "device_traces"};
  const std::string_view key = FirstTextOfPickle(head);
  const auto is_key = [key](std::string_view name) { return name == key; };
  if (std::any_of(std::begin(kOfRecorder), std::end(kOfRecorder), is_key)) {
    return PlainContent::kFlightRecorder;
  }
  if (std::any_of(std::begin(kOfSnapshot), std::end(kOfSnapshot), is_key)) {
    return PlainContent::kMemorySnapshot;
  }
  if (key.empty()) {
    return PlainContent::kPickle;
  }
  return HasTextOfPickle(head, "pg_config") || HasTextOfPickle(head, "collective_seq_id")
             ? PlainContent::kFlightRecorder
         : HasTextOfPickle(head, "segments") || HasTextOfPickle(head, "device_traces")
             ? PlainContent::kMemorySnapshot
             : PlainContent::kPickle;
}

bool IsPickle(std::string_view head) {
  return head.size() >= 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5;
}

// A source whose first byte was looked at.
class WithFirstByte : public ByteSource {
 public:
  WithFirstByte(ByteSource& rest, char first, bool has_first)
      : rest_(rest), first_(first), has_first_(has_first) {}
  Result<size_t> Read(char* out, size_t capacity) override {
    if (has_first_ && capacity > 0) {
      has_first_ = false;
      *out = first_;
      return size_t{1};
    }
    return rest_.Read(out, capacity);
  }
  uint64_t stored_bytes() const override { return rest_.stored_bytes(); }
  uint64_t stored_total() const override { return rest_.stored_total(); }

 private:
  ByteSource& rest_;
  char first_;
  bool has_first_;
};

}  // namespace

Result<PlainRead> ReadPlainJson(ByteSource& source, PlainStore& store, PlainFolder& folder) {
  BS_ASSIGN(const std::string text, ReadUpTo(source, SIZE_MAX));
  return PlainJsonReader(text, store, folder).Read();
}

Result<PlainRead> ReadPlain(ByteSource& source, PlainStore& store, PlainFolder& folder) {
  char first = 0;
  BS_ASSIGN(const size_t got, source.Read(&first, 1));
  WithFirstByte whole(source, first, got == 1);
  return first == '\x80' ? ReadPickle(whole, store, folder) : ReadPlainJson(whole, store, folder);
}

PlainGuess GuessPlain(std::string_view head) {
  head = head.substr(0, kPlainHeadBytes);
  if (IsPickle(head)) {
    return {.content = GuessPickle(head), .is_json = false};
  }
  const size_t begin = head.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || head[begin] != '{') {
    return {};
  }
  return {.content = GuessJson(head.substr(begin)), .is_json = true};
}

}  // namespace borescope::internal
