#include "borescope/cli/options/values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>

#include "borescope/cli/terminal/terminal.h"

namespace borescope::cli {

namespace {

// The number that all of `text` is.
template <class Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number{};
  const auto [stop, error] = std::from_chars(text.begin(), text.end(), number);
  return error == std::errc() && stop == text.end() ? std::optional(number) : std::nullopt;
}

}  // namespace

Result<int64_t> ParseWithin(std::string_view option, std::string_view text, int64_t smallest,
                            int64_t largest) {
  const std::optional<int64_t> number = ParseNumber<int64_t>(text);
  if (!number.has_value() || *number < smallest || *number > largest) {
    return UsageError(
        fmt::format("--{}: '{}' is no number between {} and {}", option, text, smallest, largest));
  }
  return *number;
}

Result<int> ParseCount(std::string_view option, std::string_view text, int largest, int smallest) {
  BS_ASSIGN(const int64_t number, ParseWithin(option, text, smallest, largest));
  return static_cast<int>(number);
}

Result<int> ParseTop(const std::string& text) {
  constexpr int kMostRows = 1'000'000'000;
  return text == "all" ? Result<int>(kMostRows) : ParseCount("top", text, kMostRows);
}

Result<int> ParseThreads(const std::string& text) {
  return text.empty() ? Result<int>(0) : ParseCount("threads", text, 1024);
}

Result<Shard> ParseShard(std::string_view text) {
  constexpr uint32_t kMost = 1'000'000;
  const size_t slash = std::min(text.find('/'), text.size());
  const auto index = ParseNumber<uint32_t>(text.substr(0, slash));
  const auto count = ParseNumber<uint32_t>(text.substr(std::min(slash + 1, text.size())));
  if (!index.has_value() || !count.has_value() || *index >= *count || *count > kMost) {
    return UsageError(
        fmt::format("--shard: '{}' is no part; write I/N with I from 0 to N - 1, and "
                    "N up to {}",
                    text, kMost));
  }
  return Shard{*index, *count};
}

Result<double> ParseShare(std::string_view option, std::string_view text) {
  const bool is_percent = text.ends_with('%');
  const std::optional<double> number =
      ParseNumber<double>(text.substr(0, text.size() - (is_percent ? 1 : 0)));
  const double share = number.value_or(-1) / (is_percent ? 100 : 1);
  if (!(share >= 0 && share <= 1)) {
    return UsageError(fmt::format("--{}: '{}' is no share; write 3% or 0.03", option, text));
  }
  return share;
}

Result<double> ParseSeconds(const std::string& text) {
  constexpr double kLongest = 1e9;
  const std::optional<double> seconds = ParseNumber<double>(text);
  if (!seconds.has_value() || !(*seconds > 0 && *seconds <= kLongest)) {
    return UsageError(fmt::format("--time-limit: '{}' is no number of seconds above 0", text));
  }
  return *seconds;
}

Result<std::chrono::nanoseconds> ParseDuration(std::string_view option, std::string_view text) {
  struct TimeUnit {
    std::string_view name;
    double nanoseconds;
  };
  constexpr TimeUnit kUnits[] = {{"ns", 1},  {"us", 1e3},   {"ms", 1e6},
                                 {"s", 1e9}, {"min", 60e9}, {"h", 3600e9}};
  const std::string copy(text);
  char* end = nullptr;
  const double number = std::strtod(copy.c_str(), &end);
  const auto* const unit = std::find_if(std::begin(kUnits), std::end(kUnits),
                                        [end](const TimeUnit& row) { return row.name == end; });
  constexpr double kLargest = 9e18;
  const bool good = end != copy.c_str() && unit != std::end(kUnits);
  if (!good || !(number * unit->nanoseconds >= 1) || number * unit->nanoseconds > kLargest) {
    return UsageError(fmt::format("--{}: '{}' is no time; write 100ms, 5s or 2min", option, text));
  }
  return std::chrono::nanoseconds(static_cast<int64_t>(number * unit->nanoseconds));
}

Result<uint64_t> ParseSize(std::string_view option, std::string_view text) {
  constexpr std::string_view kPrefixes = "KMGT";
  const std::string copy(text);
  char* end = nullptr;
  const double number = std::strtod(copy.c_str(), &end);
  std::string_view suffix(end);
  double factor = 1;
  const size_t prefix = suffix.empty() ? std::string_view::npos : kPrefixes.find(suffix.front());
  if (prefix != std::string_view::npos) {
    suffix.remove_prefix(1);
    const bool binary = suffix.starts_with('i');
    suffix.remove_prefix(binary ? 1 : 0);
    factor = std::pow(binary ? 1024.0 : 1000.0, static_cast<double>(prefix + 1));
  }
  constexpr double kLargest = 1e18;
  const bool good = end != copy.c_str() && (suffix.empty() || suffix == "B");
  if (!good || !(number * factor >= 1) || number * factor > kLargest) {
    return UsageError(
        fmt::format("--{}: '{}' is no size; write 8G, 512MiB or bytes", option, text));
  }
  return static_cast<uint64_t>(number * factor);
}

namespace {

bool MeansHidden(const std::error_code& error) {
  return error == std::errc::permission_denied || error == std::errc::operation_not_permitted ||
         error == std::errc::too_many_symbolic_link_levels;
}

}  // namespace

Result<std::filesystem::file_type> TypeOfPath(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_type type = std::filesystem::status(path, error).type();
  if (type != std::filesystem::file_type::none) {
    return type;
  }
  if (MeansHidden(error) || error == std::errc::filename_too_long) {
    return std::filesystem::file_type::not_found;
  }
  return Error{.code = ErrorCode::kIo,
               .cause = error.message(),
               .remedy = "check its permissions and its disk",
               .file = path};
}

std::error_code WhatHides(const std::string& path) {
  std::error_code error;
  const bool is_there = std::filesystem::exists(path, error);
  return !is_there && MeansHidden(error) ? error : std::error_code();
}

Result<bool> Exists(const std::string& path) {
  BS_ASSIGN(const std::filesystem::file_type type, TypeOfPath(path));
  return type != std::filesystem::file_type::not_found;
}

std::string_view FormatOf(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  for (const FormatInfo& row : Describe().writers) {
    if (extension.size() > 1 && extension.substr(1) == row.extension) {
      return row.name;
    }
  }
  return "text";
}

namespace {

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

namespace {

// Whether standard output may be the file of this word; the names of standard output itself are no
// files that are read.
Result<bool> MayBeStandardOutput(const std::string& word) {
  constexpr std::string_view kNames[] = {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
  if (std::find(std::begin(kNames), std::end(kNames), word) != std::end(kNames)) {
    return false;
  }
  BS_ASSIGN(const std::filesystem::file_type type, TypeOfPath(word == "-" ? "/dev/stdin" : word));
  return type == std::filesystem::file_type::regular;
}

}  // namespace

Result<void> CheckStandardOutput(std::span<const std::string> words) {
  const std::string standard_output = "/dev/stdout";
  BS_ASSIGN(const std::filesystem::file_type type, TypeOfPath(standard_output));
  if (type != std::filesystem::file_type::regular) {
    return {};
  }
  for (const std::string& word : words) {
    BS_ASSIGN(const bool may_be, MayBeStandardOutput(word));
    Result<void> checked = may_be ? CheckOutput(standard_output, {&word, 1}) : Result<void>();
    if (!checked.ok() && checked.error().code == ErrorCode::kInvalidArgument) {
      return Error{.code = ErrorCode::kInvalidArgument,
                   .cause = "is standard output, too",
                   .remedy = "send the answer to another file, or leave this one out",
                   .file = word == "-" ? "standard input" : word};
    }
    BS_TRY(std::move(checked));
  }
  return {};
}

Result<void> CheckStandardOutput(const RawOptions& raw, Verbs verbs) {
  std::vector<std::string> words = raw.inputs;
  words.insert(words.end(), {raw.Get("load"), raw.Get("against")});
  for (const auto& [option, value] : raw.values) {
    const ParameterInfo* const parameter = FindParameter(verbs, option);
    if (parameter != nullptr && parameter->type == "file" && parameter->group != "output") {
      words.push_back(value);
    }
  }
  return CheckStandardOutput(words);
}

Result<void> ProtectInputs(std::span<const std::string> inputs, OutputOptions& output) {
  output.inputs.assign(inputs.begin(), inputs.end());
  return output.path.empty() ? CheckStandardOutput(inputs) : CheckOutput(output.path, inputs);
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
