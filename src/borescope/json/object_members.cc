#include "borescope/json/object_members.h"

#include <algorithm>

#include "borescope/json/json_space.h"

namespace borescope::internal {

ObjectMembers::ObjectMembers(std::string_view text) : text_(text) {
  if (Peek() == '{') {
    ++at_;
  } else {
    at_ = text_.size();
  }
}

char ObjectMembers::Peek() {
  at_ = FindNonSpace(text_, at_);
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool ObjectMembers::Next() {
  if (Peek() == ',') {
    ++at_;
  }
  std::string_view key;
  if (Peek() != '"' || !ReadString(key) || Peek() != ':') {
    return false;
  }
  key_ = key.substr(1, key.size() - 2);
  ++at_;
  return ReadValue();
}

// Positioned on the opening quote; `token` includes both quotes.
bool ObjectMembers::ReadString(std::string_view& token) {
  const size_t begin = at_;
  for (++at_; at_ < text_.size(); ++at_) {
    if (text_[at_] == '\\') {
      ++at_;
    } else if (text_[at_] == '"') {
      ++at_;
      token = text_.substr(begin, at_ - begin);
      return true;
    }
  }
  return false;
}

bool ObjectMembers::ReadValue() {
  const char first = Peek();
  if (first == '"') {
    return ReadString(value_);
  }
  if (first == '{' || first == '[') {
    return ReadContainer();
  }
  const size_t end = std::min(text_.find_first_of(",}]", at_), text_.size());
  value_ = WithoutSpaceBehind(text_.substr(at_, end - at_));
  at_ = end;
  return !value_.empty();
}

// The parsers have matched the brackets; counting them is enough here.
bool ObjectMembers::ReadContainer() {
  const size_t begin = at_;
  size_t depth = 0;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '"') {
      std::string_view inner;
      if (!ReadString(inner)) {
        return false;
      }
      continue;
    }
    ++at_;
    if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      value_ = text_.substr(begin, at_ - begin);
      return true;
    }
  }
  return false;
}

}  // namespace borescope::internal
