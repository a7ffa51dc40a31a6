// Values for the parameters of statements: ?, :name, @name, $name.
#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "borescope/base/result.h"

namespace borescope::internal::query {

// NULL, a number or a text.
using Value = std::variant<std::monostate, int64_t, double, std::string>;
// By name without its first character; those of the empty name are for one "?" each, in order.
using Parameters = std::vector<std::pair<std::string, Value>>;

// Hands values to one statement after the other. Not thread-safe.
class ParameterBinder {
 public:
  // `parameters` outlives this.
  explicit ParameterBinder(const Parameters& parameters)
      : parameters_(parameters), is_used_(parameters.size()) {}

  // kInvalidArgument names a parameter of the statement that has no value. Texts are bound without
  // a copy.
  Result<void> Bind(sqlite3_stmt* statement);
  // kInvalidArgument names a value that no statement took.
  Result<void> CheckAllUsed() const;

 private:
  const Parameters& parameters_;
  std::vector<bool> is_used_;
};

}  // namespace borescope::internal::query
