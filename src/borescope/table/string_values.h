// StringValues: the cells of a text column. Every distinct text is kept once, so that a column with
// a row per event costs four bytes per row. A plain value: copy, move and read it from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace borescope::internal {

class StringValues {
 public:
  using value_type = std::string;

  size_t size() const { return cells_.size(); }
  bool empty() const { return cells_.empty(); }
  // The reference is valid until the next cell is appended.
  const std::string& operator[](size_t row) const { return texts_[cells_[row]]; }
  const std::string& back() const { return texts_[cells_.back()]; }

  // Per row, which of texts() it has. Both views are valid until the next cell is appended.
  std::span<const uint32_t> numbers() const { return cells_; }
  // Every distinct text, in order of first appearance.
  std::span<const std::string> texts() const { return texts_; }

  void reserve(size_t rows) { cells_.reserve(rows); }
  void push_back(std::string_view text) { cells_.push_back(Intern(text)); }
  void emplace_back() { push_back({}); }
  // Appends a cell whose text the column has already: that of this number in texts(). Saves seeking
  // it. REQUIRES: number < texts().size().
  void push_number(uint32_t number) { cells_.push_back(number); }
  // Appends all cells of `more`.
  void Append(const StringValues& more);
  // The cells of these rows, in this order. No text is sought. REQUIRES: each is below size().
  StringValues Take(std::span<const uint32_t> rows) const;

  // A column made of these two; nothing if `texts` are not distinct or not in order of first
  // appearance, or if a number is out of range.
  static std::optional<StringValues> Of(std::vector<std::string> texts,
                                        std::vector<uint32_t> numbers);

 private:
  // The number of `text` in texts_, where it is added if new.
  uint32_t Intern(std::string_view text);
  void Grow();

  std::vector<uint32_t> cells_;     // per row: index into texts_
  std::vector<std::string> texts_;  // distinct, in order of first appearance
  // Open addressing over texts_; power of two, or empty where no text was sought.
  std::vector<uint32_t> slots_;
};

}  // namespace borescope::internal
