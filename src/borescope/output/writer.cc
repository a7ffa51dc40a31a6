#include "borescope/output/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "borescope/output/charts/png/png.h"

namespace borescope::internal {

void AppendDiagnostics(const Diagnostics& diagnostics, const std::string& file,
                       std::vector<Diagnostic>& rows) {
  for (size_t i = 0; i < static_cast<size_t>(Diag::kCount); ++i) {
    const DiagRow& row = GetDiagRow(static_cast<Diag>(i));
    const Diagnostics::Entry& entry = diagnostics.Get(row.id);
    if (entry.count == 0) {
      continue;
    }
    std::string first = entry.first;
    if (entry.first_byte != Diagnostics::kNoByte) {
      const std::string_view gap = first.empty() ? "" : ": ";
      first.insert(0, fmt::format("byte {}{}", entry.first_byte, gap));
    }
    rows.push_back(
        {row.severity, std::string(row.code), entry.count, file, first, std::string(row.help)});
  }
}

namespace {

namespace fs = std::filesystem;

constexpr TableWriter kWriters[] = {
    {"text", "txt", "aligned columns for people, fitted to the terminal", true, WriteText, nullptr},
    {"csv", "csv", "raw numbers, one table per file or under '# name' lines", false, WriteCsv,
     WriteCsvTable},
    {"json", "json", "all tables by column, with units and diagnostics", true, WriteJson, nullptr},
    {"svg", "svg", "charts as one picture, for verbs that have some", false, WriteSvg, nullptr,
     true},
    {"png", "png", "the same picture in pixels", false, WritePng, nullptr, true, true, CheckPng},
};

std::string PathOfTable(const fs::path& path, std::string_view table) {
  fs::path name = path.stem();
  name += ".";
  name += table;
  name += path.extension();
  return (path.parent_path() / name).string();
}

}  // namespace

std::span<const TableWriter> TableWriters() { return kWriters; }

bool CarriesDiagnostics(const TableWriter& writer, const Document& document) {
  const bool has_lines = writer.write == WriteText && document.lines.form != LineForm::kNone;
  return writer.carries_diagnostics && !has_lines;
}

const TableWriter* FindTableWriter(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kWriters), std::end(kWriters),
                                         [&](const TableWriter& row) { return row.name == name; });
  return found == std::end(kWriters) ? nullptr : found;
}

Result<std::vector<std::string>> WriteFiles(const TableWriter& writer, const Document& document,
                                            const WriteOptions& options, const std::string& path) {
  std::vector<std::string> paths = OutputPaths(writer, document, path);
  if (writer.write_table == nullptr || IsWrittenDirectly(path)) {
    BS_TRY(WriteFile(path, [&](Sink& sink) { return writer.write(document, options, sink); }));
    return paths;
  }
  for (size_t i = 0; i < paths.size(); ++i) {
    const Table& table = document.tables[i];
    BS_TRY(
        WriteFile(paths[i], [&](Sink& sink) { return writer.write_table(table, options, sink); }));
  }
  return paths;
}

std::vector<std::string> OutputPaths(const TableWriter& writer, const Document& document,
                                     const std::string& path) {
  if (writer.write_table == nullptr || document.tables.size() == 1 || IsWrittenDirectly(path)) {
    return {path};
  }
  std::vector<std::string> paths;
  paths.reserve(document.tables.size());
  for (const Table& table : document.tables) {
    paths.push_back(PathOfTable(path, table.name));
  }
  return paths;
}

}  // namespace borescope::internal
