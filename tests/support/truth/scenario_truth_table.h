// One table of truth.json under construction.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace borescope::scenario {

// Text with quotes; the names in truth.json are ours and need only these escapes.
inline std::string Quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

// One table under construction: rows are appended, columns are written.
class TableText {
 public:
  TableText(std::string_view name, std::vector<std::string_view> columns)
      : name_(name), columns_(std::move(columns)), values_(columns_.size()) {}

  TableText& Int(int64_t value) { return Add(fmt::to_string(value)); }
  TableText& Text(std::string_view value) { return Add(Quote(value)); }
  TableText& Null() { return Add("null"); }

  std::string ToJson() const {
    std::string out = fmt::format("    \"{}\": {{\"columns\": {{", name_);
    for (size_t i = 0; i < columns_.size(); ++i) {
      out += fmt::format("{}\n      \"{}\": [{}]", i == 0 ? "" : ",", columns_[i], values_[i]);
    }
    return out + "}}";
  }

 private:
  TableText& Add(std::string_view value) {
    std::string& column = values_[next_];
    if (!column.empty()) column += ", ";
    column += value;
    next_ = (next_ + 1) % columns_.size();
    return *this;
  }

  std::string_view name_;
  std::vector<std::string_view> columns_;
  std::vector<std::string> values_;
  size_t next_ = 0;
};

}  // namespace borescope::scenario
