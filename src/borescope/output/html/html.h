// The report: one HTML file that holds the tables as JSON and what a browser needs to show them. It
// asks nothing of any network, and no name from a trace can become markup or script in it: the data
// are in script elements that hold no code, without any "<".
//
// The template is made from the folder web/ when Borescope is built; without node at build time the
// page holds the tables as plain HTML (below). Pure but for the sink; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/output/sink/sink.h"
#include "borescope/output/writer.h"
#include "borescope/table/compare.h"
#include "borescope/table/display/view.h"

namespace borescope::internal {

// What one analysis contributes.
struct ReportSection {
  std::string name;        // of the verb
  std::string summary;     // what it answers, in one line
  size_t first_table = 0;  // in Document::tables
  size_t table_count = 0;
  std::string lack;  // why there are no tables, and what to record; empty if there are
  std::vector<ViewSpec> views;
  std::string other_lack = {};  // why the tables hold nothing of the other run, if so
  std::string pane = {};        // the name of the pane that shows it
};

// A part of the page that is shown at once.
struct ReportPane {
  std::string name;   // in links
  std::string title;  // of its tab
};

// What two runs are compared by: sums on the page are those of one of them, the mean.
struct ReportUnits {
  std::string unit;  // "step", "token", "rank" or "run"
  int64_t mine = 1;  // how many this run has
  int64_t other = 1;
};

struct ReportPage {
  std::string title;
  std::string against = {};  // title of the other run; empty: there is none
  ReportUnits units = {};    // where there is one
  Document document;
  // Rows of each table of the document before it was made to fit.
  std::vector<size_t> all_rows;
  // How each was made of two runs.
  std::vector<Comparison> comparisons;
  std::vector<ReportSection> sections;
  std::vector<ReportPane> panes;  // in the order of the page
  // Of the verb timeline; empty: the page has none.
  std::vector<Table> timeline = {};
  // The address that has other stretches of it; empty, as in every file: none has.
  std::string more_of_timeline = {};
};

// The page with its scripts and styles; empty when Borescope was built without them.
std::string_view ReportTemplate();

// Writes the page. An empty template gives the plain one. The tables in it are those of
// WritePackedJson, but for escapes: what a JSON reader makes of them is the same.
Result<void> WriteHtml(const ReportPage& page, std::string_view html_template, Sink& sink);

// JSON for a script element: the same to every JSON reader, and nothing to an HTML parser. Escapes
// "<" and the two line ends that JSON allows and JavaScript long did not (U+2028, U+2029).
class ScriptJsonSink : public Sink {
 public:
  explicit ScriptJsonSink(Sink& sink) : sink_(sink) {}

  // Pieces may end anywhere.
  Result<void> Write(std::string_view bytes) override;
  // Hands over what was held back of a character. REQUIRES: no Write follows.
  Result<void> Finish();

 private:
  // Appends `c`, or what replaces it, or holds it back.
  void AppendDubious(char c, std::string& text);

  Sink& sink_;
  std::string held_;  // the beginning of what may become a U+2028
};

// The report as plain HTML: what a browser shows without any script.

// A template for WriteHtml that needs nothing but itself.
std::string_view PlainTemplate();

// Every section with its tables, escaped; numbers as the text writer shows them.
Result<void> WritePlainBody(const ReportPage& page, Sink& sink);

}  // namespace borescope::internal
