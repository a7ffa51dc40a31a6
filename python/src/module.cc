// borescope._native: the library as Python's modules of this package use it. Its names are not for
// users; what they call is in borescope/*.py.
#include <nanobind/nanobind.h>

#include "bindings.h"
#include "failure.h"

NB_MODULE(_native, module) {
  namespace python = borescope::python;
  module.doc() = "The engine of Borescope. Use the package `borescope`.";
  // At the end of a process, objects may well be alive; tests turn this on.
  nanobind::set_leak_warnings(false);
  module.def("warn_of_leaks", &nanobind::set_leak_warnings, nanobind::arg("value"));
  python::RegisterFailures();
  python::BindTables(module);
  python::BindAnswers(module);
  python::BindRuns(module);
  python::BindTasks(module);
  python::BindChecks(module);
  python::BindPostmortem(module);
  python::BindCommandLine(module);
}
