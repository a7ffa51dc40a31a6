// SQL functions besides those of SQLite: for questions about time (docs/use/sql.md lists them), and
// replacements of functions that may take too long.
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

// Some functions of SQLite take time proportional to the product of two lengths. The replacements
// take time proportional to the sum, or stop at the deadline of the statement. printf is replaced
// because SQLite returns NULL if its text would be too long.

// Patterns of LIKE and GLOB, matched as SQLite does, but checking the deadline: SQLite's own
// functions take hours for a long pattern and a long text, and cannot be stopped.

// Whether the byte continues a UTF-8 character.
inline bool IsContinuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

class Pattern {
 public:
  // A pattern with `%` and `_` that ignores the case of ASCII letters. After the character
  // `escape`, if it is not empty, the next one is literal.
  static Pattern Like(std::string_view text, std::string_view escape);
  // A pattern with `*`, `?` and `[...]`.
  static Pattern Glob(std::string_view text);

  // nullopt if `deadline` passed before the answer was known. Text is UTF-8; invalid bytes are read
  // as SQLite reads them.
  std::optional<bool> Matches(std::string_view text, const Deadline& deadline) const;

 private:
  enum class Kind : uint8_t { kAnyText, kOne, kSet, kCharacter };
  struct Piece {
    Kind kind;
    std::string text;  // the character, or the text between [ and ]
  };

  bool MatchesPiece(const Piece& piece, std::string_view character) const;

  std::vector<Piece> pieces_;
  bool ignores_case_ = false;
  bool never_ = false;  // an incomplete pattern matches nothing
};

// The first character of `text`, which is not empty.
std::string_view FirstCharacter(std::string_view text);

// Registers like, glob, instr, replace, trim, ltrim, rtrim, printf and format. `deadline` must
// outlive the database.
Result<void> RegisterTextFunctions(SqlDatabase& database, const Deadline& deadline);

}  // namespace borescope::internal::query
