#include "borescope/output/digest/card.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "borescope/output/charts/scale.h"
#include "borescope/output/charts/svg_canvas.h"
#include "borescope/output/utf8.h"

namespace borescope::internal {
namespace {

constexpr double kCardWidth = 1200;
constexpr double kCardHeight = 630;
constexpr double kEdge = 40;
constexpr double kSmall = 22;
constexpr double kSmallLine = 31;
constexpr double kLarge = 38;
constexpr double kLargeLine = 46;
constexpr double kBar = 42;
constexpr double kBarOfTwo = 33;
constexpr double kRow = 37;
constexpr double kSwatchSize = 18;
constexpr double kBetweenParts = 26;
constexpr double kBoldRoom = 0.92;  // bold letters are wider than TextWidth says

struct Card {
  SvgCanvas canvas;
  double y = kEdge;

  double left() const { return kEdge; }
  double right() const { return kCardWidth - kEdge; }
  double width() const { return right() - left(); }
  double room() const { return kCardHeight - kEdge - y; }
};

// One line of text; moves down.
void WriteLine(const std::string& text, const TextLook& look, double line, Card& card) {
  card.canvas.Text({card.left(), card.y + look.size}, text, look);
  card.y += line;
}

// Broken at blanks into at most `most` lines, the last of which says if there is more.
void WriteLines(const std::string& text, const TextLook& look, double line, size_t most,
                Card& card) {
  const double width = card.width() * (look.bold ? kBoldRoom : 1);
  std::vector<std::string> lines = WrapPixels(ToPrintable(text), width, look.size);
  if (lines.size() > most) {
    lines.resize(most);
    std::string& last = lines.back();
    while (!last.empty() && TextWidth(last + " \xE2\x80\xA6", look.size) > width) {
      last.resize(last.find_last_of(' ') == std::string::npos ? 0 : last.find_last_of(' '));
    }
    last += " \xE2\x80\xA6";
  }
  for (const std::string& one : lines) {
    WriteLine(one, look, line, card);
  }
}

// As many of the facts as fit; of devices with long names the beginning.
std::string FactsText(const Digest& run, double width) {
  std::string text;
  for (const auto& [label, value] : run.facts) {
    const bool says_itself = label == "Devices" || label == "Time";
    const std::string fact = FitText(
        ToPrintable(says_itself ? value : fmt::format("{} {}", label, value)), width / 2, kSmall);
    const std::string longer = text.empty() ? fact : fmt::format("{} \xC2\xB7 {}", text, fact);
    text = TextWidth(longer, kSmall) <= width ? longer : text;
  }
  return text;
}

// Above all: which run, and at the right who says so.
void DrawHead(const ReportDigest& digest, Card& card) {
  constexpr std::string_view kBrand = "borescope";
  const double room = card.width() - TextWidth(kBrand, kSmall) - kEdge;
  std::string title = ToPrintable(digest.run.title);
  if (digest.against.has_value()) {
    title = FitText(title, room / 2 - kEdge, kSmall) + " against " +
            FitText(ToPrintable(digest.against->title), room / 2 - kEdge, kSmall);
  }
  card.canvas.Text({card.right(), card.y + kSmall}, kBrand,
                   {.size = kSmall, .tone = Tone::kQuiet, .anchor = TextLook::Anchor::kEnd});
  WriteLine(FitText(title, room, kSmall), {.size = kSmall, .bold = true}, kSmallLine, card);
  WriteLine(FactsText(digest.run, card.width()), {.size = kSmall, .tone = Tone::kQuiet},
            kSmallLine + 12, card);
}

Tone ToneOfSeverity(std::string_view severity) {
  return severity == "error" || severity == "warning" ? Tone::kSync
         : severity == "ok"                           ? Tone::kHost
                                                      : Tone::kCompute;
}

// The largest size in which a bold line fits; of what fits in none the smallest, which is cut.
double SizeOf(const std::string& text, const Card& card) {
  constexpr double kLeast = 28;
  constexpr double kStep = 2;
  double size = kLarge;
  while (size > kLeast && TextWidth(ToPrintable(text), size) > card.width() * kBoldRoom) {
    size -= kStep;
  }
  return size;
}

// The answer of a comparison large, up to its parts; these below it.
void DrawAnswer(const ReportDigest& digest, Card& card) {
  const std::string& sentence = digest.comparison.sentence;
  const size_t end = std::min(sentence.find("; "), sentence.size());
  const double top = card.y;
  const std::string answer = sentence.substr(0, end);
  WriteLines(answer, {.size = SizeOf(answer, card), .bold = true}, kLargeLine, 1, card);
  if (end < sentence.size()) {
    WriteLines(sentence.substr(end + 2), {.size = kSmall}, kSmallLine, 2, card);
  }
  const std::vector<DigestChange>& parts = digest.comparison.parts;
  const bool is_slower = parts.front().after_ns > parts.front().before_ns;
  card.canvas.Rect({card.left() - 18, top + 6, 6, card.y - top - 6},
                   is_slower ? Tone::kMore3 : Tone::kLess3);
  card.y += 14;
}

// The first finding large, with what it rests on; of the next two what they are called.
void DrawFindings(const ReportDigest& digest, Card& card) {
  const std::vector<DigestFinding>& findings = digest.run.findings;
  if (!digest.comparison.sentence.empty()) {
    DrawAnswer(digest, card);
    return;
  }
  if (findings.empty()) {
    return;
  }
  const bool is_two = digest.against.has_value();  // which takes more room below
  const double top = card.y;
  WriteLines(findings.front().finding, {.size = kLarge, .bold = true}, kLargeLine, is_two ? 1 : 2,
             card);
  WriteLines(findings.front().evidence, {.size = kSmall}, kSmallLine, is_two ? 1 : 2, card);
  card.canvas.Rect({card.left() - 18, top + 6, 6, card.y - top - 6},
                   ToneOfSeverity(findings.front().severity));
  std::string more;
  for (size_t i = 1; i < std::min<size_t>(findings.size(), 3); ++i) {
    more += (more.empty() ? "Also: " : "; ") + findings[i].finding;
  }
  if (!more.empty()) {
    WriteLines(more, {.size = kSmall, .tone = Tone::kQuiet}, kSmallLine, 1, card);
  }
  card.y += 14;
}

// The parts of one run from `left` on; what has room shows its share.
void DrawStack(const Digest& run, double left, double scale, double height, Card& card) {
  std::vector<double> lengths;
  lengths.reserve(run.parts.size());
  for (const DigestPart& part : run.parts) {
    lengths.push_back(part.ns);
  }
  const std::vector<Stretch> places = PlaceParts(lengths, left, scale);
  for (size_t i = 0; i < places.size(); ++i) {
    const DigestPart& part = run.parts[i];
    card.canvas.Rect({places[i].begin, card.y, std::max(places[i].length, 1.0), height}, part.tone,
                     fmt::format("{}: {}", part.label, DigestTime(part.ns)));
  }
  card.y += height;
}

// "idle 55.5 % -> 53.2 %" of two runs, else "idle 53.2 %".
std::string ShareOfPart(const ReportDigest& digest, const DigestPart& part) {
  const std::string share = DigestShare(part.ns, digest.run.whole_ns);
  if (!digest.against.has_value()) {
    return fmt::format("{} {}", part.label, share);
  }
  double before = 0;
  for (const DigestPart& other : digest.against->parts) {
    before += other.label == part.label ? other.ns : 0;
  }
  return fmt::format("{} {} \xE2\x86\x92 {}", part.label,
                     DigestShare(before, digest.against->whole_ns), share);
}

double WidthOfPart(std::string_view text) { return kSwatchSize + 8 + TextWidth(text, kSmall); }

// What the colours are: with times where that takes one line.
std::vector<std::string> PartTexts(const ReportDigest& digest, double width) {
  std::vector<std::string> shares;
  std::vector<std::string> with_times;
  double all = -kBetweenParts;
  for (const DigestPart& part : digest.run.parts) {
    shares.push_back(ShareOfPart(digest, part));
    with_times.push_back(fmt::format("{} \xC2\xB7 {}", shares.back(), DigestTime(part.ns)));
    all += WidthOfPart(with_times.back()) + kBetweenParts;
  }
  return all <= width && !digest.against.has_value() ? with_times : shares;
}

void DrawPartNames(const ReportDigest& digest, Card& card) {
  const std::vector<std::string> texts = PartTexts(digest, card.width());
  double x = card.left();
  for (size_t i = 0; i < texts.size(); ++i) {
    const double width = WidthOfPart(texts[i]);
    if (x > card.left() && x + width > card.right()) {
      x = card.left();
      card.y += kSmallLine;
    }
    card.canvas.Rect({x, card.y + 5, kSwatchSize, kSwatchSize}, digest.run.parts[i].tone);
    card.canvas.Text({x + kSwatchSize + 8, card.y + kSmall}, texts[i], {.size = kSmall});
    x += width + kBetweenParts;
  }
  card.y += kSmallLine;
}

// Beside it how much time the bars are not of.
void DrawTimeTitle(const ReportDigest& digest, Card& card) {
  const std::string& unit = digest.comparison.unit;
  const std::string title = unit.empty() || unit == "run"
                                ? std::string("Where the device time goes")
                                : fmt::format("Where the device time of a {} goes", unit);
  if (digest.run.left_out_ns > 0 && !digest.against.has_value()) {
    const double begin = card.left() + TextWidth(title, kSmall) * 1.1 + kBetweenParts;
    const std::string note = fmt::format("{}; {} left out", DigestTime(digest.run.whole_ns),
                                         DigestTime(digest.run.left_out_ns));
    card.canvas.Text({begin, card.y + kSmall}, note, {.size = kSmall, .tone = Tone::kQuiet});
  }
  WriteLine(title, {.size = kSmall, .bold = true}, kSmallLine + 4, card);
}

// One bar of each run, as long as their times.
void DrawTime(const ReportDigest& digest, Card& card) {
  if (digest.run.parts.empty()) {
    WriteLine("No device work was recorded.", {.size = kSmall, .tone = Tone::kQuiet}, kSmallLine,
              card);
    return;
  }
  DrawTimeTitle(digest, card);
  const double other = digest.against.has_value() ? digest.against->whole_ns : 0;
  const double labels = other > 0 ? TextWidth("other run", kSmall) + 14 : 0;
  const double scale = (card.width() - labels) / std::max(digest.run.whole_ns, other);
  const auto draw = [&](const Digest& run, std::string_view label) {
    if (labels > 0) {
      card.canvas.Text({card.left(), card.y + 25}, label, {.size = kSmall, .tone = Tone::kQuiet});
    }
    DrawStack(run, card.left() + labels, scale, other > 0 ? kBarOfTwo : kBar, card);
    card.y += 6;
  };
  draw(digest.run, "this run");
  if (other > 0) {
    draw(*digest.against, "other run");
  }
  DrawPartNames(digest, card);
  card.y += 14;
}

// A name and, at the right, a value.
struct CardRow {
  std::string name;
  std::string value;
  double length = 0;
  Tone tone = Tone::kCompute;
};

std::vector<CardRow> RowsOf(const ReportDigest& digest) {
  std::vector<CardRow> rows;
  for (const DigestChange& change : digest.comparison.changes) {
    const double delta = change.after_ns - change.before_ns;
    rows.push_back({ToPrintable(change.name), DigestDelta(change), std::abs(delta),
                    delta > 0 ? Tone::kMore3 : Tone::kLess3});
  }
  if (digest.against.has_value()) {
    return rows;
  }
  for (const DigestKernel& kernel : digest.run.kernels) {
    rows.push_back(
        {ToPrintable(kernel.name),
         fmt::format("{} \xC2\xB7 {}", DigestTime(kernel.ns), DigestShare(kernel.share, 1)),
         kernel.ns, Tone::kCompute});
  }
  return rows;
}

// As many as there is room for.
void DrawRows(const ReportDigest& digest, Card& card) {
  std::vector<CardRow> rows = RowsOf(digest);
  const double title = kSmallLine + 2;
  const double fit = std::floor((card.room() - title) / kRow);
  rows.resize(std::min(rows.size(), static_cast<size_t>(std::max(0.0, fit))));
  if (rows.empty()) {
    return;
  }
  WriteLine(digest.against.has_value() ? "Largest changes of device work" : "Longest kernels",
            {.size = kSmall, .bold = true}, title, card);
  std::vector<std::string> names;
  double values = 0;
  double longest = 0;
  for (const CardRow& row : rows) {
    names.push_back(row.name);
    values = std::max(values, TextWidth(row.value, kSmall));
    longest = std::max(longest, row.length);
  }
  constexpr double kBars = 200;
  const double bars = card.right() - values - 16 - kBars;
  names = FitTexts(names, bars - card.left() - 16, kSmall);
  for (size_t i = 0; i < rows.size(); ++i) {
    const double base = card.y + kSmall + 3;
    card.canvas.Text({card.left(), base}, names[i], {.size = kSmall});
    card.canvas.Rect({bars, card.y + 8, std::max(1.0, kBars * rows[i].length / longest), 18},
                     rows[i].tone, rows[i].name);
    card.canvas.Text({card.right(), base}, rows[i].value,
                     {.size = kSmall, .anchor = TextLook::Anchor::kEnd});
    card.y += kRow;
  }
}

std::string DescribeCard(const Digest& run) {
  std::string text;
  for (const DigestFinding& finding : run.findings) {
    text += fmt::format("{}: {}. ", finding.finding, finding.evidence);
  }
  for (const DigestPart& part : run.parts) {
    text += fmt::format("{} {}; ", part.label, DigestShare(part.ns, run.whole_ns));
  }
  return text;
}

}  // namespace

Picture DrawCard(const ReportDigest& digest) {
  Card card;
  DrawHead(digest, card);
  DrawFindings(digest, card);
  DrawTime(digest, card);
  DrawRows(digest, card);
  const PictureSize size{kCardWidth, kCardHeight};
  return {card.canvas.Finish(size.width, size.height, "GPU profile of " + digest.run.title,
                             DescribeCard(digest.run), SvgCanvas::Paper::kLight),
          size};
}

}  // namespace borescope::internal
