// The parts of the module, one function each.
#pragma once

#include <nanobind/nanobind.h>

namespace borescope::python {

void BindTables(nanobind::module_& module);   // Column, Table
void BindAnswers(nanobind::module_& module);  // Answer
void BindRuns(nanobind::module_& module);     // Run
void BindTasks(nanobind::module_& module);   // what needs no Run: partials, conversions, the schema
void BindChecks(nanobind::module_& module);  // check
void BindPostmortem(nanobind::module_& module);
void BindCommandLine(nanobind::module_& module);

}  // namespace borescope::python
