#include "borescope/cli/options/output_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "borescope/cli/terminal/terminal.h"

namespace borescope::cli {
namespace {

// The format that a file is called after: csv of "out.csv"; text of any other name.
std::string_view FormatOf(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  for (const FormatInfo& row : Describe().writers) {
    if (extension.size() > 1 && extension.substr(1) == row.extension) {
      return row.name;
    }
  }
  return "text";
}

Result<const FormatInfo*> WriterOf(std::string_view format) {
  std::vector<std::string_view> names;
  for (const FormatInfo& row : Describe().writers) {
    if (row.name == format) {
      return &row;
    }
    names.push_back(row.name);
  }
  return UsageError(
      fmt::format("--format: unknown format '{}'; formats are {}", format, fmt::join(names, ", ")));
}

Result<void> CheckDrawable(const FormatInfo& writer, Verbs verbs, const RawOptions& raw) {
  const bool has_views =
      std::any_of(verbs.begin(), verbs.end(), [](const VerbInfo* verb) { return verb->draws; });
  if (!writer.draws || has_views) {
    return {};
  }
  std::vector<std::string_view> names;
  for (const VerbInfo& verb : Describe().verbs) {
    if (verb.draws) {
      names.push_back(verb.name);
    }
  }
  return UsageError(fmt::format(
      "{}: nothing of this answer is drawn; pictures are made of {}",
      raw.Get("format").empty() ? "--output " + raw.Get("output") : "--format " + raw.Get("format"),
      fmt::join(names, ", ")));
}

// Tables are text in a file of any other name; but who wants a page means the report.
Result<void> CheckNoPage(const RawOptions& raw) {
  const std::string extension = std::filesystem::path(raw.Get("output")).extension().string();
  const bool is_page = raw.Get("format").empty() && (extension == ".html" || extension == ".htm");
  return is_page ? UsageError(fmt::format("--output {0}: pages are written by borescope report "
                                          "INPUT -o {0}; name a format with --format",
                                          raw.Get("output")))
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

Result<OutputOptions> UnderstandOutput(const RawOptions& raw, Verbs verbs, bool draws) {
  OutputOptions output{nullptr,
                       raw.Get("output") == kStandardOutput ? std::string() : raw.Get("output")};
  BS_TRY(CheckNoPage(raw));
  BS_ASSIGN(output.writer,
            WriterOf(raw.Get("format").empty() ? FormatOf(raw.Get("output")) : raw.Get("format")));
  output.colour = ColourOf(raw.Get("color"));
  output.csv_safe = raw.Has("csv-safe");
  BS_TRY(draws ? Result<void>() : CheckDrawable(*output.writer, verbs, raw));
  BS_ASSIGN(const std::string problem, WhyUnwritable(output.writer->name));
  if (!problem.empty()) {
    return UsageError(problem);
  }
  if (output.writer->is_binary && output.path.empty() && isatty(STDOUT_FILENO) != 0) {
    return UsageError(
        fmt::format("--format {0}: nothing for a terminal; name a file with -o picture.{1}",
                    output.writer->name, output.writer->extension));
  }
  return output;
}

Result<void> ProtectInputs(std::span<const std::string> inputs, OutputOptions& output) {
  output.inputs.assign(inputs.begin(), inputs.end());
  return CheckOutput(output.path, inputs);
}

Result<void> CheckFiles(const OutputOptions& output, const Answer& answer) {
  if (output.path.empty()) {
    return {};
  }
  for (const std::string& file : answer.OutputPaths(output.writer->name, output.path)) {
    BS_TRY(CheckOutput(file, output.inputs));
  }
  return {};
}

Result<OutputOptions> UnderstandStandardOutput(RawOptions raw) {
  raw.values.erase("output");
  return UnderstandOutput(raw);
}

}  // namespace borescope::cli
