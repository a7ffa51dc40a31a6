// Result<T>: a value or an Error. Every failure a caller must know about travels through
// a Result; our two exceptions are in stop.h and row_limit.h. Odd records inside an otherwise
// good input do not: they are counted in Diagnostics.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace borescope::internal {

enum class ErrorCode {
  kIo,                 // a file cannot be opened, read or written
  kUnsupportedFormat,  // recognised or not, but no reader supports it
  kCorrupt,            // the input is damaged beyond repair
  kMissingData,        // the analysis needs data that the trace does not contain
  kInvalidArgument,    // the caller requested something impossible
  kCancelled,          // a stop was requested
};

// `message` names file, place, cause and remedy, in that order, in one line without a full stop.
struct Error {
  ErrorCode code = ErrorCode::kIo;
  std::string message;
};

// The caller requested something impossible.
inline Error UsageError(std::string message) {
  return {ErrorCode::kInvalidArgument, std::move(message)};
}

template <class T = void>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }

  // REQUIRES: ok()
  T& value() & { return std::get<T>(state_); }
  const T& value() const& { return std::get<T>(state_); }
  T&& value() && { return std::get<T>(std::move(state_)); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }

  // REQUIRES: !ok()
  const Error& error() const { return std::get<Error>(state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }

  // REQUIRES: !ok()
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

// The error, prefixed with its subject: a path, or an option.
inline Error About(std::string_view what, const Error& error) {
  return {error.code, std::string(what) + ": " + error.message};
}
template <class T>
Result<T> About(std::string_view what, Result<T> result) {
  return result.ok() ? std::move(result) : About(what, result.error());
}

#define BS_CONCAT_INNER(a, b) a##b
#define BS_CONCAT(a, b) BS_CONCAT_INNER(a, b)

// Returns the error of `expr` (a Result) to the caller, if there is one.
#define BS_TRY(expr)                                \
  do {                                              \
    if (auto bs_result = (expr); !bs_result.ok()) { \
      return bs_result.error();                     \
    }                                               \
  } while (false)

// Declares or assigns `lhs` from the value of `expr` (a Result), or returns its error.
#define BS_ASSIGN(lhs, expr)                        \
  auto BS_CONCAT(bs_result_, __LINE__) = (expr);    \
  if (!BS_CONCAT(bs_result_, __LINE__).ok()) {      \
    return BS_CONCAT(bs_result_, __LINE__).error(); \
  }                                                 \
  lhs = std::move(BS_CONCAT(bs_result_, __LINE__)).value()

}  // namespace borescope::internal
