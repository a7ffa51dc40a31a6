#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "borescope/base/result.h"

namespace borescope::internal {

// The part of TOML 1.0 that files for people need: comments, tables, arrays of tables, dotted and
// quoted keys, texts of all four kinds, decimal numbers, booleans, arrays and inline tables. Dates,
// and numbers in other bases, are refused by name. Pure; any thread.

struct TomlMember;
struct TomlValue;

using TomlArray = std::vector<TomlValue>;
// In the order of the text; keys are unique.
using TomlTable = std::vector<TomlMember>;

struct TomlValue {
  std::variant<std::string, int64_t, double, bool, TomlArray, TomlTable> value;
  uint32_t line = 0;  // where it begins, from 1 on
  // A table or array that was written out in one place, to which nothing can be added.
  bool is_closed = false;

  template <class T>
  const T* As() const {
    return std::get_if<T>(&value);
  }
};

struct TomlMember {
  std::string key;
  TomlValue value;
};

// nullptr where the table has no such key.
const TomlValue* FindKey(const TomlTable& table, std::string_view key);

// How much is read: people write less, and whoever writes more shall not cost time.
inline constexpr size_t kMostTomlKeys = 1000;  // of one table, and items of one array
inline constexpr int kDeepestToml = 16;

// The table of a text. kInvalidArgument with "LINE: cause" for what is no TOML, not read, or more
// than that. O(size of the text).
Result<TomlTable> ParseToml(std::string_view text);

}  // namespace borescope::internal
