// Errors of the engine as exceptions of Python.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "borescope/error.h"

namespace borescope::python {

// Thrown by functions that Python calls; the module turns it into the class of borescope._errors
// for its code.
class Failure : public std::exception {
 public:
  explicit Failure(Error error) : error_(std::move(error)), sentence_(error_.Sentence()) {}

  const Error& error() const { return error_; }
  const char* what() const noexcept override { return sentence_.c_str(); }

 private:
  Error error_;
  std::string sentence_;
};

// The value of a result; throws Failure if it holds an error.
template <class T>
T Value(Result<T> result) {
  if (!result.ok()) {
    throw Failure(result.error());
  }
  return std::move(result).value();
}
inline void Value(const Result<void>& result) {
  if (!result.ok()) {
    throw Failure(result.error());
  }
}

// Lets the module raise exceptions of borescope._errors for Failure.
void RegisterFailures();

}  // namespace borescope::python
