// Small pieces of JSON, token by token, for texts that a parser has already found the ends of.
// Whatever the bytes are: nothing is read beyond them, and every loop ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace borescope::internal {

// Brackets, commas, colons, strings with their quotation marks, and words (numbers, true, null).
class JsonTokens {
 public:
  explicit JsonTokens(std::string_view text) : text_(text) {}

  // The next token; empty at the end.
  std::string_view Next();

 private:
  std::string_view Take(size_t size);

  std::string_view text_;
};

// The values in an array, each as its text; empty where the text is no array.
std::vector<std::string_view> ElementsOf(std::string_view array);

// A whole number; nothing where the text is anything else or does not fit.
std::optional<int64_t> IntOf(std::string_view json);
// Likewise, without sign.
std::optional<uint64_t> UintOf(std::string_view json);

}  // namespace borescope::internal
