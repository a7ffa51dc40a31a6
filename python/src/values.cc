#include "values.h"

#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace borescope::python {
namespace {

SqlValue SqlValueOf(nb::handle value) {
  if (value.is_none()) {
    return std::monostate{};
  }
  if (nb::isinstance<nb::int_>(value)) {
    return nb::cast<int64_t>(value);
  }
  if (nb::isinstance<nb::float_>(value)) {
    return nb::cast<double>(value);
  }
  return nb::cast<std::string>(value);
}

std::string_view WordOf(CacheUse use) {
  switch (use) {
    case CacheUse::kNone:
      return "none";
    case CacheUse::kFound:
      return "found";
    case CacheUse::kKept:
      return "kept";
    case CacheUse::kFailed:
      return "failed";
  }
  return "none";
}

nb::dict FileOf(const FileInfo& file) {
  nb::dict row;
  row["path"] = BytesOf(file.path);
  row["rank"] = file.rank;
  row["file_bytes"] = file.file_bytes;
  row["text_bytes"] = file.text_bytes;
  row["events"] = file.events;
  row["skipped"] = file.skipped;
  row["error"] = TextOf(file.error);
  row["load_ns"] = file.load_ns;
  row["index_ns"] = file.index_ns;
  row["analysis_ns"] = file.analysis_ns;
  row["overlay"] = file.overlay.has_value() ? TextOf(file.overlay->path) : nb::none();
  row["saved"] = file.saved.empty() ? nb::none() : TextOf(file.saved);
  row["cache"] = TextOf(WordOf(file.cache));
  row["cache_failure"] = TextOf(file.cache_failure);
  return row;
}

}  // namespace

SqlParameters SqlParametersOf(const nb::list& pairs) {
  SqlParameters parameters;
  for (const nb::handle pair : pairs) {
    parameters.emplace_back(nb::cast<std::string>(pair[0]), SqlValueOf(pair[1]));
  }
  return parameters;
}

nb::bytes BytesOf(const std::string& text) { return nb::bytes(text.data(), text.size()); }

std::string RawText(nb::handle text) {
  if (nb::isinstance<nb::bytes>(text)) {
    const auto bytes = nb::borrow<nb::bytes>(text);
    return {bytes.c_str(), bytes.size()};
  }
  return nb::cast<std::string>(text);
}

nb::object TextOf(std::string_view text) {
  return nb::steal(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

nb::list DiagnosticsOf(std::span<const Diagnostic> diagnostics) {
  nb::list rows;
  for (const Diagnostic& each : diagnostics) {
    rows.append(nb::make_tuple(TextOf(each.code), static_cast<int>(each.severity), each.count,
                               TextOf(each.file), TextOf(each.first), TextOf(each.help)));
  }
  return rows;
}

nb::list FilesOf(std::span<const FileInfo> files) {
  nb::list rows;
  for (const FileInfo& file : files) {
    rows.append(FileOf(file));
  }
  return rows;
}

}  // namespace borescope::python
