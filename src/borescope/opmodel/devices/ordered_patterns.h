// Ordered regular expressions over kernel names, the first match decides. Names come from files
// that may be hostile, so matching takes time linear in the name and a bounded amount of memory
// (RE2), which std::regex does not.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}  // namespace re2

namespace borescope::internal {

// Immutable once made; any number of threads may ask at once.
class OrderedPatterns {
 public:
  // REQUIRES: every pattern is a regular expression in the syntax of RE2.
  explicit OrderedPatterns(std::span<const std::string_view> patterns);
  ~OrderedPatterns();
  OrderedPatterns(const OrderedPatterns&) = delete;
  OrderedPatterns& operator=(const OrderedPatterns&) = delete;

  // The number of the first pattern found anywhere in the name; nullopt: none is.
  std::optional<size_t> FirstMatch(std::string_view name) const;

 private:
  std::vector<std::unique_ptr<re2::RE2>> patterns_;
};

// The member `pattern` of each row of a table.
template <class Row>
std::vector<std::string_view> PatternsOfRows(std::span<const Row> rows) {
  std::vector<std::string_view> patterns;
  patterns.reserve(rows.size());
  for (const Row& row : rows) {
    patterns.push_back(row.pattern);
  }
  return patterns;
}

}  // namespace borescope::internal
