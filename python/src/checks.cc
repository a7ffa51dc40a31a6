#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "borescope/check.h"
#include "call.h"
#include "values.h"

namespace nb = nanobind;

namespace borescope::python {
namespace {

std::vector<std::string> PathsIn(const nb::list& given) {
  std::vector<std::string> paths;
  for (const nb::handle path : given) {
    paths.push_back(RawText(path));
  }
  return paths;
}

// `files` are the paths of the budget file and of the outputs, by the names of the options.
CheckOptions OptionsOf(const nb::dict& files, const Pairs& params) {
  CheckOptions options;
  const std::pair<const char*, std::string CheckOptions::*> members[] = {
      {"budget", &CheckOptions::budget},     {"save_baseline", &CheckOptions::save_baseline},
      {"junit", &CheckOptions::junit},       {"sarif", &CheckOptions::sarif},
      {"markdown", &CheckOptions::markdown}, {"html", &CheckOptions::html}};
  for (const auto& [name, member] : members) {
    if (files.contains(name)) {
      options.*member = RawText(files[name]);
    }
  }
  options.question = Question::Of({"check"}, params);
  return options;
}

// The status, why, and the tables.
nb::tuple CheckRuns(const nb::list& runs, const nb::list& baseline, const nb::list& history,
                    const nb::dict& files, const Pairs& params, double fail, bool all, bool force,
                    bool strict, std::vector<std::string> captures, int threads,
                    uint64_t memory_limit, nb::object progress) {
  CheckOptions options = OptionsOf(files, params);
  options.baseline = PathsIn(baseline);
  options.history = PathsIn(history);
  options.fail = fail;
  options.all = all;
  options.force = force;
  options.strict = strict;
  options.captures = std::move(captures);
  options.threads = threads;
  options.memory_limit = memory_limit;
  const std::vector<std::string> inputs = PathsIn(runs);
  Call call(std::move(progress));
  options.progress = call.progress();
  options.stop = call.stop();
  CheckReport report = call.Run([&] { return Check(inputs, options); });
  return nb::make_tuple(CheckStatusName(report.status), TextOf(report.why),
                        nb::cast(std::move(report.answer)));
}

}  // namespace

void BindChecks(nb::module_& module) {
  module.def("check", CheckRuns, nb::arg("runs"), nb::arg("baseline"), nb::arg("history"),
             nb::arg("files"), nb::arg("params"), nb::arg("fail"), nb::arg("all"), nb::arg("force"),
             nb::arg("strict"), nb::arg("captures"), nb::arg("threads"), nb::arg("memory_limit"),
             nb::arg("progress").none());
}

}  // namespace borescope::python
