#include "borescope/output/html/html_plain.h"

#include <fmt/format.h>

#include <algorithm>

#include "borescope/output/markup.h"
#include "borescope/output/units/row_units.h"
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

}  // namespace borescope::internal
