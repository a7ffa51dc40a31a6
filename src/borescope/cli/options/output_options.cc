#include "borescope/cli/options/output_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "borescope/catalog/catalog.h"
#include "borescope/cli/terminal/terminal.h"

namespace borescope::internal::cli {
namespace {

// The format that a file is called after: csv of "out.csv"; text of any other name.
std::string_view FormatOf(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  for (const TableWriter& row : TableWriters()) {
    if (extension.size() > 1 && extension.substr(1) == row.extension) {
      return row.name;
    }
  }
  return "text";
}

Result<const TableWriter*> WriterOf(std::string_view format) {
  const TableWriter* const writer = FindTableWriter(format);
  if (writer == nullptr) {
    std::vector<std::string_view> names;
    for (const TableWriter& row : TableWriters()) {
      names.push_back(row.name);
    }
    return UsageError(fmt::format("--format: unknown format '{}'; formats are {}", format,
                                  fmt::join(names, ", ")));
  }
  return writer;
}

Result<void> CheckDrawable(const TableWriter& writer, Specs specs, const RawOptions& raw) {
  const bool has_views = std::any_of(specs.begin(), specs.end(),
                                     [](const AnalysisSpec* spec) { return HasPicture(*spec); });
  if (!writer.draws || has_views) {
    return {};
  }
  std::vector<std::string_view> verbs;
  for (const AnalysisSpec* spec : Analyses()) {
    if (HasPicture(*spec)) {
      verbs.push_back(spec->name);
    }
  }
  return UsageError(
      fmt::format("{}: nothing of this answer is drawn; pictures are made of {}",
                  raw.format.empty() ? "--output " + raw.output : "--format " + raw.format,
                  fmt::join(verbs, ", ")));
}

// Tables are text in a file of any other name; but who wants a page means the report.
Result<void> CheckNoPage(const RawOptions& raw) {
  const std::string extension = std::filesystem::path(raw.output).extension().string();
  const bool is_page = raw.format.empty() && (extension == ".html" || extension == ".htm");
  return is_page ? UsageError(fmt::format("--output {0}: pages are written by borescope report "
                                          "INPUT -o {0}; name a format with --format",
                                          raw.output))
                 : Result<void>();
}

// REQUIRES: CheckColour.
bool ColourOf(const std::string& when) {
  return when.empty() || when == "auto" ? TerminalHasColours() : when == "always";
}

}  // namespace

Result<void> CheckColour(const std::string& when) {
  if (!when.empty() && when != "auto" && when != "always" && when != "never") {
    return UsageError(fmt::format("--color: '{}' is not auto, always or never", when));
  }
  return {};
}

Result<OutputOptions> UnderstandOutput(const RawOptions& raw, Specs specs) {
  OutputOptions output{nullptr, raw.output, false};
  BS_TRY(CheckNoPage(raw));
  BS_ASSIGN(output.writer, WriterOf(raw.format.empty() ? FormatOf(raw.output) : raw.format));
  output.colour = ColourOf(raw.color);
  BS_TRY(CheckDrawable(*output.writer, specs, raw));
  if (output.writer->check != nullptr) {
    BS_TRY(output.writer->check());
  }
  if (output.writer->is_binary && output.path.empty() && isatty(STDOUT_FILENO) != 0) {
    return UsageError(
        fmt::format("--format {0}: nothing for a terminal; name a file with -o picture.{1}",
                    output.writer->name, output.writer->extension));
  }
  return output;
}

Result<void> ProtectInputs(std::span<const std::string> inputs, OutputOptions& output) {
  output.inputs = FileLookup(inputs);
  return CheckNoInput(output.inputs, output.path, "--output");
}

Result<void> CheckFiles(const OutputOptions& output, const Document& document) {
  if (output.path.empty()) {
    return {};
  }
  for (const std::string& file : OutputPaths(*output.writer, document, output.path)) {
    BS_TRY(CheckNoInput(output.inputs, file, "--output"));
  }
  return {};
}

Result<OutputOptions> UnderstandStandardOutput(RawOptions raw) {
  raw.output.clear();
  return UnderstandOutput(raw);
}

}  // namespace borescope::internal::cli
