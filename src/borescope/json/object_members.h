// ObjectMembers: iterates over the members of one JSON object, for the few objects whose keys are
// not known beforehand.
#pragma once

#include <cstddef>
#include <string_view>

namespace borescope::internal {

// Not thread-safe. Never reads outside the text; text that is not a JSON object ends early.
class ObjectMembers {
 public:
  // `text` starts with the opening brace and must outlive this.
  explicit ObjectMembers(std::string_view text);

  // Moves to the next member; false after the last one.
  bool Next();
  // Raw texts: the key between its quotes, the value with its quotes or brackets.
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }

 private:
  char Peek();  // next character that is not white space, 0 at the end
  bool ReadString(std::string_view& token);
  bool ReadValue();
  bool ReadContainer();

  std::string_view text_;
  size_t at_ = 0;
  std::string_view key_;
  std::string_view value_;
};

}  // namespace borescope::internal
