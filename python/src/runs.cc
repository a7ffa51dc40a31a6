#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings.h"
#include "borescope/run.h"
#include "call.h"
#include "sources.h"
#include "values.h"

namespace nb = nanobind;

namespace borescope::python {
namespace {

using Names = std::vector<std::string>;

nb::list PathsOf(const Run& run) {
  nb::list paths;
  for (const std::string& path : run.paths()) {
    paths.append(BytesOf(path));
  }
  return paths;
}

Run Open(const nb::list& sources, int threads, uint64_t memory_limit, uint64_t keep_bytes,
         Names captures, Names counters, bool counters_anyway, bool saved,
         std::optional<std::pair<uint32_t, uint32_t>> shard, std::string cache,
         std::optional<uint64_t> cache_bytes, bool cache_is_optional, bool cache_needs_identity) {
  OpenOptions options;
  options.threads = threads;
  options.memory_limit = memory_limit;
  options.keep_bytes = keep_bytes;
  options.captures = std::move(captures);
  options.counters = std::move(counters);
  options.counters_anyway = counters_anyway;
  options.saved = saved;
  options.cache = std::move(cache);
  options.cache_bytes = cache_bytes.value_or(options.cache_bytes);
  options.cache_is_optional = cache_is_optional;
  options.cache_needs_identity = cache_needs_identity;
  if (shard.has_value()) {
    options.shard = Shard{shard->first, shard->second};
  }
  const std::vector<Source> given = SourcesOf(sources);
  const auto open = [&] {
    const nb::gil_scoped_release release;
    return Run::Open(given, options);
  };
  return Value(open());
}

Run Only(const Run& run, const std::vector<size_t>& files, uint64_t keep_bytes) {
  return Value(run.Only(files, keep_bytes));
}

// `format` is one that the answer will be drawn in, or empty: pictures need more tables than text.
Answer Ask(const Run& run, const Names& verbs, const Pairs& params, const std::string& format,
           nb::object progress) {
  Call call(std::move(progress));
  return call.Run([&] {
    return run.Share(call.stop(), call.progress())
        .Ask(Question::Of(verbs, params), {.format = format});
  });
}

Answer Compare(const Run& base, const Run& test, const std::string& verb, const Pairs& params,
               const std::string& format, nb::object progress) {
  Call call(std::move(progress));
  return call.Run([&] {
    const Run second = test.Share(call.stop(), call.progress());
    return base.Share(call.stop(), call.progress())
        .Compare(second, Question::Of({verb}, params), {.format = format});
  });
}

Answer Query(const Run& run, const std::string& sql, const nb::list& parameters,
             const std::string& rank, std::optional<double> seconds, std::optional<size_t> rows,
             nb::object progress) {
  const SqlParameters values = SqlParametersOf(parameters);
  Call call(std::move(progress));
  return call.Run([&]() -> Result<Answer> {
    const Run shared = run.Share(call.stop(), call.progress());
    Result<QuerySession> session = QuerySession::Open(shared, {rank, seconds, rows});
    return session.ok() ? session->Ask(sql, values) : session.error();
  });
}

// Empty paths are outputs that are not wanted.
nb::list Report(const Run& run, const nb::bytes& page, const nb::bytes& card,
                const nb::bytes& markdown, const Pairs& params, const Run* against,
                nb::object progress) {
  ReportOutputs outputs;
  if (const std::string path = RawText(page); !path.empty()) {
    outputs.page = path;
  }
  outputs.card = RawText(card);
  if (const std::string path = RawText(markdown); !path.empty()) {
    outputs.markdown = path;
  }
  Call call(std::move(progress));
  return FilesOf(call.Run([&] {
    std::optional<Run> other;
    if (against != nullptr) {
      other = against->Share(call.stop(), call.progress());
    }
    return run.Share(call.stop(), call.progress())
        .WriteReport(outputs, Question::Of({"report"}, params),
                     other.has_value() ? &*other : nullptr);
  }));
}

nb::bytes ReportBytes(const Run& run, const Pairs& params, const Run* against,
                      nb::object progress) {
  Call call(std::move(progress));
  return BytesOf(call.Run([&]() -> Result<std::string> {
    std::string page;
    const Output output = Output::To([&](std::string_view bytes) -> Result<void> {
      page += bytes;
      return {};
    });
    std::optional<Run> other;
    if (against != nullptr) {
      other = against->Share(call.stop(), call.progress());
    }
    const Result<std::vector<FileInfo>> files =
        run.Share(call.stop(), call.progress())
            .Report(output, Question::Of({"report"}, params),
                    other.has_value() ? &*other : nullptr);
    return files.ok() ? Result<std::string>(std::move(page)) : files.error();
  }));
}

nb::bytes Map(const Run& run, const Names& verbs, const Pairs& params, nb::object progress) {
  Call call(std::move(progress));
  return BytesOf(call.Run([&]() -> Result<std::string> {
    const Result<Partial> partial =
        run.Share(call.stop(), call.progress()).Map(Question::Of(verbs, params));
    return partial.ok() ? partial->Serialize() : partial.error();
  }));
}

}  // namespace

void BindRuns(nb::module_& module) {
  nb::class_<Run>(module, "Run", nb::is_final())
      .def_static("open", Open, nb::arg("sources"), nb::arg("threads"), nb::arg("memory_limit"),
                  nb::arg("keep_bytes"), nb::arg("captures"), nb::arg("counters"),
                  nb::arg("counters_anyway"), nb::arg("saved"), nb::arg("shard").none(),
                  nb::arg("cache"), nb::arg("cache_bytes").none(), nb::arg("cache_is_optional"),
                  nb::arg("cache_needs_identity"))
      .def_prop_ro("paths", PathsOf)
      .def_prop_ro("kept_bytes", &Run::kept_bytes)
      .def("only", Only, nb::arg("files"), nb::arg("keep_bytes"))
      .def("forget", &Run::Forget)
      .def("ask", Ask, nb::arg("verbs"), nb::arg("params"), nb::arg("format"),
           nb::arg("progress").none())
      .def("compare", Compare, nb::arg("test"), nb::arg("verb"), nb::arg("params"),
           nb::arg("format"), nb::arg("progress").none())
      .def("query", Query, nb::arg("sql"), nb::arg("parameters"), nb::arg("rank"),
           nb::arg("seconds").none(), nb::arg("rows").none(), nb::arg("progress").none())
      .def("report", Report, nb::arg("page"), nb::arg("card"), nb::arg("markdown"),
           nb::arg("params"), nb::arg("against").none(), nb::arg("progress").none())
      .def("report_bytes", ReportBytes, nb::arg("params"), nb::arg("against").none(),
           nb::arg("progress").none())
      .def("map", Map, nb::arg("verbs"), nb::arg("params"), nb::arg("progress").none());
  module.def("is_in_cache", IsInCache, nb::arg("folder"), nb::arg("identity"));
}

}  // namespace borescope::python
