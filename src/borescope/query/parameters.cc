#include "borescope/query/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <string_view>

namespace borescope::internal::query {
namespace {

int BindValue(sqlite3_stmt* statement, int place, const Value& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) {
    return sqlite3_bind_int64(statement, place, *number);
  }
  if (const auto* number = std::get_if<double>(&value)) {
    return sqlite3_bind_double(statement, place, *number);
  }
  if (const auto* text = std::get_if<std::string>(&value)) {
    return sqlite3_bind_text64(statement, place, text->data(), text->size(), SQLITE_STATIC,
                               SQLITE_UTF8);
  }
  return sqlite3_bind_null(statement, place);
}

}  // namespace

Result<void> ParameterBinder::Bind(sqlite3_stmt* statement) {
  const int count = sqlite3_bind_parameter_count(statement);
  if (count > 0 && parameters_.empty()) {
    return UsageError("query: there are no values for parameters (?, :name)", "write them out");
  }
  for (int place = 1; place <= count; ++place) {
    const char* const text = sqlite3_bind_parameter_name(statement, place);
    const std::string_view written = text == nullptr ? "?" : text;
    const std::string_view name = written.substr(1);
    size_t i = 0;
    while (i < parameters_.size() &&
           (parameters_[i].first != name || (name.empty() && is_used_[i]))) {
      ++i;
    }
    if (i == parameters_.size()) {
      return UsageError(fmt::format("query: there is no value for the parameter {}", written));
    }
    is_used_[i] = true;
    const int status = BindValue(statement, place, parameters_[i].second);
    if (status == SQLITE_NOMEM) {
      throw std::bad_alloc();
    }
    if (status != SQLITE_OK) {
      return UsageError(fmt::format("query: the value of the parameter {} is too long", written));
    }
  }
  return {};
}

Result<void> ParameterBinder::CheckAllUsed() const {
  const auto unused = std::find(is_used_.begin(), is_used_.end(), false);
  if (unused == is_used_.end()) {
    return {};
  }
  const std::string& name = parameters_[static_cast<size_t>(unused - is_used_.begin())].first;
  return UsageError(name.empty() ? "query: there are more values than ? in the statement"
                                 : fmt::format("query: no statement has the parameter :{}", name));
}

}  // namespace borescope::internal::query
