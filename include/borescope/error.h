// Errors, and Result<T>: a value or an Error. No exception of Borescope crosses the library's
// boundary; those of the standard library (std::bad_alloc, std::system_error when no thread can be
// started) pass through.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "borescope/export.h"

namespace borescope {

enum class ErrorCode : uint8_t {
  kIo,                 // a file cannot be opened, read or written
  kUnsupportedFormat,  // nothing here reads the input
  kCorrupt,            // the input is damaged beyond repair
  kMissingData,        // the question needs something that was not recorded
  kInvalidArgument,    // the caller asked for something impossible
  kCancelled,          // a stop was requested
};

// What went wrong, in parts, so that each front end can word it: parameters of a question appear in
// `cause` and `remedy` as `name` in backquotes, without the dashes of a command line.
struct Error {
  ErrorCode code = ErrorCode::kIo;
  std::string cause = {};               // in one line without a full stop
  std::string remedy = {};              // what to do about it; may be empty
  std::string file = {};                // the input or output it is about; may be empty
  std::optional<uint64_t> offset = {};  // byte in that file, inflated
  std::optional<uint64_t> line = {};    // in that file, of a text; from 1
  std::string parameter = {};           // the parameter of the question it is about; may be empty

  // "`PARAMETER`: FILE:LINE: byte OFFSET: CAUSE; REMEDY", whatever of these there is; a parameter
  // that the cause names is not put before it.
  BORESCOPE_EXPORT std::string Sentence() const;
};

// A text of the library as a command line words it: parameters, which are `kernel_wait` there, are
// the options that are typed, --kernel-wait.
BORESCOPE_EXPORT std::string WithOptions(std::string_view text);

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
  T&& operator*() && { return std::move(*this).value(); }

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

}  // namespace borescope
