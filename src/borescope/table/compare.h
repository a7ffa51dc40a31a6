// Tables of one analysis over two runs, made one table. Generic: what is compared follows from the
// roles and units of the columns. Pure functions on values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "borescope/table/table.h"

namespace borescope::internal {

// How a table was made of those of two runs.
enum class Comparison : uint8_t { kNone, kMatched, kJoined };

// Names of what the other run adds: "against_total_ns", "change_total_ns".
inline constexpr std::string_view kAgainstPrefix = "against_";
inline constexpr std::string_view kChangePrefix = "change_";

// Column of a matched table that says where a row is found, and its values.
inline constexpr std::string_view kRunsColumn = "runs";
inline constexpr std::string_view kBothRuns = "both";
inline constexpr std::string_view kThisRun = "this";
inline constexpr std::string_view kOtherRun = "other";

// Column of a joined table, kThisRun or kOtherRun.
inline constexpr std::string_view kRunColumn = "run";

// Integer keys of the given names that are one number in all rows of `mine` and another one in all
// rows of `others` become kDerived in both: rows of one place then match those of another one.
void UnkeyPlaces(std::span<const std::string_view> names, Table& mine, Table& others);

// One row for each combination of the keys, with what either run says about it:
//   keys             as they are; after them `runs`
//   numbers          this run's, then `against_`: the other run's, then `change_`: this less other
//   numbers that name or time something (integers without a unit; moments, as begin_ns)
//                    have no change, and moments only this run's value
//   text and flags   this run's, or the other's where only that has the row; `against_` follows
//                    when a row of both runs has another one there
// A row that one run lacks has no values there. Its change is missing, but for columns that add up
// (kSum), where a row that is not there counts as 0: so that the changes of all rows add up, too.
// A cell that one run could not tell has no change, and such a column adds up over what is known.
//
// Rows stand as in `mine`; one that only `others` has stands as far down as it does there. Of a
// tree (rows in preorder with a key `depth`) rows match when the rows around them do.
//
// nullopt when keys do not tell rows apart in one of the runs, or hold what means nothing in
// another recording (moments, correlations, positions): a list of events. O(n log n).
std::optional<Table> MatchRows(const Table& mine, const Table& others);

// The rows of both behind a first column `run`, those of this run first.
Table JoinRows(const Table& mine, const Table& others);

// Adds a column `elapsed_ns`, the time since the smallest `moment`, unless there is one: moments of
// two recordings are on two clocks.
void AddElapsed(Table& table, std::string_view moment);
inline constexpr std::string_view kElapsedColumn = "elapsed_ns";

}  // namespace borescope::internal
