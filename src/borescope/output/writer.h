// The list of table writers: one row per output format. `--format`, the help and `borescope
// list` follow from it. To add one: its file, a row in writer.cc, a golden test.
//
// Writers format and never compute: values arrive in base units, and only people's formats scale,
// round and abbreviate them. Pure but for the sink; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/diagnostics.h"
#include "borescope/base/result.h"
#include "borescope/diagnostic.h"
#include "borescope/output/sink/sink.h"
#include "borescope/output/units/timestamps.h"
#include "borescope/table/display/line_style.h"
#include "borescope/table/display/view.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// What one invocation says, before it has a format: tables, and how far they can be trusted.

using borescope::Diagnostic;

// What one invocation answers: the tables, and how far the input can be trusted.
struct Document {
  std::vector<Table> tables;
  std::vector<Diagnostic> diagnostics;
  LineStyle lines = {};  // text only
  // What of the tables is drawn, where a format draws; those of absent tables are skipped.
  std::vector<ViewSpec> views = {};
  std::string source = {};             // "breakdown of rank-0.json.gz": the title of pictures
  std::vector<RankBegin> begins = {};  // of the ranks; text counts timestamps from there
  // Text for people takes no more lines than this: of tables it has fewer rows, then of the last
  // ones the title alone; 0: everything is shown. Remarks on the data are always there.
  size_t most_lines = 0;
};

// The rows of kDiagRows that `diagnostics` has counted, for one file.
void AppendDiagnostics(const Diagnostics& diagnostics, const std::string& file,
                       std::vector<Diagnostic>& rows);

struct WriteOptions {
  int width = 80;               // terminal cells per line (text)
  bool colour = false;          // bold headings, bars and colours by escape sequences (text)
  bool printable = false;       // for a terminal, which control characters in texts must not reach:
                                // U+FFFD (csv; text always), \uXXXX (json)
  bool guard_formulas = false;  // a ' before texts that would be formulas, and in commands of build
                                // servers (csv)
};

struct TableWriter {
  std::string_view name;       // value of --format
  std::string_view extension;  // of files: "csv"
  std::string_view summary;
  // False: the diagnostics do not fit into the format and must be reported elsewhere.
  bool carries_diagnostics;
  Result<void> (*write)(const Document&, const WriteOptions&, Sink&);
  // For formats whose files hold a single table; nullptr when a file holds them all.
  Result<void> (*write_table)(const Table&, const WriteOptions&, Sink&);
  // Draws Document::views; only verbs that have some can be written so.
  bool draws = false;
  bool is_binary = false;  // nothing for a terminal
  // Whether it can write at all here, to be asked before any work; nullptr: always.
  Result<void> (*check)() = nullptr;
};

std::span<const TableWriter> TableWriters();

// Whether the diagnostics are in what the writer makes of the document. Text that other programs
// read holds none.
bool CarriesDiagnostics(const TableWriter& writer, const Document& document);

const TableWriter* FindTableWriter(std::string_view name);  // nullptr when there is none

// Writes `document` to the file `path`, or, where the format holds one table per file and there are
// several, to PATH.TABLE.EXTENSION beside it ("out.csv": "out.kernels.csv"). Each file appears
// complete or not at all. A device or a pipe gets all tables, as standard output does. Returns
// OutputPaths.
Result<std::vector<std::string>> WriteFiles(const TableWriter& writer, const Document& document,
                                            const WriteOptions& options, const std::string& path);

// The files that WriteFiles of this document writes, in the order of the tables.
std::vector<std::string> OutputPaths(const TableWriter& writer, const Document& document,
                                     const std::string& path);

// The writers. Names are those of the formats.
//
// text  For people. Fits `width`; see text.cc for how.
Result<void> WriteText(const Document& document, const WriteOptions& options, Sink& sink);
// Only the block about data quality, for formats that do not carry it; nothing without diagnostics.
Result<void> WriteQuality(std::span<const Diagnostic> rows, const WriteOptions& options,
                          Sink& sink);
// csv   RFC 4180 quoting, lines end in "\n", raw numbers, missing cells are empty. A "# name"
//       line precedes every table.
Result<void> WriteCsv(const Document& document, const WriteOptions& options, Sink& sink);
// csv in a file: one table, no "# name" line.
Result<void> WriteCsvTable(const Table& table, const WriteOptions& options, Sink& sink);
// json  The shape of docs/formats/table-json.md.
Result<void> WriteJson(const Document& document, const WriteOptions& options, Sink& sink);
// The same for the page of the report: where texts of a column recur, it has them once each in
// `texts`, and in place of `values` their numbers in `cells` (docs/use/report.md).
Result<void> WritePackedJson(const Document& document, Sink& sink);
// svg   One picture of all views, below each other; complete in itself. kMissingData where nothing
//       of the document can be drawn.
Result<void> WriteSvg(const Document& document, const WriteOptions& options, Sink& sink);
// png   The same picture, drawn by a library (charts/png/png.h), which may be missing.
Result<void> WritePng(const Document& document, const WriteOptions& options, Sink& sink);

}  // namespace borescope::internal
