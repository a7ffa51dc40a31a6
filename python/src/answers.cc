#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <string_view>

#include "bindings.h"
#include "borescope/answer.h"
#include "failure.h"
#include "values.h"

namespace nb = nanobind;

namespace borescope::python {
namespace {

RenderOptions OptionsOf(int width, bool colour, bool guard_formulas) {
  return {.width = width, .colour = colour, .guard_formulas = guard_formulas};
}

nb::bytes Render(const Answer& answer, const std::string& format, int width, bool colour,
                 bool guard_formulas) {
  const auto render = [&] {
    const nb::gil_scoped_release release;
    return answer.Render(format, OptionsOf(width, colour, guard_formulas));
  };
  return BytesOf(Value(render()));
}

std::vector<std::string> Write(const Answer& answer, const std::string& format,
                               const nb::bytes& target, bool guard_formulas) {
  const std::string path = RawText(target);
  const auto write = [&] {
    const nb::gil_scoped_release release;
    return answer.Write(format, path, OptionsOf(80, false, guard_formulas));
  };
  return Value(write());
}

Answer ParseJson(const nb::bytes& json) {
  const std::string_view text(json.c_str(), json.size());
  const auto parse = [&] {
    const nb::gil_scoped_release release;
    return Answer::ParseJson(text);
  };
  return Value(parse());
}

}  // namespace

void BindAnswers(nb::module_& module) {
  nb::class_<Answer>(module, "Answer", nb::is_final())
      .def_prop_ro("tables", &Answer::tables)
      .def_prop_ro("diagnostics",
                   [](const Answer& answer) { return DiagnosticsOf(answer.diagnostics()); })
      .def_prop_ro("files", [](const Answer& answer) { return FilesOf(answer.files()); })
      .def("only", &Answer::Only, nb::arg("name"), nb::arg("begin"), nb::arg("count"))
      .def("render", Render, nb::arg("format"), nb::arg("width"), nb::arg("colour"),
           nb::arg("guard_formulas"))
      .def("write", Write, nb::arg("format"), nb::arg("path"), nb::arg("guard_formulas"))
      .def_static("parse_json", ParseJson, nb::arg("json"));
}

}  // namespace borescope::python
