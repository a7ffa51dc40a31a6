#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <vector>

#include "bindings.h"
#include "borescope/convert.h"
#include "borescope/output.h"
#include "borescope/partial.h"
#include "borescope/query.h"
#include "borescope/run.h"
#include "borescope/schema.h"
#include "borescope/text.h"
#include "borescope/version.h"
#include "call.h"
#include "values.h"

namespace nb = nanobind;

namespace borescope::python {
namespace {

// Partials that are read one after the other; `names` represent them in messages.
std::vector<StoredPart> StoredPartsOf(const std::vector<std::string>& parts,
                                      const std::vector<std::string>& names) {
  std::vector<StoredPart> stored;
  for (size_t i = 0; i < parts.size(); ++i) {
    stored.push_back({names[i], parts[i]});
  }
  return stored;
}

// Partials from bytes; `names` represent them in messages.
Result<std::vector<Partial>> PartialsOf(const std::vector<std::string>& parts,
                                        const std::vector<std::string>& names) {
  std::vector<Partial> partials;
  partials.reserve(parts.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    Result<Partial> partial = Partial::Parse(parts[i], names[i]);
    if (!partial.ok()) {
      return partial.error();
    }
    partials.push_back(std::move(*partial));
  }
  return partials;
}

std::vector<std::string> TextsOf(const std::vector<nb::bytes>& parts) {
  std::vector<std::string> texts;
  texts.reserve(parts.size());
  for (const nb::bytes& part : parts) {
    texts.emplace_back(part.c_str(), part.size());
  }
  return texts;
}

Answer ReduceParts(const std::vector<nb::bytes>& parts, const std::vector<std::string>& names,
                   const std::string& sort, std::optional<size_t> top,
                   std::optional<uint64_t> expect) {
  const std::vector<std::string> texts = TextsOf(parts);
  Call call{nb::none()};
  return call.Run([&]() -> Result<Answer> {
    return Reduce(StoredPartsOf(texts, names), {{sort, top}, expect, call.stop()});
  });
}

nb::bytes MergeParts(const std::vector<nb::bytes>& parts, const std::vector<std::string>& names) {
  const std::vector<std::string> texts = TextsOf(parts);
  Call call{nb::none()};
  return BytesOf(call.Run([&]() -> Result<std::string> {
    const Result<std::vector<Partial>> partials = PartialsOf(texts, names);
    if (!partials.ok()) {
      return partials.error();
    }
    const Result<Partial> merged = Merge(*partials, call.stop());
    return merged.ok() ? merged->Serialize() : merged.error();
  }));
}

nb::dict ConvertFiles(const std::vector<nb::bytes>& given, const nb::bytes& target,
                      const std::string& to, const std::vector<std::string>& overlays,
                      const std::string& steps, const std::string& begin, const std::string& end,
                      bool context, const std::string& align, std::optional<bool> scrub_names,
                      int threads, nb::object progress) {
  Call call(std::move(progress));
  ConvertOptions options;
  options.inputs = TextsOf(given);
  options.output = RawText(target);
  options.to = to;
  options.steps = steps;
  options.overlays = overlays;
  options.begin = begin;
  options.end = end;
  options.keeps_context = context;
  options.align = align;
  if (scrub_names.has_value()) {
    options.scrub = ScrubOptions{.names = *scrub_names};
  }
  options.threads = threads;
  options.progress = call.progress();
  options.stop = call.stop();
  const ConvertReport report = call.Run([&] { return Convert(options); });
  nb::dict row;
  row["written"] = report.written;
  row["outside"] = report.outside;
  row["unplaced"] = report.unplaced;
  row["format"] = report.format;
  row["scrubbed"] = report.scrubbed;
  row["files"] = report.files;
  row["skipped"] = report.skipped;
  nb::list aligned;
  for (const AlignedFile& file : report.aligned) {
    aligned.append(nb::make_tuple(TextOf(file.file), file.shift_ns, file.error_ns, file.verdict));
  }
  row["aligned"] = aligned;
  row["diagnostics"] = DiagnosticsOf(report.diagnostics);
  return row;
}

std::string NearestOf(const std::string& word, const std::vector<std::string>& candidates) {
  const std::vector<std::string_view> views(candidates.begin(), candidates.end());
  return std::string(Nearest(word, views));
}

void CheckLinks(const nb::bytes& path) { Value(CheckNoForeignLink(RawText(path))); }

}  // namespace

void BindTasks(nb::module_& module) {
  module.def("version", &Version);
  module.def("schema", &SchemaTables);
  module.def("query_schema", [] { return Value(QuerySchema()); });
  module.def("nearest", NearestOf, nb::arg("word"), nb::arg("candidates"));
  module.def("reduce", ReduceParts, nb::arg("parts"), nb::arg("names"), nb::arg("sort"),
             nb::arg("top").none(), nb::arg("expect").none());
  module.def("merge", MergeParts, nb::arg("parts"), nb::arg("names"));
  module.def("check_no_foreign_link", CheckLinks, nb::arg("path"));
  module.def("convert", ConvertFiles, nb::arg("inputs"), nb::arg("output"), nb::arg("to"),
             nb::arg("overlays"), nb::arg("steps"), nb::arg("begin"), nb::arg("end"),
             nb::arg("context"), nb::arg("align"), nb::arg("scrub_names").none(),
             nb::arg("threads"), nb::arg("progress").none());
}

}  // namespace borescope::python
