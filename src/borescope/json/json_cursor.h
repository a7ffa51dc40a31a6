// JsonCursor: walks JSON text from front to back without building anything: it gives the text of
// the values its caller asks for and passes over the others. What it passes over is not checked
// beyond strings and brackets; who uses a value understands it. Nesting costs no stack.
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "borescope/base/text/text.h"

namespace borescope::internal {

// White space between the tokens of JSON, and the byte-order mark that some programs write before
// the text. Pure functions, safe from any thread.

inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// Position of the first character at or after `at` that is not white space; the size of the text if
// there is none.
constexpr size_t FindNonSpace(std::string_view text, size_t at = 0) {
  while (at < text.size() && IsSpace(text[at])) {
    ++at;
  }
  return at;
}

// Small JSON documents, read as a whole by simdjson.

// Parses `text`, which need not outlive the call; `document` lives as long as `parser`. The error
// is one of the text: a lack of memory, which simdjson reports like one, is std::bad_alloc.
simdjson::error_code ParseDocument(simdjson::dom::parser& parser, std::string_view text,
                                   simdjson::dom::element& document);

class JsonCursor {
 public:
  // `text` outlives this. Starts at `offset`, where a value begins.
  explicit JsonCursor(std::string_view text, size_t offset = 0) : text_(text), at_(offset) {}

  // Enters the object or array that comes next; false where none does, and nothing moves.
  bool EnterObject() { return Enter('{'); }
  bool EnterArray() { return Enter('['); }

  // To the next member of the object entered last, whose key (without quotation marks, escapes as
  // written) comes back and whose value is next; false after the last one, or where text is no
  // member: then failed().
  bool NextMember(std::string_view& key);
  // To the next element of the array entered last.
  bool NextElement();

  // Passes over the value that comes next and gives its text; empty where there is none: failed().
  std::string_view Value();

  // Nothing but white space is left.
  bool AtEnd();

  // The text does not go on as JSON would at offset().
  bool failed() const { return failed_; }
  size_t offset() const { return at_; }

 private:
  bool Enter(char bracket);
  bool Next(char closing);
  bool Fail();
  void SkipSpace();
  bool SkipString();
  bool SkipContainer();
  void SkipScalar();

  std::string_view text_;
  size_t at_ = 0;
  bool is_first_ = false;  // of the container entered or left last
  bool failed_ = false;
};

// The values in an array, each as its text, up to the first that is none; empty where the text is
// no array.
std::vector<std::string_view> ElementsOf(std::string_view array);

// A number of 64 bits, also from a fraction (cut towards zero) or from digits in quotation marks.
std::optional<int64_t> LooseIntValue(std::string_view value);

}  // namespace borescope::internal
