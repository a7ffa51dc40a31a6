#include "borescope/output/digest/digest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <string_view>

#include "borescope/base/saturating.h"
#include "borescope/base/text/text.h"
#include "borescope/output/charts/chart_data.h"
#include "borescope/output/charts/scale.h"
#include "borescope/output/markdown.h"
#include "borescope/output/names/labels.h"
#include "borescope/output/units/units.h"
#include "borescope/output/utf8.h"

namespace borescope::internal {

namespace {

const Table* TableOf(std::span<const Table> tables, std::string_view name) {
  const auto found = std::find_if(tables.begin(), tables.end(),
                                  [&](const Table& table) { return table.name == name; });
  return found == tables.end() ? nullptr : &*found;
}

// As recorded, not yet printable.
std::string RawTextAt(const Table& table, std::string_view name, size_t row) {
  const Column* const column = table.Find(name);
  const auto* const texts =
      column == nullptr ? nullptr : std::get_if<StringValues>(&column->values);
  return texts == nullptr || column->IsMissing(row) ? std::string() : std::string((*texts)[row]);
}

double SumOf(const Table* table, std::string_view name) {
  const Column* const column = table == nullptr ? nullptr : table->Find(name);
  double sum = 0;
  for (size_t row = 0; column != nullptr && row < column->size(); ++row) {
    sum += NumberAt(column, row);
  }
  return sum;
}

double MostOf(const Table& table, std::string_view name) {
  const Column* const column = table.Find(name);
  double most = 0;
  for (size_t row = 0; column != nullptr && row < column->size(); ++row) {
    most = std::max(most, NumberAt(column, row));
  }
  return most;
}

std::string CountText(double count) {
  return GroupDigits(static_cast<int64_t>(std::min(count, 9e15)));
}

constexpr std::string_view kTimes = " x ";

// Where in `text` the next "2 x NAME" begins after `from`; its end without one.
size_t NextKind(std::string_view text, size_t from) {
  for (size_t at = text.find(", ", from); at != std::string_view::npos;
       at = text.find(", ", at + 1)) {
    const size_t digits = text.find_first_not_of("0123456789", at + 2);
    if (digits != at + 2 && digits != std::string_view::npos &&
        text.substr(digits).starts_with(kTimes)) {
      return at;
    }
  }
  return text.size();
}

using Kinds = std::map<std::string, int64_t, std::less<>>;

// Counts what "2 x A100, 1 x H100" says; of a text without a number, one.
void CountKinds(std::string_view text, Kinds& kinds) {
  while (!text.empty()) {
    const size_t end = NextKind(text, 0);
    std::string_view name = text.substr(0, end);
    const size_t times = name.find(kTimes);
    const auto count = times == std::string_view::npos
                           ? std::nullopt
                           : ParseNumber<int64_t>(name.substr(0, times));
    name.remove_prefix(count.has_value() ? times + kTimes.size() : 0);
    AddSaturatingTo(kinds[std::string(name)], count.value_or(1));
    text.remove_prefix(std::min(text.size(), end + 2));
  }
}

// The devices that worked on all ranks: "1 x A100" of two ranks is "2 x A100".
std::string DevicesOf(const Table& overview) {
  Kinds kinds;
  for (size_t row = 0; row < overview.rows(); ++row) {
    CountKinds(RawTextAt(overview, "devices", row), kinds);
  }
  std::string text;
  for (const auto& [name, count] : kinds) {
    text += fmt::format("{}{} x {}", text.empty() ? "" : "; ",
                        CountText(static_cast<double>(count)), name);
  }
  return text;
}

void AddFact(std::string label, std::string value, Digest& digest) {
  if (!value.empty() && value != "0") {
    digest.facts.emplace_back(std::move(label), std::move(value));
  }
}

// Of the time that the verdict leaves out of its shares, what is called so.
DigestPart LeftOutPart(const Column& column, const Table& left_out) {
  return {PartLabel(column.name), Tone::kFaint, SumOf(&left_out, column.name)};
}

// What no share is of: the finding about idle time leaves it out, too.
void AddLeftOut(const Table* left_out, Digest& digest) {
  for (const Column& column : left_out == nullptr ? std::vector<Column>() : left_out->columns) {
    if (column.role != Role::kSum) {
      continue;
    }
    DigestPart part = LeftOutPart(column, *left_out);
    if (part.ns > 0) {
      digest.left_out_ns += part.ns;
      digest.left_out.push_back(std::move(part));
    }
  }
}

void AddFacts(const Table& overview, const Table* breakdown, Digest& digest) {
  const double world = MostOf(overview, "world_size");
  const auto ranks = static_cast<double>(overview.rows());
  const std::string of = world > ranks ? " of " + CountText(world) : "";
  AddFact("Devices", DevicesOf(overview), digest);
  AddFact("Ranks", CountText(ranks) + of, digest);
  AddFact("Steps", CountText(MostOf(overview, "steps")), digest);
  AddFact("Time", DigestTime(MostOf(overview, "span_ns")), digest);
  AddFact("Kernels", CountText(SumOf(&overview, "kernels")), digest);
  if (const double span = SumOf(breakdown, "span_ns") - digest.left_out_ns; span > 0) {
    AddFact("Devices busy", DigestShare(SumOf(breakdown, "busy_ns"), span), digest);
  }
}

void AddPart(std::string_view column, Tone tone, double ns, Digest& digest) {
  if (ns > 0) {
    digest.parts.push_back({PartLabel(column), tone, ns});
    digest.whole_ns += ns;
  }
}

// The columns that are coloured are parts of one whole. What is left out is idle time there.
void AddParts(const Table& breakdown, Digest& digest) {
  for (const Column& column : breakdown.columns) {
    if (column.hints.tone.has_value()) {
      const double ns = SumOf(&breakdown, column.name);
      AddPart(column.name, *column.hints.tone,
              column.name == "idle_ns" ? ns - digest.left_out_ns : ns, digest);
    }
  }
}

// Findings say "us", as all texts that may come to a terminal; card and text are for people.
void AddFindings(const Table& verdict, Digest& digest) {
  for (size_t row = 0; row < verdict.rows(); ++row) {
    digest.findings.push_back({RawTextAt(verdict, "severity", row),
                               WithMicroSigns(RawTextAt(verdict, "finding", row)),
                               WithMicroSigns(RawTextAt(verdict, "evidence", row))});
  }
}

void AddKernels(const Table& kernels, Digest& digest) {
  for (size_t row = 0; row < kernels.rows(); ++row) {
    digest.kernels.push_back({RawTextAt(kernels, "name", row), RawTextAt(kernels, "class", row),
                              NumberAt(kernels.Find("count"), row),
                              NumberAt(kernels.Find("total_ns"), row),
                              NumberAt(kernels.Find("share"), row)});
  }
}

}  // namespace

std::string DigestShare(double part, double whole) { return ShareText(part, whole); }

std::string DigestLeftOut(const Digest& run) {
  std::string text;
  for (const DigestPart& part : run.left_out) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", DigestTime(part.ns), part.label);
  }
  return text;
}

std::string DigestTime(double ns) {
  return Amount(ns, AmountFormat(Unit::kNanoseconds, std::abs(ns), ns == std::floor(ns)));
}

namespace {

// ", 1.88 times": the longer by the shorter; nothing where one of them is nothing, or they are
// alike.
std::string RatioText(const DigestChange& change) {
  const auto [smaller, larger] = std::minmax(change.before_ns, change.after_ns);
  constexpr double kLeastRatio = 1.005;
  return smaller <= 0 || larger < kLeastRatio * smaller
             ? std::string()
             : fmt::format(", {:.2f} times {}", larger / smaller,
                           change.after_ns < change.before_ns ? "less" : "more");
}

}  // namespace

std::string DigestDelta(const DigestChange& change) {
  const double delta = change.after_ns - change.before_ns;
  const std::string sign = delta < 0 ? "\xE2\x88\x92" : "+";
  const std::string text = sign + DigestTime(std::abs(delta));
  // Of next to nothing any change is thousands of percent.
  constexpr double kLeastBefore = 0.1;
  return change.before_ns > 0 && change.before_ns >= kLeastBefore * change.after_ns
             ? fmt::format("{} ({}{}{})", text, sign, ShareText(std::abs(delta), change.before_ns),
                           RatioText(change))
             : text;
}

Digest MakeDigest(std::string title, std::span<const Table> tables) {
  Digest digest;
  digest.title = std::move(title);
  const Table* const breakdown = TableOf(tables, "breakdown");
  AddLeftOut(TableOf(tables, "left_out"), digest);
  if (const Table* overview = TableOf(tables, "overview"); overview != nullptr) {
    AddFacts(*overview, breakdown, digest);
  }
  if (const Table* verdict = TableOf(tables, "verdict"); verdict != nullptr) {
    AddFindings(*verdict, digest);
  }
  if (breakdown != nullptr) {
    AddParts(*breakdown, digest);
  }
  if (const Table* kernels = TableOf(tables, "kernels"); kernels != nullptr) {
    AddKernels(*kernels, digest);
  }
  return digest;
}

namespace {

std::vector<DigestChange> LargestChanges(const Table* diff, size_t most) {
  std::vector<DigestChange> changes;
  for (size_t row = 0; diff != nullptr && row < diff->rows(); ++row) {
    const double before = NumberAt(diff->Find("base_ns"), row);
    const double after = NumberAt(diff->Find("test_ns"), row);
    if (RawTextAt(*diff, "side", row) == "device" && before != after) {
      changes.push_back({RawTextAt(*diff, "name", row), before, after});
    }
  }
  std::stable_sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) {
    return std::abs(a.after_ns - a.before_ns) > std::abs(b.after_ns - b.before_ns);
  });
  changes.resize(std::min(changes.size(), most));
  return changes;
}

}  // namespace

DigestComparison ComparisonOf(std::span<const Table> tables, size_t most) {
  DigestComparison comparison;
  comparison.changes = LargestChanges(TableOf(tables, "diff"), most);
  const Table* const time = TableOf(tables, "diff_time");
  for (size_t row = 0; time != nullptr && row < time->rows(); ++row) {
    comparison.parts.push_back({RawTextAt(*time, "part", row), NumberAt(time->Find("base_ns"), row),
                                NumberAt(time->Find("test_ns"), row)});
  }
  if (!comparison.parts.empty()) {
    comparison.unit = comparison.parts.front().name;
    comparison.sentence = WithMicroSigns(time->title);
  }
  return comparison;
}

namespace {

Tone ToneOfPart(std::string_view part) {
  return part == "compute"                 ? Tone::kCompute
         : part == "exposed communication" ? Tone::kComm
         : part == "exposed copies"        ? Tone::kCopy
                                           : Tone::kIdle;
}

void TakeParts(const DigestComparison& comparison, double DigestChange::* run, Digest& digest) {
  digest.parts.clear();
  digest.left_out.clear();
  digest.left_out_ns = 0;
  digest.whole_ns = comparison.parts.front().*run;
  for (size_t i = 1; i < comparison.parts.size(); ++i) {
    const DigestChange& part = comparison.parts[i];
    if (part.*run > 0) {
      digest.parts.push_back({part.name, ToneOfPart(part.name), part.*run});
    }
  }
}

// What is of a whole run, and says nothing beside another one of another length.
bool IsOfWholeRun(const std::pair<std::string, std::string>& fact) {
  return fact.first == "Time" || fact.first == "Kernels" || fact.first == "Devices busy";
}

}  // namespace

void CompareDigests(DigestComparison comparison, ReportDigest& digest) {
  if (digest.against.has_value() && !comparison.parts.empty()) {
    TakeParts(comparison, &DigestChange::after_ns, digest.run);
    TakeParts(comparison, &DigestChange::before_ns, *digest.against);
    std::erase_if(digest.run.facts, IsOfWholeRun);
  }
  digest.comparison = std::move(comparison);
}

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

// The answer of a comparison.
std::string AnswerLine(const ReportDigest& digest) {
  const std::string& sentence = digest.comparison.sentence;
  return sentence.empty() ? sentence : fmt::format("**{}**\n\n", EscapeMarkdown(Plain(sentence)));
}

// Which are not about what changed.
std::string FindingsOfThisRun(const ReportDigest& digest) {
  const std::string lines = FindingLines(digest.run);
  return lines.empty() ? lines : "What costs time in this run:\n\n" + lines;
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

// " of a step"; nothing of whole runs.
std::string OfUnit(const ReportDigest& digest) {
  const std::string& unit = digest.comparison.unit;
  return unit.empty() || unit == "run" ? "" : " of a " + unit;
}

std::string PartsTable(const ReportDigest& digest) {
  const std::vector<std::string> labels = PartLabels(digest);
  if (labels.empty()) {
    return {};
  }
  const bool is_two = digest.against.has_value();
  std::string text = is_two
                         ? fmt::format(
                               "| Where the device time{} goes | this run | share | other "
                               "run | share | change |\n"
                               "| --- | --: | --: | --: | --: | --: |\n",
                               OfUnit(digest))
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
  const std::vector<DigestChange>& changes = digest.comparison.changes;
  std::vector<std::string> names;
  names.reserve(changes.size());
  for (const DigestChange& change : changes) {
    names.push_back(change.name);
  }
  names = NameCells(names);
  std::string text;
  for (size_t i = 0; i < changes.size(); ++i) {
    const DigestChange& change = changes[i];
    text += fmt::format("| {} | {} | {} | {} |\n", names[i], TimeCell(change.after_ns),
                        TimeCell(change.before_ns), Plain(DigestDelta(change)));
  }
  return text.empty() ? text
                      : fmt::format(
                            "| Largest changes of device work{} | this run | other run | "
                            "change |\n| --- | --: | --: | --: |\n",
                            OfUnit(digest)) +
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
  const bool is_two = digest.against.has_value();
  std::string text = HeadingOfDigest(digest) + AnswerLine(digest) + FactsLine(digest.run);
  text += is_two ? PartsTable(digest) + ChangesTable(digest) + FindingsOfThisRun(digest)
                 : FindingLines(digest.run) + PartsTable(digest) + KernelsTable(digest.run);
  text += QualityLines(digest.diagnostics);
  text += "The page with all tables: `borescope report INPUT -o report.html`" +
          std::string(is_two ? ", with `--against` the other run.\n" : ".\n");
  return sink.Write(text);
}

}  // namespace borescope::internal
