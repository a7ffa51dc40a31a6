// The part of TOML 1.0 that files for people need: comments, tables, arrays of tables, dotted and
// quoted keys, all four kinds of strings, decimal numbers, booleans, arrays and inline tables.
// Dates, and numbers in other bases, are refused with a message. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "borescope/base/result.h"

namespace borescope::internal {

struct TomlMember;
struct TomlValue;

using TomlArray = std::vector<TomlValue>;
// In the order of the text; keys are unique.
using TomlTable = std::vector<TomlMember>;

struct TomlValue {
  std::variant<std::string, int64_t, double, bool, TomlArray, TomlTable> value;
  uint32_t line = 0;  // where it begins, counted from 1
  // An inline table or array, to which nothing can be added.
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

// nullptr if the table has no such key.
const TomlValue* FindKey(const TomlTable& table, std::string_view key);

// Limits, beyond what people write, that bound the time for hostile files.
inline constexpr size_t kMostTomlKeys = 1000;  // of one table, and items of one array
inline constexpr int kDeepestToml = 16;

// Parses a text. kInvalidArgument with "LINE: cause" for text that is not TOML, not supported, or
// beyond the limits. O(size of the text).
Result<TomlTable> ParseToml(std::string_view text);

}  // namespace borescope::internal
