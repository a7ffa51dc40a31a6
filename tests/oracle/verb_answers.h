// Asks a verb about random runs, and writes the answer as lines of text that twins can write, too.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "tests/oracle/random_run.h"

namespace borescope::internal::testkit {

// Order does not matter, equal rows count.
using Lines = std::multiset<std::string>;

// The cells of a row with a blank between them. Missing numbers are "-", as in Lines of a table.
inline std::string Cell(int64_t value) { return value == kMissing ? "-" : std::to_string(value); }
inline std::string Cell(double value) { return fmt::format("{:.6g}", value); }
inline std::string Cell(std::string_view value) { return std::string(value); }
inline std::string Cell(const char* value) { return value; }

template <class... T>
std::string Line(const T&... values) {
  std::string line;
  ((line += (line.empty() ? "" : " ") + Cell(values)), ...);
  return line;
}

// The rows of a table, in the columns asked for; a test failure where one is not there.
Lines LinesOf(const Table& table, std::initializer_list<std::string_view> columns);

// map, reduce and finish over one rank; a test failure where there is no answer.
// The same, or why there is none.
Result<Tables> TryAsk(std::string_view verb, const Trace& trace, const Params& params);
Tables Ask(std::string_view verb, const Trace& trace, const Params& params = {});

// The table of that name; a test failure and an empty one where there is none.
const Table& TableOf(const Tables& tables, std::string_view name);

// Windows and streams at random. `params` gets what the user would write, the rest is what follows.
RunSelection RandomSelection(Random& random, const RandomRun& run, Params& params);

// The pieces of the selection that have rows of their own: with --by step each selected step and,
// last, time in no step; else all of it, with a missing number. Asks for --by step now and then.
struct RunWindow {
  int64_t step = kMissing;
  RunSelection selection;
};
std::vector<RunWindow> RandomWindows(Random& random, const RandomRun& run,
                                     const RunSelection& selection, Params& params);

}  // namespace borescope::internal::testkit
