// Combines the tables of one analysis over two runs into one table. Generic: what is compared
// follows from the roles and units of the columns. Pure functions on values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "borescope/table/table.h"

namespace borescope::internal {

// Matches corresponding rows of two tables by their keys.

inline constexpr uint32_t kNoRow = ~uint32_t{0};

// A row of either run, or of both; row numbers of the joined table.
struct RowPair {
  uint32_t mine = kNoRow;
  uint32_t other = kNoRow;
};

// Pairs of the rows of `joined`, of which the first `mine` are of one run and all further ones of
// another, in the order documented for MatchRows. nullopt if keys are not unique within one run.
// Keys are compared as CompareCells does, except `depth`, which makes a tree of the rows.
std::optional<std::vector<RowPair>> PairRows(const Table& joined, uint32_t mine);

// How a table was combined from those of two runs.
enum class Comparison : uint8_t { kNone, kMatched, kJoined };

// Prefixes of the columns added for the other run: "against_total_ns", "change_total_ns".
inline constexpr std::string_view kAgainstPrefix = "against_";
inline constexpr std::string_view kChangePrefix = "change_";

// Column of a matched table that says which runs have a row, and its values.
inline constexpr std::string_view kRunsColumn = "runs";
inline constexpr std::string_view kBothRuns = "both";
inline constexpr std::string_view kThisRun = "this";
inline constexpr std::string_view kOtherRun = "other";

// Column of a joined table, kThisRun or kOtherRun.
inline constexpr std::string_view kRunColumn = "run";

// Integer keys of the given names with one number in all rows of `mine` and another one in all rows
// of `others` become kDerived in both, so that their rows match.
void UnkeyPlaces(std::span<const std::string_view> names, Table& mine, Table& others);

// One row for each combination of the keys, with the values of either run:
//   keys             unchanged; after them `runs`
//   numbers          this run's, then `against_`: the other run's, then `change_`: this minus other
//   numbers that identify something, and timestamps (integers without a unit; begin_ns)
//                    have no change, and timestamps only this run's value
//   text and flags   this run's, or the other's if only that has the row; `against_` follows
//                    if they differ in a row of both runs
// A row that is missing in one run has no values there. Its change is missing, except in additive
// columns (kSum), where a missing row counts as 0, so that the changes of all rows add up, too. A
// cell that is missing in one run has no change, and such a column adds up over the known cells.
//
// Rows are in the order of `mine`; a row that only `others` has is placed as far down as it is
// there. In a tree (rows in preorder with a key `depth`) rows match only if their parents do.
//
// nullopt if keys are not unique in one of the runs, or are meaningless in another recording
// (timestamps, correlations, positions): a list of events. O(n log n).
std::optional<Table> MatchRows(const Table& mine, const Table& others);

// The rows of both with a first column `run`, those of this run first.
Table JoinRows(const Table& mine, const Table& others);

// Adds a column `elapsed_ns`, the time since the smallest `moment`, unless there is one: timestamps
// of two recordings are on two clocks.
void AddElapsed(Table& table, std::string_view moment);
inline constexpr std::string_view kElapsedColumn = "elapsed_ns";

}  // namespace borescope::internal
