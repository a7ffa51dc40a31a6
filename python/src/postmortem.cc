#include "borescope/postmortem.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "call.h"
#include "values.h"

namespace nb = nanobind;

namespace borescope::python {
namespace {

// The tables, whether there is a cause, whether it is unclear, and whether a file was refused.
nb::tuple PostmortemOf(const nb::list& given, int world, std::string limit, std::string skip_frames,
                       int fix_time, std::string rank, std::string sort, std::optional<size_t> top,
                       bool scrub, int threads, uint64_t memory_limit, nb::object progress) {
  std::vector<std::string> paths;
  for (const nb::handle path : given) {
    paths.push_back(RawText(path));
  }
  Call call(std::move(progress));
  PostmortemOptions options;
  options.world = world;
  options.limit = std::move(limit);
  options.skip_frames = std::move(skip_frames);
  options.fix_time = fix_time;
  options.rank = std::move(rank);
  options.sort = std::move(sort);
  options.top = top;
  if (scrub) {
    options.scrub.emplace();
  }
  options.threads = threads;
  options.memory_limit = memory_limit;
  options.progress = call.progress();
  options.stop = call.stop();
  PostmortemReport report = call.Run([&] { return Postmortem(paths, options); });
  return nb::make_tuple(nb::cast(std::move(report.answer)), report.has_cause, report.is_unclear,
                        report.has_failed);
}

}  // namespace

void BindPostmortem(nb::module_& module) {
  module.def("postmortem", PostmortemOf, nb::arg("paths"), nb::arg("world"), nb::arg("limit"),
             nb::arg("skip_frames"), nb::arg("fix_time"), nb::arg("rank"), nb::arg("sort"),
             nb::arg("top").none(), nb::arg("scrub"), nb::arg("threads"), nb::arg("memory_limit"),
             nb::arg("progress").none());
}

}  // namespace borescope::python
