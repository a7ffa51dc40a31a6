// Result<T>, a value or an Error, as the library uses it. Every failure a caller must know about
// travels through a Result, with its parts in fields from where it arises to whoever words it; our
// two exceptions are in stop.h and row_limit.h. Odd records inside an otherwise good input are no
// errors: they are counted in Diagnostics.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "borescope/error.h"
#include "borescope/try.h"

namespace borescope::internal {

using borescope::Error;
using borescope::ErrorCode;
using borescope::Result;

// The caller requested something impossible. Parameters appear in the texts as `name` in
// backquotes; `parameter` is the one it is about, if there is one.
inline Error UsageError(std::string cause, std::string remedy = {}, std::string parameter = {}) {
  return {.code = ErrorCode::kInvalidArgument,
          .cause = std::move(cause),
          .remedy = std::move(remedy),
          .parameter = std::move(parameter)};
}

// The name of a parameter whose option on the command line is --`option`: step_pattern of
// step-pattern.
std::string ParameterName(std::string_view option);

// The error as one of the file, unless it names a file already.
Error InFile(std::string_view file, Error error);
template <class T>
Result<T> InFile(std::string_view file, Result<T> result) {
  return result.ok() ? std::move(result) : InFile(file, result.error());
}
// The error as one of the parameter, unless it names one already.
Error OfParameter(std::string_view parameter, Error error);
template <class T>
Result<T> OfParameter(std::string_view parameter, Result<T> result) {
  return result.ok() ? std::move(result) : OfParameter(parameter, result.error());
}
// The sentence, as a command line words it, for a place where the file is named already.
std::string TextWithoutFile(Error error, std::string_view file);
// The error with a subject before its cause: "scenario 2: ...".
Error About(std::string_view subject, Error error);
template <class T>
Result<T> About(std::string_view subject, Result<T> result) {
  return result.ok() ? std::move(result) : About(subject, result.error());
}

}  // namespace borescope::internal
