// Values of any kind as bytes, and back: what is small and not a column. One list of fields serves
// both ways: `fields(a), fields(b)` writes a and b, or reads them.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace borescope::internal {

// Appends fields to bytes.
class FieldWriter {
 public:
  static constexpr bool kReads = false;

  const std::string& bytes() const { return bytes_; }

  template <class T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void operator()(const T& value) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    bytes_.append(raw, sizeof(T));
  }
  void operator()(const std::string& text) {
    (*this)(uint64_t{text.size()});
    bytes_ += text;
  }
  template <class T>
  void operator()(const std::optional<T>& value) {
    (*this)(uint8_t{value.has_value()});
    if (value.has_value()) {
      (*this)(*value);
    }
  }
  // `visit` is called with every member.
  template <class List, class Visit>
  void Each(List& list, const Visit& visit) {
    (*this)(uint64_t{list.size()});
    for (auto& member : list) {
      visit(member);
    }
  }

 private:
  std::string bytes_;
};

// Reads what a FieldWriter wrote. Of bytes that end too early, or say what cannot be, values are 0
// or empty, and ok() is false.
class FieldReader {
 public:
  static constexpr bool kReads = true;

  explicit FieldReader(std::string_view bytes) : left_(bytes) {}

  bool ok() const { return ok_; }
  // Whether all was read, and nothing else is there.
  bool is_done() const { return ok_ && left_.empty(); }

  template <class T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void operator()(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      uint8_t byte = 0;
      (*this)(byte);
      value = byte != 0;
    } else {
      value = T();
      if (Has(sizeof(T))) {
        left_.copy(reinterpret_cast<char*>(&value), sizeof(T));
        left_.remove_prefix(sizeof(T));
      }
    }
  }
  void operator()(std::string& text) {
    uint64_t size = 0;
    (*this)(size);
    text.clear();
    if (Has(size)) {
      text = left_.substr(0, size);
      left_.remove_prefix(size);
    }
  }
  template <class T>
  void operator()(std::optional<T>& value) {
    uint8_t has_value = 0;
    (*this)(has_value);
    value.reset();
    if (has_value != 0) {
      (*this)(value.emplace());
    }
  }
  template <class List, class Visit>
  void Each(List& list, const Visit& visit) {
    uint64_t size = 0;
    (*this)(size);
    list.clear();
    for (uint64_t i = 0; i < size && Has(1); ++i) {
      visit(list.emplace_back());
    }
  }

 private:
  bool Has(uint64_t bytes) {
    ok_ = ok_ && bytes <= left_.size();
    return ok_;
  }

  std::string_view left_;
  bool ok_ = true;
};

}  // namespace borescope::internal
