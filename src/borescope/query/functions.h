// Functions of SQL for questions about time, beside those of SQLite. docs/use/sql.md has them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/base/sqlite/sqlite.h"
#include "borescope/query/row_cursor.h"

namespace borescope::internal::query {

struct FunctionRow {
  std::string_view name;
  std::string_view signature;
  std::string_view doc;
};
std::span<const FunctionRow> Functions();

Result<void> RegisterFunctions(SqlDatabase& database);

// Functions of SQLite that take as long as the product of two lengths, written again: these take as
// long as the sum, or stop at the deadline of the statement. And printf, whose text may be too
// long, which SQLite answers with NULL.

// Patterns of LIKE and GLOB, matched as SQLite does but so that a look at the time is possible:
// SQLite's own functions take hours for a long pattern and a long text, and cannot be stopped.

// Whether the byte continues a character of UTF-8 that began before.
inline bool IsContinuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

class Pattern {
 public:
  // `%` and `_`; letters of ASCII are equal in both cases. The character `escape`, if not empty,
  // takes the one that follows literally.
  static Pattern Like(std::string_view text, std::string_view escape);
  // `*`, `?` and `[...]`.
  static Pattern Glob(std::string_view text);

  // Nothing if `deadline` passed before it was known. Text is UTF-8; what is not valid is read as
  // SQLite does.
  std::optional<bool> Matches(std::string_view text, const Deadline& deadline) const;

 private:
  enum class Kind : uint8_t { kAnyText, kOne, kSet, kCharacter };
  struct Piece {
    Kind kind;
    std::string text;  // the character, or what is between [ and ]
  };

  bool MatchesPiece(const Piece& piece, std::string_view character) const;

  std::vector<Piece> pieces_;
  bool ignores_case_ = false;
  bool never_ = false;  // a pattern that is not complete matches nothing
};

// The first character of `text`, which is not empty.
std::string_view FirstCharacter(std::string_view text);

// like, glob, instr, replace, trim, ltrim, rtrim, printf, format. `deadline` outlives the database.
Result<void> RegisterTextFunctions(SqlDatabase& database, const Deadline& deadline);

}  // namespace borescope::internal::query
