#include "failure.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string_view>

#include "values.h"

namespace nb = nanobind;

namespace borescope::python {
namespace {

// The names by which borescope._errors knows the codes.
std::string_view CodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kUnsupportedFormat:
      return "unsupported-format";
    case ErrorCode::kCorrupt:
      return "corrupt";
    case ErrorCode::kMissingData:
      return "missing-data";
    case ErrorCode::kInvalidArgument:
      return "invalid-argument";
    case ErrorCode::kCancelled:
      return "cancelled";
  }
  return "io";
}

nb::object NumberOf(const std::optional<uint64_t>& number) {
  return number.has_value() ? nb::cast(*number) : nb::none();
}

void Raise(const Failure& failure) {
  const Error& error = failure.error();
  const nb::object make = nb::module_::import_("borescope._errors").attr("make");
  const nb::object raised = make(TextOf(CodeName(error.code)), TextOf(failure.what()),
                                 TextOf(error.remedy), TextOf(error.file), NumberOf(error.offset),
                                 NumberOf(error.line), TextOf(error.parameter));
  PyErr_SetObject(raised.type().ptr(), raised.ptr());
}

void Translate(const std::exception_ptr& thrown, void* /*unused*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Failure& failure) {
    Raise(failure);
  }
}

}  // namespace

void RegisterFailures() { nb::register_exception_translator(Translate); }

}  // namespace borescope::python
