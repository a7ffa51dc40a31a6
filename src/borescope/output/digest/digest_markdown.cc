#include "borescope/output/digest/digest_markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "borescope/output/markdown.h"
#include "borescope/output/names/labels.h"
#include "borescope/output/utf8.h"

namespace borescope::internal {
namespace {

constexpr size_t kMostFindings = 6;
constexpr size_t kMostParts = 8;
constexpr size_t kMostKernels = 5;
constexpr size_t kMostOddities = 5;
constexpr size_t kNameCells = 72;

// Numbers and their units with ordinary blanks, as they may be copied.
std::string Plain(std::string text) {
  constexpr std::string_view kBlank = "\xC2\xA0";
  for (size_t at = text.find(kBlank); at != std::string::npos; at = text.find(kBlank)) {
    text.replace(at, kBlank.size(), " ");
  }
  return text;
}

std::string TimeCell(double ns) { return Plain(DigestTime(ns)); }
std::string ShareCell(double part, double whole) { return Plain(DigestShare(part, whole)); }

std::string_view SeverityMark(std::string_view severity) {
  return severity == "error" ? "❌" : severity == "warning" ? "⚠️" : severity == "ok" ? "✅" : "ℹ️";
}

// The cells of a column of names, short and different.
std::vector<std::string> NameCells(const std::vector<std::string>& names) {
  std::vector<std::string> printable;
  printable.reserve(names.size());
  for (const std::string& name : names) {
    printable.push_back(ToPrintable(name));
  }
  std::vector<std::string> cells = LabelNames(printable, kNameCells).texts;
  for (std::string& cell : cells) {
    cell = MarkdownCode(cell);
  }
  return cells;
}

std::string HeadingOfDigest(const ReportDigest& digest) {
  const std::string against =
      digest.against.has_value()
          ? fmt::format(" against {}",
                        MarkdownCode(ShortenMiddle(ToPrintable(digest.against->title), kNameCells)))
          : "";
  return fmt::format("### GPU profile of {}{}\n\n",
                     MarkdownCode(ShortenMiddle(ToPrintable(digest.run.title), kNameCells)),
                     against);
}

std::string FactsLine(const Digest& run) {
  std::string line;
  for (const auto& [label, value] : run.facts) {
    line += fmt::format("{}{}: {}", line.empty() ? "" : " · ", label,
                        EscapeMarkdown(Plain(value), kNameCells));
  }
  return line.empty() ? line : line + "\n\n";
}

std::string FindingLines(const Digest& run) {
  std::string text;
  for (size_t i = 0; i < std::min(run.findings.size(), kMostFindings); ++i) {
    const DigestFinding& one = run.findings[i];
    text += fmt::format("- {} **{}**: {}\n", SeverityMark(one.severity),
                        EscapeMarkdown(one.finding), EscapeMarkdown(one.evidence));
  }
  if (run.findings.size() > kMostFindings) {
    text += fmt::format("- {} more on the page\n", run.findings.size() - kMostFindings);
  }
  return text.empty() ? text : text + "\n";
}

double PartOf(const Digest& run, std::string_view label) {
  const auto part = std::find_if(run.parts.begin(), run.parts.end(),
                                 [&](const DigestPart& one) { return one.label == label; });
  return part == run.parts.end() ? 0 : part->ns;
}

// Of either run.
std::vector<std::string> PartLabels(const ReportDigest& digest) {
  std::vector<std::string> labels;
  const auto add = [&](const Digest& run) {
    for (const DigestPart& part : run.parts) {
      if (std::find(labels.begin(), labels.end(), part.label) == labels.end() &&
          labels.size() < kMostParts) {
        labels.push_back(part.label);
      }
    }
  };
  add(digest.run);
  if (digest.against.has_value()) {
    add(*digest.against);
  }
  return labels;
}

// What the shares are not of.
std::string LeftOutLine(std::string_view whose, const Digest& run) {
  const std::string left_out = DigestLeftOut(run);
  return left_out.empty() ? left_out
                          : fmt::format("Shares{} are of {}; left out: {}.\n\n", whose,
                                        Plain(DigestTime(run.whole_ns)), Plain(left_out));
}

std::string PartsTable(const ReportDigest& digest) {
  const std::vector<std::string> labels = PartLabels(digest);
  if (labels.empty()) {
    return {};
  }
  const bool is_two = digest.against.has_value();
  std::string text = is_two
                         ? "| Where the device time goes | this run | share | other run | share "
                           "| change |\n| --- | --: | --: | --: | --: | --: |\n"
                         : "| Where the device time goes | time | share |\n| --- | --: | --: |\n";
  for (const std::string& label : labels) {
    const double ns = PartOf(digest.run, label);
    text += fmt::format("| {} | {} | {} |", EscapeMarkdown(label), TimeCell(ns),
                        ShareCell(ns, digest.run.whole_ns));
    if (is_two) {
      const double other = PartOf(*digest.against, label);
      text += fmt::format(" {} | {} | {} |", TimeCell(other),
                          ShareCell(other, digest.against->whole_ns),
                          Plain(DigestDelta({label, other, ns})));
    }
    text += "\n";
  }
  return text + "\n" + LeftOutLine("", digest.run) +
         (is_two ? LeftOutLine(" of the other run", *digest.against) : std::string());
}

std::string KernelsTable(const Digest& run) {
  const size_t count = std::min(run.kernels.size(), kMostKernels);
  std::vector<std::string> names;
  names.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    names.push_back(run.kernels[i].name);
  }
  names = NameCells(names);
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    const DigestKernel& kernel = run.kernels[i];
    text += fmt::format("| {} | {} | {:.0f} | {} | {} |\n", names[i], EscapeMarkdown(kernel.kind),
                        kernel.count, TimeCell(kernel.ns), ShareCell(kernel.share, 1));
  }
  return text.empty() ? text
                      : "| Longest kernels | class | launches | time | share |\n"
                        "| --- | --- | --: | --: | --: |\n" +
                            text + "\n";
}

std::string ChangesTable(const ReportDigest& digest) {
  std::vector<std::string> names;
  names.reserve(digest.changes.size());
  for (const DigestChange& change : digest.changes) {
    names.push_back(change.name);
  }
  names = NameCells(names);
  std::string text;
  for (size_t i = 0; i < digest.changes.size(); ++i) {
    const DigestChange& change = digest.changes[i];
    text += fmt::format("| {} | {} | {} | {} |\n", names[i], TimeCell(change.after_ns),
                        TimeCell(change.before_ns), Plain(DigestDelta(change)));
  }
  return text.empty() ? text
                      : "| Largest changes of device work | this run | other run | change |\n"
                        "| --- | --: | --: | --: |\n" +
                            text + "\n";
}

// The rows of all files by kind, those that matter most first.
std::string QualityLines(std::span<const Diagnostic> rows) {
  if (rows.empty()) {
    return "Data quality: nothing odd was found while reading.\n\n";
  }
  std::map<std::pair<int, std::string>, std::pair<uint64_t, std::string>> kinds;
  for (const Diagnostic& row : rows) {
    auto& [count, help] = kinds[{-static_cast<int>(row.severity), row.code}];
    count += row.count;
    help = row.help;
  }
  std::string text = "Data quality:\n\n";
  size_t shown = 0;
  for (const auto& [kind, counted] : kinds) {
    if (shown++ < kMostOddities) {
      text += fmt::format("- {} {} × {}: {}\n",
                          SeverityMark(SeverityName(static_cast<Severity>(-kind.first))),
                          counted.first, MarkdownCode(kind.second), EscapeMarkdown(counted.second));
    }
  }
  text += shown > kMostOddities ? fmt::format("- {} more\n", shown - kMostOddities) : "";
  return text + "\n";
}

}  // namespace

Result<void> WriteDigestMarkdown(const ReportDigest& digest, Sink& sink) {
  std::string text = HeadingOfDigest(digest) + FactsLine(digest.run) + FindingLines(digest.run) +
                     PartsTable(digest) + ChangesTable(digest) + KernelsTable(digest.run) +
                     QualityLines(digest.diagnostics);
  text += "The page with all tables: `borescope report INPUT -o report.html`" +
          std::string(digest.against.has_value() ? ", with `--against` the other run.\n" : ".\n");
  return sink.Write(text);
}

}  // namespace borescope::internal
