#include "borescope/query/functions.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/intervals.h"
#include "borescope/base/text/text.h"

namespace borescope::internal::query {

namespace {

bool IsNumber(sqlite3_value* value) {
  const int type = sqlite3_value_numeric_type(value);
  return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

bool AnyNull(int count, sqlite3_value** arguments) {
  return std::any_of(arguments, arguments + count,
                     [](sqlite3_value* value) { return sqlite3_value_type(value) == SQLITE_NULL; });
}

// Whether all arguments are numbers; if not, the call fails.
bool CheckNumbers(sqlite3_context* context, int count, sqlite3_value** arguments,
                  const char* what) {
  if (std::all_of(arguments, arguments + count, IsNumber)) {
    return true;
  }
  sqlite3_result_error(context, what, -1);
  return false;
}

// The state of an aggregate, made with its first row. If memory runs out the statement fails, as
// exceptions must not pass through SQLite.
template <class State>
State** Slot(sqlite3_context* context, int bytes) {
  return static_cast<State**>(sqlite3_aggregate_context(context, bytes));
}

template <class State, class Body>
void WithState(sqlite3_context* context, Body body) {
  auto** slot = Slot<State>(context, sizeof(State*));
  if (slot == nullptr) {
    return sqlite3_result_error_nomem(context);
  }
  try {
    if (*slot == nullptr) {
      *slot = std::make_unique<State>().release();
    }
    body(**slot);
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

// The final state of an aggregate; nullptr if no row had values.
template <class State>
std::unique_ptr<State> TakeState(sqlite3_context* context) {
  auto** slot = Slot<State>(context, 0);
  return std::unique_ptr<State>(slot == nullptr ? nullptr : std::exchange(*slot, nullptr));
}

// Returns a length, which may be larger than any integer of SQLite.
void ReturnLength(sqlite3_context* context, uint64_t length) {
  if (length > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return sqlite3_result_error(context, "integer overflow", -1);
  }
  sqlite3_result_int64(context, static_cast<sqlite3_int64>(length));
}

uint64_t Distance(int64_t begin, int64_t end) {
  return static_cast<uint64_t>(end) - static_cast<uint64_t>(begin);
}

// ---- union_ns, gaps_ns ----

struct Intervals {
  IntervalSet all;    // without empty ones
  size_t joined = 0;  // how many there were after they were last joined
  int64_t first = std::numeric_limits<int64_t>::max();  // begin of all, including empty ones
  int64_t last = std::numeric_limits<int64_t>::min();

  // Joins intervals when there are many, so that memory is proportional to the disjoint ones.
  void Add(Interval interval) {
    first = std::min(first, interval.begin);
    last = std::max(last, interval.end);
    if (interval.begin == interval.end) {
      return;
    }
    constexpr size_t kMany = size_t{1} << 20;
    if (all.size() >= std::max(kMany, 2 * joined)) {
      all = Union(std::move(all));
      joined = all.size();
    }
    all.push_back(interval);
  }
};

void AddInterval(sqlite3_context* context, int count, sqlite3_value** arguments) {
  if (AnyNull(count, arguments) ||
      !CheckNumbers(context, count, arguments, "an interval needs two numbers, begin and end")) {
    return;
  }
  const Interval interval{sqlite3_value_int64(arguments[0]), sqlite3_value_int64(arguments[1])};
  if (interval.begin <= interval.end) {
    WithState<Intervals>(context, [&](Intervals& state) { state.Add(interval); });
  }
}

template <class Measure>
void FinishIntervals(sqlite3_context* context, Measure measure) {
  const std::unique_ptr<Intervals> state = TakeState<Intervals>(context);
  if (state == nullptr) {
    return sqlite3_result_int64(context, 0);
  }
  state->all = Union(std::move(state->all));
  ReturnLength(context, measure(*state));
}

uint64_t LengthOf(const IntervalSet& set) {
  uint64_t length = 0;
  for (const Interval& interval : set) {
    length += Distance(interval.begin, interval.end);
  }
  return length;
}

void FinishUnion(sqlite3_context* context) {
  FinishIntervals(context, [](const Intervals& state) { return LengthOf(state.all); });
}

// Work without length also ends a gap, and counts for the first begin and the last end.
void FinishGaps(sqlite3_context* context) {
  FinishIntervals(context, [](const Intervals& state) {
    return Distance(state.first, state.last) - LengthOf(state.all);
  });
}

// ---- overlap_ns ----

void Overlap(sqlite3_context* context, int count, sqlite3_value** arguments) {
  if (AnyNull(count, arguments) ||
      !CheckNumbers(context, count, arguments, "overlap_ns needs four numbers")) {
    return;
  }
  const int64_t begin =
      std::max(sqlite3_value_int64(arguments[0]), sqlite3_value_int64(arguments[2]));
  const int64_t end =
      std::min(sqlite3_value_int64(arguments[1]), sqlite3_value_int64(arguments[3]));
  ReturnLength(context, begin < end ? Distance(begin, end) : 0);
}

// ---- percentile ----

struct Sample {
  std::vector<double> values;
  double percent = 0;
};

void AddToSample(sqlite3_context* context, int count, sqlite3_value** arguments) {
  if (sqlite3_value_type(arguments[0]) == SQLITE_NULL ||
      !CheckNumbers(context, count, arguments, "percentile needs two numbers")) {
    return;
  }
  const double percent = sqlite3_value_double(arguments[1]);
  if (!(percent >= 0 && percent <= 100)) {
    return sqlite3_result_error(context, "the second argument of percentile is from 0 to 100", -1);
  }
  WithState<Sample>(context, [&](Sample& state) {
    state.values.push_back(sqlite3_value_double(arguments[0]));
    state.percent = percent;
  });
}

// Linear interpolation between neighbours: type 7 of Hyndman and Fan (1996).
void FinishPercentile(sqlite3_context* context) {
  const std::unique_ptr<Sample> state = TakeState<Sample>(context);
  if (state == nullptr) {
    return sqlite3_result_null(context);
  }
  std::vector<double>& values = state->values;
  const double position = state->percent / 100 * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(position);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(values.begin(), middle, values.end());
  const double share = position - std::floor(position);
  const double low = *middle;
  const double high = share > 0 ? *std::min_element(middle + 1, values.end()) : low;
  sqlite3_result_double(context, low + share * (high - low));
}

// ---- Registration ----

constexpr FunctionRow kFunctions[] = {
    {"union_ns", "union_ns(begin, end)",
     "Aggregate: the length of the union of the intervals, so that overlaps count once."},
    {"gaps_ns", "gaps_ns(begin, end)",
     "Aggregate: the time between the first begin and the last end that no interval covers."},
    {"overlap_ns", "overlap_ns(begin1, end1, begin2, end2)",
     "The length that two intervals have in common."},
    {"percentile", "percentile(x, p)",
     "Aggregate: the p-th percentile of x, p from 0 to 100, with linear interpolation."}};

constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;

}  // namespace

std::span<const FunctionRow> Functions() { return kFunctions; }

Result<void> RegisterFunctions(SqlDatabase& database) {
  const auto add = [&](const char* name, int arguments, auto call, auto step, auto finish) {
    return sqlite3_create_function_v2(database.handle(), name, arguments, kFlags, nullptr, call,
                                      step, finish, nullptr);
  };
  const bool failed = add("union_ns", 2, nullptr, AddInterval, FinishUnion) != SQLITE_OK ||
                      add("gaps_ns", 2, nullptr, AddInterval, FinishGaps) != SQLITE_OK ||
                      add("overlap_ns", 4, Overlap, nullptr, nullptr) != SQLITE_OK ||
                      add("percentile", 2, nullptr, AddToSample, FinishPercentile) != SQLITE_OK;
  return failed ? Result<void>(Error{ErrorCode::kIo, "query: SQLite refuses a function"})
                : Result<void>();
}

namespace {

// Removes and returns the first character of `text`, which is not empty.
std::string_view TakeCharacter(std::string_view& text) {
  const std::string_view character = FirstCharacter(text);
  text.remove_prefix(character.size());
  return character;
}

// The text after "[" up to the "]" that ends it, which is not its first character; nullopt if there
// is none.
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
  // "]" can only be the first character, and does not begin a range.
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
// any number of bytes may continue it, and invalid characters are U+FFFD. A continuation byte
// without a begin is a character by itself.
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

// Appends a unique text of bytes for the number; texts have the order of the numbers.
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

// `text` up to the first NUL, where it ends for SQLite, encoded such that characters are equal for
// SQLite if and only if their bytes are equal. Stored in `room` unless it is ASCII.
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
      pattern.pieces_.push_back({character == "%" ? Kind::kAnyText : Kind::kOne, {}});
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
      pattern.pieces_.push_back({character == "*" ? Kind::kAnyText : Kind::kOne, {}});
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

// If the rest does not match, only the last wildcard for any text has to take one more character,
// as an earlier one could only take what that one can take too.
std::optional<bool> Pattern::Matches(std::string_view text, const Deadline& deadline) const {
  constexpr size_t kBetweenLooks = 1 << 14;
  if (never_) {
    return false;
  }
  std::string room;
  std::string_view rest = AsSqliteReads(text, room);
  size_t piece = 0;
  std::optional<size_t> many;   // the last wildcard that was passed
  std::string_view after_many;  // the text after the part that it takes so far
  for (size_t compared = 1;; ++compared) {
    if (compared % kBetweenLooks == 0 && deadline.passed()) {
      return std::nullopt;
    }
    if (piece < pieces_.size() && pieces_[piece].kind == Kind::kAnyText) {
      many = piece++;
      after_many = rest;
    } else if (piece < pieces_.size() && !rest.empty() &&
               MatchesPiece(pieces_[piece], FirstCharacter(rest))) {
      TakeCharacter(rest);
      ++piece;
    } else if (piece == pieces_.size() && rest.empty()) {
      return true;
    } else if (!many.has_value() || after_many.empty() || *many + 1 == pieces_.size()) {
      // Text may be left only after a wildcard.
      return many.has_value() && !after_many.empty();
    } else {
      TakeCharacter(after_many);
      rest = after_many;
      piece = *many + 1;
    }
  }
}

namespace {

using Arguments = sqlite3_value**;

bool IsNull(sqlite3_value* value) { return sqlite3_value_type(value) == SQLITE_NULL; }
bool IsBlob(sqlite3_value* value) { return sqlite3_value_type(value) == SQLITE_BLOB; }

// Valid until the value is converted to another type.
std::string_view TextOf(sqlite3_value* value) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  return text == nullptr ? std::string_view()
                         : std::string_view(text, static_cast<size_t>(sqlite3_value_bytes(value)));
}

void ReturnCopy(sqlite3_context* context, std::string_view text) {
  sqlite3_result_text64(context, text.data() == nullptr ? "" : text.data(), text.size(),
                        SQLITE_TRANSIENT, SQLITE_UTF8);
}

// Runs the body of a function; std::bad_alloc must not pass through SQLite.
template <class Body>
void Call(sqlite3_context* context, const Body& body) {
  const auto& deadline = *static_cast<const Deadline*>(sqlite3_user_data(context));
  if (deadline.passed()) {
    return sqlite3_result_error_code(context, SQLITE_INTERRUPT);
  }
  try {
    body(deadline);
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

// ---- like, glob ----

// The pattern of the first argument, cached by SQLite while that is constant.
template <class Make>
const Pattern* PatternOf(sqlite3_context* context, const Make& make) {
  if (const auto* kept = static_cast<const Pattern*>(sqlite3_get_auxdata(context, 0))) {
    return kept;
  }
  const auto destroy = [](void* pattern) {
    delete static_cast<Pattern*>(pattern);  // NOLINT(cppcoreguidelines-owning-memory): SQLite's
  };
  sqlite3_set_auxdata(context, 0, std::make_unique<Pattern>(make()).release(), destroy);
  return static_cast<const Pattern*>(sqlite3_get_auxdata(context, 0));
}

void ReturnMatch(sqlite3_context* context, const Pattern* pattern, sqlite3_value* text,
                 const Deadline& deadline) {
  if (pattern == nullptr) {
    return sqlite3_result_error_nomem(context);
  }
  const std::optional<bool> matches = pattern->Matches(TextOf(text), deadline);
  if (!matches.has_value()) {
    return sqlite3_result_error_code(context, SQLITE_INTERRUPT);
  }
  sqlite3_result_int(context, *matches ? 1 : 0);
}

// If SQLite was built so, as Debian's is, LIKE is false for blobs, even if the other operand is
// NULL.
bool MatchNoBlobs(sqlite3_context* context, Arguments arguments) {
  static const bool match_none = sqlite3_compileoption_used("LIKE_DOESNT_MATCH_BLOBS") != 0;
  if (!match_none || !(IsBlob(arguments[0]) || IsBlob(arguments[1]))) {
    return false;
  }
  sqlite3_result_int(context, 0);
  return true;
}

// As in SQLite, an invalid ESCAPE is an error even if the other arguments are NULL.
void Like(sqlite3_context* context, int count, Arguments arguments) {
  if (MatchNoBlobs(context, arguments) || (count == 3 && IsNull(arguments[2]))) {
    return;
  }
  Call(context, [&](const Deadline& deadline) {
    std::string_view escape = count == 3 ? TextOf(arguments[2]) : std::string_view();
    escape = escape.substr(0, escape.find('\0'));
    if (count == 3 && (escape.empty() || FirstCharacter(escape).size() != escape.size())) {
      return sqlite3_result_error(context, "ESCAPE expression must be a single character", -1);
    }
    if (IsNull(arguments[0]) || IsNull(arguments[1])) {
      return;
    }
    const auto make = [&] { return Pattern::Like(TextOf(arguments[0]), escape); };
    if (count == 3) {  // the escape may change from row to row
      const Pattern pattern = make();
      return ReturnMatch(context, &pattern, arguments[1], deadline);
    }
    ReturnMatch(context, PatternOf(context, make), arguments[1], deadline);
  });
}

void Glob(sqlite3_context* context, int count, Arguments arguments) {
  if (MatchNoBlobs(context, arguments) || std::any_of(arguments, arguments + count, IsNull)) {
    return;
  }
  Call(context, [&](const Deadline& deadline) {
    const auto make = [&] { return Pattern::Glob(TextOf(arguments[0])); };
    ReturnMatch(context, PatternOf(context, make), arguments[1], deadline);
  });
}

// ---- instr, replace ----

// glibc's memmem takes time linear in the text for every pattern.
size_t Find(std::string_view text, std::string_view part) {
  if (part.empty()) {
    return 0;
  }
  if (text.empty()) {
    return std::string_view::npos;  // may have no address for memmem
  }
  const void* found = memmem(text.data(), text.size(), part.data(), part.size());
  return found == nullptr ? std::string_view::npos
                          : static_cast<size_t>(static_cast<const char*>(found) - text.data());
}

int64_t CountCharacters(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char byte) { return !IsContinuation(byte); });
}

// Characters are found as a whole. A part that begins within a character is only found at the begin
// of the text.
int64_t PositionOf(std::string_view part, std::string_view text) {
  const size_t found = !part.empty() && IsContinuation(part.front())
                           ? (text.starts_with(part) ? 0 : std::string_view::npos)
                           : Find(text, part);
  return found == std::string_view::npos ? 0 : CountCharacters(text.substr(0, found)) + 1;
}

std::string_view BlobOf(sqlite3_value* value) {
  const auto* bytes = static_cast<const char*>(sqlite3_value_blob(value));
  return bytes == nullptr
             ? std::string_view()
             : std::string_view(bytes, static_cast<size_t>(sqlite3_value_bytes(value)));
}

void Instr(sqlite3_context* context, int, Arguments arguments) {
  if (IsNull(arguments[0]) || IsNull(arguments[1])) {
    return;
  }
  Call(context, [&](const Deadline&) {
    if (IsBlob(arguments[0]) && IsBlob(arguments[1])) {
      const size_t found = Find(BlobOf(arguments[0]), BlobOf(arguments[1]));
      return sqlite3_result_int64(
          context, found == std::string_view::npos ? 0 : static_cast<int64_t>(found) + 1);
    }
    sqlite3_result_int64(context, PositionOf(TextOf(arguments[1]), TextOf(arguments[0])));
  });
}

// Refuses a value that would be too long before it is made.
bool IsTooLong(sqlite3_context* context, size_t size) {
  const int limit = sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LENGTH, -1);
  return size > static_cast<size_t>(limit);
}

void Replace(sqlite3_context* context, int, Arguments arguments) {
  if (IsNull(arguments[0]) || IsNull(arguments[1])) {
    return;
  }
  Call(context, [&](const Deadline& deadline) {
    constexpr size_t kBetweenLooks = 1 << 14;
    std::string_view rest = TextOf(arguments[0]);
    const std::string_view part = TextOf(arguments[1]);
    if (part.empty() || part.front() == '\0') {
      return sqlite3_result_value(context, arguments[0]);
    }
    if (IsNull(arguments[2])) {
      return;
    }
    const std::string_view by = TextOf(arguments[2]);
    std::string text;
    size_t found = 0;
    for (size_t at = Find(rest, part); at != std::string_view::npos; at = Find(rest, part)) {
      text.append(rest.substr(0, at)).append(by);
      rest.remove_prefix(at + part.size());
      if (++found % kBetweenLooks == 0 && deadline.passed()) {
        return sqlite3_result_error_code(context, SQLITE_INTERRUPT);
      }
      if (IsTooLong(context, text.size())) {
        return sqlite3_result_error_toobig(context);
      }
    }
    ReturnCopy(context, text.append(rest));
  });
}

// ---- trim ----

// The characters to remove. As in SQLite (trimFunc of its func.c) they end at the first NUL, and
// are compared byte by byte: where text is no UTF-8, one may be the begin or the end of a longer
// character, and the first one of the list that is there is removed.
class TrimSet {
 public:
  explicit TrimSet(std::string_view characters) {
    single_.fill(kNone);
    characters = characters.substr(0, characters.find('\0'));
    for (size_t place = 0; !characters.empty(); ++place) {
      const std::string_view character = TakeCharacter(characters);
      if (character.size() == 1) {
        size_t& known = single_[static_cast<unsigned char>(character.front())];
        known = std::min(known, place);
      } else if (longer_.emplace(character, place).second) {
        sizes_.push_back(character.size());
      }
    }
    std::sort(sizes_.begin(), sizes_.end());
    sizes_.erase(std::unique(sizes_.begin(), sizes_.end()), sizes_.end());
  }

  // How many bytes at the begin of `text`, which is not empty, are a character of the set; 0: none.
  // `compared` counts what was compared.
  size_t AtBegin(std::string_view text, size_t& compared) const {
    size_t first = single_[static_cast<unsigned char>(text.front())];
    size_t bytes = first == kNone ? 0 : 1;
    // Only a character of as many bytes that continue it, or more, can begin with a longer one.
    const size_t most =
        static_cast<unsigned char>(text.front()) < 0xC0 ? 1 : BytesOfFirst(text, Longest());
    for (size_t i = 0; i < sizes_.size() && sizes_[i] <= most; ++i) {
      Try(text.substr(0, sizes_[i]), first, bytes, compared);
    }
    return bytes;
  }

  // The same at the end, where a longer one is the whole last character.
  size_t AtEnd(std::string_view text, size_t& compared) const {
    size_t first = single_[static_cast<unsigned char>(text.back())];
    size_t bytes = first == kNone ? 0 : 1;
    size_t last = 1;
    while (last < text.size() && last <= Longest() && IsContinuation(text[text.size() - last])) {
      ++last;
    }
    if (last > 1 && last <= Longest()) {
      Try(text.substr(text.size() - last), first, bytes, compared);
    }
    return bytes;
  }

 private:
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

  size_t Longest() const { return sizes_.empty() ? 0 : sizes_.back(); }

  // Bytes of the first character, of which no more than `most` matter.
  static size_t BytesOfFirst(std::string_view text, size_t most) {
    return most == 0 ? 1 : FirstCharacter(text.substr(0, most)).size();
  }

  void Try(std::string_view piece, size_t& first, size_t& bytes, size_t& compared) const {
    compared += piece.size();
    const auto found = longer_.find(piece);
    if (found != longer_.end() && found->second < first) {
      first = found->second;
      bytes = piece.size();
    }
  }

  std::array<size_t, 256> single_{};          // by byte: its place in the list
  HashMap<std::string_view, size_t> longer_;  // the same of characters of several bytes
  std::vector<size_t> sizes_;                 // of these, in order, each once
};

template <bool at_begin, bool at_end>
void Trim(sqlite3_context* context, int count, Arguments arguments) {
  if (std::any_of(arguments, arguments + count, IsNull)) {
    return;
  }
  Call(context, [&](const Deadline& deadline) {
    constexpr size_t kBetweenLooks = size_t{1} << 20;  // bytes
    std::string_view text = TextOf(arguments[0]);
    const TrimSet off(count == 2 ? TextOf(arguments[1]) : " ");
    size_t compared = 0;
    // Bytes of the text that go next; 0 where none do, or time is over.
    const auto next = [&](bool is_begin) {
      const size_t bytes = text.empty() ? 0
                           : is_begin   ? off.AtBegin(text, compared)
                                        : off.AtEnd(text, compared);
      compared += bytes;
      if (compared >= kBetweenLooks && deadline.passed()) {
        return size_t{0};
      }
      compared = compared >= kBetweenLooks ? 0 : compared;
      return bytes;
    };
    for (size_t bytes = at_begin ? next(true) : 0; bytes != 0; bytes = next(true)) {
      text.remove_prefix(bytes);
    }
    for (size_t bytes = at_end ? next(false) : 0; bytes != 0; bytes = next(false)) {
      text.remove_suffix(bytes);
    }
    if (compared >= kBetweenLooks) {
      return sqlite3_result_error_code(context, SQLITE_INTERRUPT);
    }
    ReturnCopy(context, text);
  });
}

// ---- printf, format ----

// SQLite's printf returns NULL both for an empty text and for one longer than the limit. So it is
// called in a database of its own with a letter before the format, where NULL only means too long.
class Formatter {
 public:
  explicit Formatter(SqlDatabase database) : database_(std::move(database)) {}

  static void Format(sqlite3_context* context, int count, Arguments arguments) {
    if (count == 0 || IsNull(arguments[0])) {
      return;
    }
    try {
      static_cast<Formatter*>(sqlite3_user_data(context))->Answer(context, count, arguments);
    } catch (const std::bad_alloc&) {
      sqlite3_result_error_nomem(context);
    }
  }
  static void Destroy(void* formatter) {
    delete static_cast<Formatter*>(formatter);  // NOLINT(cppcoreguidelines-owning-memory): SQLite's
  }

 private:
  void Answer(sqlite3_context* context, int count, Arguments arguments) {
    sqlite3* const asking = sqlite3_context_db_handle(context);
    sqlite3_limit(database_.handle(), SQLITE_LIMIT_LENGTH,
                  sqlite3_limit(asking, SQLITE_LIMIT_LENGTH, -1) + 1);
    sqlite3_stmt* const statement = StatementOf(count);
    int status = statement == nullptr ? SQLITE_NOMEM : SQLITE_OK;
    for (int i = 0; status == SQLITE_OK && i < count; ++i) {
      status = sqlite3_bind_value(statement, i + 1, arguments[i]);
    }
    status = status == SQLITE_OK ? sqlite3_step(statement) : status;
    if (status != SQLITE_ROW) {
      sqlite3_result_error_code(context, status);
    } else if (sqlite3_column_type(statement, 0) == SQLITE_NULL) {
      sqlite3_result_error_toobig(context);
    } else {
      sqlite3_result_value(context, sqlite3_column_value(statement, 1));
    }
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
  }

  // The statement that calls it with the letter, prepared once for each number of arguments;
  // nullptr if memory runs out.
  sqlite3_stmt* StatementOf(int count) {
    std::unique_ptr<sqlite3_stmt, Finalize>& kept = statements_[static_cast<size_t>(count)];
    if (kept == nullptr) {
      std::string places;
      for (int i = 2; i <= count; ++i) {
        places += ",?" + std::to_string(i);
      }
      const std::string text = "SELECT printf('x'||?1" + places + "), printf(?1" + places + ")";
      sqlite3_stmt* statement = nullptr;
      sqlite3_prepare_v2(database_.handle(), text.c_str(), -1, &statement, nullptr);
      kept.reset(statement);
    }
    return kept.get();
  }

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  static constexpr size_t kMostArguments = 127;  // the limit of SQLite's functions

  SqlDatabase database_;
  std::array<std::unique_ptr<sqlite3_stmt, Finalize>, kMostArguments + 1> statements_;
};

// ---- Registration ----

struct Row {
  const char* name;
  int arguments;
  void (*call)(sqlite3_context*, int, sqlite3_value**);
};
constexpr Row kRows[] = {{"like", 2, Like},
                         {"like", 3, Like},
                         {"glob", 2, Glob},
                         {"instr", 2, Instr},
                         {"replace", 3, Replace},
                         {"trim", 1, Trim<true, true>},
                         {"trim", 2, Trim<true, true>},
                         {"ltrim", 1, Trim<true, false>},
                         {"ltrim", 2, Trim<true, false>},
                         {"rtrim", 1, Trim<false, true>},
                         {"rtrim", 2, Trim<false, true>}};

}  // namespace

Result<void> RegisterTextFunctions(SqlDatabase& database, const Deadline& deadline) {
  for (const Row& row : kRows) {
    void* data = const_cast<Deadline*>(&deadline);  // NOLINT: SQLite hands it back, nothing more
    if (sqlite3_create_function_v2(database.handle(), row.name, row.arguments, kFlags, data,
                                   row.call, nullptr, nullptr, nullptr) != SQLITE_OK) {
      return Error{ErrorCode::kIo, "query: SQLite refuses a function"};
    }
  }
  for (const char* const name : {"printf", "format"}) {
    BS_ASSIGN(SqlDatabase empty, SqlDatabase::InMemory("printf"));
    if (sqlite3_create_function_v2(database.handle(), name, -1, kFlags,
                                   std::make_unique<Formatter>(std::move(empty)).release(),
                                   Formatter::Format, nullptr, nullptr,
                                   Formatter::Destroy) != SQLITE_OK) {  // which destroys it
      return Error{ErrorCode::kIo, "query: SQLite refuses a function"};
    }
  }
  return {};
}

}  // namespace borescope::internal::query
