#include <fmt/format.h>

#include <utility>

#include "borescope/engine/access.h"
#include "borescope/engine/question/question.h"
#include "borescope/engine/targets/targets.h"
#include "borescope/output/charts/png/png.h"
#include "borescope/output/digest/card.h"
#include "borescope/output/digest/digest.h"
#include "borescope/output/sink/sink.h"
#include "borescope/run.h"
#include "borescope/verbs/report/report.h"

namespace borescope {
namespace {

constexpr std::string_view kPngEnding = ".png";

// The options of the outputs, for messages, and the files they name.
std::vector<std::pair<std::string_view, std::string>> FilesOf(const ReportOutputs& outputs) {
  std::vector<std::pair<std::string_view, std::string>> files;
  if (outputs.page.has_value()) {
    files.emplace_back("`output`", outputs.page->path);
  }
  files.emplace_back("`card`", outputs.card);
  if (outputs.markdown.has_value()) {
    files.emplace_back("`markdown`", outputs.markdown->path);
  }
  std::erase_if(files, [](const auto& file) { return file.second.empty(); });
  return files;
}

Result<void> CheckCard(const std::string& card) {
  if (card.empty() || card.ends_with(".svg")) {
    return {};
  }
  if (!card.ends_with(kPngEnding)) {
    return internal::UsageError(
        fmt::format("`card` {}: the picture is of the kind that its name ends with", card),
        "end it with .svg or .png", "card");
  }
  return internal::CheckPng();
}

// Before any work: what is known to fail afterwards. `inputs` are files.
Result<void> CheckReportOutputs(const ReportOutputs& outputs, std::span<const std::string> inputs) {
  if (!outputs.page.has_value() && outputs.card.empty() && !outputs.markdown.has_value()) {
    return internal::UsageError(
        "a report needs a page, a card or a Markdown file to be written to");
  }
  BS_TRY(CheckCard(outputs.card));
  std::vector<std::string> others;
  for (const auto& [option, path] : FilesOf(outputs)) {
    BS_TRY(internal::CheckNoInput(inputs, path, option));
    if (!internal::IsWrittenDirectly(path)) {
      BS_ASSIGN(const internal::FileLookup known, internal::FileLookup::Of(others));
      BS_ASSIGN(const std::optional<size_t> found, known.Find(path));
      if (found.has_value()) {
        return internal::UsageError(
            fmt::format("{} {}: another output of the report is this file, too", option, path));
      }
      others.push_back(path);
    }
  }
  return {};
}

Result<void> WriteCard(const internal::ReportDigest& digest, const std::string& path) {
  if (path.empty()) {
    return {};
  }
  const internal::Picture picture = internal::DrawCard(digest);
  std::string bytes = picture.svg;
  if (path.ends_with(kPngEnding)) {
    BS_ASSIGN(bytes, internal::RenderPng(picture, 1));
  }
  return WriteTo(path, [&](internal::Sink& sink) { return sink.Write(bytes); });
}

Result<void> WriteAll(const internal::Report& report, const ReportOutputs& outputs) {
  if (outputs.page.has_value()) {
    BS_TRY(WriteTo(*outputs.page, [&](internal::Sink& sink) {
      return internal::WriteHtml(report.page, internal::ReportTemplate(), sink);
    }));
  }
  BS_TRY(WriteCard(report.digest, outputs.card));
  if (!outputs.markdown.has_value()) {
    return {};
  }
  return WriteTo(*outputs.markdown, [&](internal::Sink& sink) {
    return internal::WriteDigestMarkdown(report.digest, sink);
  });
}

Result<std::vector<FileInfo>> Written(Result<internal::Report> made, const ReportOutputs& outputs) {
  BS_ASSIGN(internal::Report report, std::move(made));
  BS_TRY(WriteAll(report, outputs));
  return std::move(report.files);
}

ReportOutputs PageTo(const Output& output) {
  ReportOutputs outputs;
  outputs.page = output;
  return outputs;
}

}  // namespace

Result<std::vector<FileInfo>> Run::Report(const Output& output, const Question& question,
                                          const Run* against) const {
  return WriteReport(PageTo(output), question, against);
}

Result<void> SetReportOptions(const Run& run, const Question& question, const Run* against,
                              internal::RunOptions& options) {
  options = RunAccess::Common(run);
  if (!internal::IsOf(question, "report")) {
    return internal::UsageError("a report is the question \"report\"", "ask other verbs alone");
  }
  BS_TRY(internal::ReadQuestion(question, options));
  if (against != nullptr) {
    internal::RunOptions other = RunAccess::Common(*against);
    options.test.files = std::move(other.files);
    options.test.cache = other.cache;
    options.test.stop = std::move(other.stop);
  }
  return {};
}

Result<std::vector<FileInfo>> Run::WriteReport(const ReportOutputs& outputs,
                                               const Question& question, const Run* against) const {
  internal::RunOptions options;
  BS_TRY(SetReportOptions(*this, question, against, options));
  BS_TRY(CheckReportOutputs(outputs, internal::InputPaths(options)));
  return Written(internal::RunReport(options), outputs);
}

Result<std::vector<FileInfo>> ReportOf(std::span<const StoredPart> parts, const Output& output,
                                       const ReduceOptions& options) {
  return WriteReportOf(parts, PageTo(output), options);
}

Result<std::vector<FileInfo>> WriteReportOf(std::span<const StoredPart> parts,
                                            const ReportOutputs& outputs,
                                            const ReduceOptions& options) {
  std::vector<std::string> names;
  for (const StoredPart& part : parts) {
    names.push_back(part.name);
  }
  BS_ASSIGN(const std::vector<std::string> behind, internal::PathsBehind(names));
  BS_TRY(CheckReportOutputs(outputs, behind));
  internal::RunOptions shown;
  shown.top = options.display.top;
  shown.stop = options.stop;
  internal::StoredParts source(parts);
  return Written(internal::ReportOfPartials(source, shown, {options.expected_files}), outputs);
}

bool HasReportCharts() { return !internal::ReportTemplate().empty(); }

}  // namespace borescope
