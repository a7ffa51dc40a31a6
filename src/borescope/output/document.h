// What one invocation says, before it has a format: tables, and how far they can be trusted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "borescope/base/diagnostics.h"
#include "borescope/diagnostic.h"
#include "borescope/output/units/timestamps.h"
#include "borescope/table/display/line_style.h"
#include "borescope/table/display/view.h"
#include "borescope/table/table.h"

namespace borescope::internal {

using borescope::Diagnostic;

// What one invocation answers: the tables, and how far the input can be trusted.
struct Document {
  std::vector<Table> tables;
  std::vector<Diagnostic> diagnostics;
  LineStyle lines = {};  // text only
  // What of the tables is drawn, where a format draws; those of absent tables are skipped.
  std::vector<ViewSpec> views = {};
  std::string source = {};             // "breakdown of rank-0.json.gz": stands above pictures
  std::vector<RankBegin> begins = {};  // of the ranks; text counts moments from there
};

// The rows of kDiagRows that `diagnostics` has counted, for one file.
void AppendDiagnostics(const Diagnostics& diagnostics, const std::string& file,
                       std::vector<Diagnostic>& rows);

}  // namespace borescope::internal
