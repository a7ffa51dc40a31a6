#include "borescope/output/html/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "borescope/output/charts/svg_canvas.h"
#include "borescope/output/html/html_timeline.h"
#include "borescope/output/json_writer.h"
#include "borescope/output/markdown.h"
#include "borescope/output/units/units.h"

namespace borescope::internal {

namespace {

// No script can run, and no style but this one: the policy names it by its hash, which a test of
// the page in a browser checks.
constexpr std::string_view kTemplate = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-SHIZGc05ydTsBeIMHjZSASl8l2dronTG4gHSflBoiCU='; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>@@borescope-title@@ · Borescope</title>
<style>
:root{color-scheme:light dark}
body{font:14px/1.45 system-ui,sans-serif;max-width:1280px;margin:0 auto;padding:16px}
h1{font-size:20px;overflow-wrap:anywhere}
h2{font-size:17px;margin:32px 0 4px;border-top:1px solid #8885;padding-top:16px}
h3{font-size:14px;margin:16px 0 4px}
div{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:3px 10px 3px 0;text-align:left;vertical-align:top;border-bottom:1px solid #8883}
td{min-width:7ch;max-width:480px;overflow-wrap:anywhere}
th i{font-weight:400;opacity:.7}
.n{text-align:right;white-space:nowrap}
</style>
</head>
<body>
<h1>@@borescope-title@@</h1>
@@borescope-plain@@
<script type="application/json" id="borescope-tables">@@borescope-tables@@</script>
<script type="application/json" id="borescope-layout">@@borescope-layout@@</script>
<script type="application/json" id="borescope-timeline">@@borescope-timeline@@</script>
</body>
</html>
)";

std::string Heading(const Column& column, const NumberFormat& format) {
  return fmt::format("<th{} title=\"{}\">{}{}</th>", column.IsNumber() ? " class=\"n\"" : "",
                     EscapeMarkup(column.doc), EscapeMarkup(column.name),
                     format.unit.empty() ? "" : fmt::format(" <i>{}</i>", format.unit));
}

std::string Rows(const Table& table, const std::vector<NumberFormat>& formats) {
  std::string html;
  for (size_t row = 0; row < table.rows(); ++row) {
    html += "<tr>";
    for (size_t i = 0; i < table.columns.size(); ++i) {
      const Column& column = table.columns[i];
      html += fmt::format("<td{}>{}</td>", column.IsNumber() ? " class=\"n\"" : "",
                          EscapeMarkup(FormatCell(column, formats[i], row)));
    }
    html += "</tr>\n";
  }
  return html;
}

std::string TableHtml(const Table& table, size_t all_rows) {
  std::vector<NumberFormat> formats;
  formats.reserve(table.columns.size());
  std::string head;
  for (const Column& column : table.columns) {
    formats.push_back(ChooseFormat(column, Precision::kFull));
    head += Heading(column, formats.back());
  }
  const std::string cut =
      all_rows > table.rows() ? fmt::format(" ({} of {} rows)", table.rows(), all_rows) : "";
  return fmt::format(
      "<h3>{}{}</h3>\n<div tabindex=\"0\"><table>\n<thead><tr>{}</tr></thead>\n"
      "<tbody>\n{}</tbody></table></div>\n",
      EscapeMarkup(table.title), cut, head, Rows(table, formats));
}

std::string QualityHtml(std::span<const Diagnostic> rows) {
  std::string html = rows.empty() ? "" : "<h2>Data quality</h2>\n<ul>\n";
  for (const Diagnostic& row : rows) {
    html += fmt::format("<li><b>{}</b> {} ({} x) {}: {} {}</li>\n", SeverityName(row.severity),
                        EscapeMarkup(row.code), row.count, EscapeMarkup(row.file),
                        EscapeMarkup(row.first), EscapeMarkup(row.help));
  }
  return html + (rows.empty() ? "" : "</ul>\n");
}

}  // namespace

std::string_view PlainTemplate() { return kTemplate; }

Result<void> WritePlainBody(const ReportPage& page, Sink& sink) {
  if (!page.against.empty()) {
    BS_TRY(
        sink.Write(fmt::format("<p>against the other run, {}</p>\n", EscapeMarkup(page.against))));
  }
  for (const ReportSection& section : page.sections) {
    BS_TRY(sink.Write(
        fmt::format("<h2>{}</h2>\n<p>{}</p>\n", EscapeMarkup(section.name),
                    EscapeMarkup(section.lack.empty() ? section.summary : section.lack))));
    if (!section.other_lack.empty()) {
      BS_TRY(sink.Write(
          fmt::format("<p>Not in the other run: {}</p>\n", EscapeMarkup(section.other_lack))));
    }
    for (size_t i = 0; i < section.table_count; ++i) {
      const size_t at = section.first_table + i;
      BS_TRY(sink.Write(TableHtml(WithRowUnits(page.document.tables[at]), page.all_rows[at])));
    }
  }
  return sink.Write(QualityHtml(page.document.diagnostics));
}

namespace {

constexpr std::string_view kLineEndStart = "\xE2\x80";  // of U+2028 and U+2029

// Whether an escape may begin here.
bool IsDubious(char c) { return c == '<' || c == kLineEndStart[0]; }

void PutNames(JsonWriter& json, std::string_view key, std::span<const std::string_view> names) {
  json.Key(key);
  json.BeginArray();
  for (const std::string_view name : names) {
    json.String(name);
  }
  json.EndArray();
}

// Of the lines of a chart, in their order: as many as are drawn.
std::array<std::string_view, kMostLines> LineTones() {
  std::array<std::string_view, kMostLines> names;
  for (size_t i = 0; i < names.size(); ++i) {
    names[i] = ToneName(LineTone(i));
  }
  return names;
}

void PutView(JsonWriter& json, const ViewSpec& view) {
  json.BreakLine(4);
  json.BeginObject();
  json.Member("table", view.table);
  json.Member("kind", ViewKindName(view.kind));
  json.Member("title", view.title);
  PutNames(json, "labels", view.labels);
  PutNames(json, "values", view.values);
  json.Member("x", view.x);
  if (view.kind == ViewKind::kSeries) {
    PutNames(json, "tones", LineTones());
  }
  json.EndObject();
}

std::string_view ComparisonName(Comparison comparison) {
  constexpr std::string_view kNames[] = {"none", "matched", "joined"};
  return kNames[static_cast<size_t>(comparison)];
}

void PutSection(JsonWriter& json, const ReportSection& section) {
  json.BreakLine(2);
  json.BeginObject();
  json.Member("name", section.name);
  json.Member("summary", section.summary);
  json.Member("pane", section.pane);
  json.Key("first_table");
  json.Uint(section.first_table);
  json.Key("tables");
  json.Uint(section.table_count);
  json.Member("lack", section.lack);
  json.Member("other_lack", section.other_lack);
  json.Key("views");
  json.BeginArray();
  for (const ViewSpec& view : section.views) {
    PutView(json, view);
  }
  json.EndArray();
  json.EndObject();
}

void PutPanes(JsonWriter& json, std::span<const ReportPane> panes) {
  json.BreakLine(1);
  json.Key("panes");
  json.BeginArray();
  for (const ReportPane& pane : panes) {
    json.BeginObject();
    json.Member("name", pane.name);
    json.Member("title", pane.title);
    json.EndObject();
  }
  json.EndArray();
}

// Times in the tables count from the begin of the recording of each rank, those of the timeline
// from the first of all.
void PutClocks(JsonWriter& json, const ReportPage& page) {
  json.BreakLine(1);
  json.Key("clocks");
  json.BeginArray();
  const std::map<int64_t, int64_t> shifts = ShiftsOfRanks(page.timeline);
  for (const RankBegin& begin : page.document.begins) {
    const auto shift = shifts.find(begin.rank);
    json.BeginObject();
    json.Key("rank");
    json.Int(begin.rank);
    json.Key("begin_ns");
    json.Int(begin.begin_ns);
    json.Key("shift_ns");
    json.Int(shift == shifts.end() ? 0 : shift->second);
    json.EndObject();
  }
  json.EndArray();
}

// What surrounds the tables.
Result<void> WriteLayout(const ReportPage& page, Sink& sink) {
  JsonWriter json(sink);
  json.BeginObject();
  json.Member("title", page.title);
  json.Member("against", page.against);
  if (!page.units.unit.empty()) {
    json.Key("units");
    json.BeginObject();
    json.Member("unit", page.units.unit);
    json.Key("this");
    json.Int(page.units.mine);
    json.Key("other");
    json.Int(page.units.other);
    json.EndObject();
  }
  json.BreakLine(1);
  json.Key("all_rows");
  json.BeginArray();
  for (const size_t rows : page.all_rows) {
    json.Uint(rows);
  }
  json.EndArray();
  json.BreakLine(1);
  json.Key("comparisons");
  json.BeginArray();
  for (const Comparison comparison : page.comparisons) {
    json.String(ComparisonName(comparison));
  }
  json.EndArray();
  PutPanes(json, page.panes);
  PutClocks(json, page);
  json.BreakLine(1);
  json.Key("sections");
  json.BeginArray();
  for (const ReportSection& section : page.sections) {
    PutSection(json, section);
  }
  json.EndArray();
  json.EndObject();
  return json.Finish();
}

Result<void> WriteTitle(const ReportPage& page, Sink& sink) {
  return sink.Write(EscapeMarkup(page.title));
}

Result<void> WriteTables(const ReportPage& page, Sink& sink) {
  ScriptJsonSink json(sink);
  BS_TRY(WritePackedJson(page.document, json));
  return json.Finish();
}

Result<void> WriteSafeLayout(const ReportPage& page, Sink& sink) {
  ScriptJsonSink json(sink);
  BS_TRY(WriteLayout(page, json));
  return json.Finish();
}

// Texts have no "<" that could end the element.
Result<void> WriteSafeTimeline(const ReportPage& page, Sink& sink) {
  ScriptJsonSink json(sink);
  BS_TRY(WriteTimeline(page.timeline, page.more_of_timeline, json));
  return json.Finish();
}

// What takes the place of a mark in a template.
struct MarkRow {
  std::string_view mark;
  Result<void> (*write)(const ReportPage& page, Sink& sink);
};
constexpr MarkRow kMarks[] = {{"@@borescope-title@@", WriteTitle},
                              {"@@borescope-tables@@", WriteTables},
                              {"@@borescope-layout@@", WriteSafeLayout},
                              {"@@borescope-timeline@@", WriteSafeTimeline},
                              {"@@borescope-plain@@", WritePlainBody}};

// The mark that comes first in `text`, and where.
std::pair<const MarkRow*, size_t> FirstMark(std::string_view text) {
  std::pair<const MarkRow*, size_t> first{nullptr, text.size()};
  for (const MarkRow& row : kMarks) {
    if (const size_t at = text.find(row.mark); at < first.second) {
      first = {&row, at};
    }
  }
  return first;
}

}  // namespace

Result<void> ScriptJsonSink::Write(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    if (held_.empty()) {
      // Nearly everything is harmless, and copied at once.
      const auto* dubious = std::find_if(bytes.begin(), bytes.end(), IsDubious);
      text.append(bytes.begin(), dubious);
      bytes = {dubious, bytes.end()};
    }
    if (!bytes.empty()) {
      AppendDubious(bytes.front(), text);
      bytes.remove_prefix(1);
    }
  }
  return sink_.Write(text);
}

void ScriptJsonSink::AppendDubious(char c, std::string& text) {
  if (held_.size() == kLineEndStart.size() && (c == '\xA8' || c == '\xA9')) {
    text += c == '\xA8' ? "\\u2028" : "\\u2029";
    held_.clear();
    return;
  }
  if (held_.size() < kLineEndStart.size() && c == kLineEndStart[held_.size()]) {
    held_ += c;
    return;
  }
  text += std::exchange(held_, {});
  if (c == kLineEndStart[0]) {
    held_ += c;
  } else if (c == '<') {
    text += "\\u003c";
  } else {
    text += c;
  }
}

Result<void> ScriptJsonSink::Finish() { return sink_.Write(std::exchange(held_, {})); }

Result<void> WriteHtml(const ReportPage& page, std::string_view html_template, Sink& sink) {
  std::string_view rest = html_template.empty() ? PlainTemplate() : html_template;
  for (auto [mark, at] = FirstMark(rest); mark != nullptr; std::tie(mark, at) = FirstMark(rest)) {
    BS_TRY(sink.Write(rest.substr(0, at)));
    BS_TRY(mark->write(page, sink));
    rest.remove_prefix(at + mark->mark.size());
  }
  return sink.Write(rest);
}

}  // namespace borescope::internal
