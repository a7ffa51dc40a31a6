#include "borescope/ingest/cupti_strings.h"

#include <algorithm>
#include <limits>

namespace borescope {
namespace {

// Profilers number their strings from 0 or 1; a larger number goes to a map, whatever it is.
constexpr int64_t kMostDense = int64_t{1} << 24;

}  // namespace

Result<DatabaseStrings> DatabaseStrings::Read(const DatabaseInput& input, std::string_view table,
                                              std::string_view id_column,
                                              Diagnostics& diagnostics) {
  DatabaseStrings strings;
  const std::string_view columns[] = {id_column, "value"};
  BS_ASSIGN(TableRows rows, TableRows::Open(input, table, columns, diagnostics));
  while (true) {
    BS_ASSIGN(const bool is_row, rows.Next());
    if (!is_row) {
      return strings;
    }
    const int64_t number = rows.Integer(0);
    if (number != kMissing) {
      strings.Add(number, strings.pool_.Intern(rows.Text(1)));
    }
  }
}

void DatabaseStrings::Add(int64_t number, StringId id) {
  const auto rows = static_cast<int64_t>(dense_.size());
  if (number < 0 || number >= kMostDense || number > 4 * rows + 1024) {
    sparse_[number] = id;
    return;
  }
  if (number >= rows) {
    dense_.resize(static_cast<size_t>(number) + 1);
  }
  dense_[static_cast<size_t>(number)] = id;
}

StringId DatabaseStrings::Find(int64_t number) const {
  if (number >= 0 && number < static_cast<int64_t>(dense_.size()) &&
      dense_[static_cast<size_t>(number)].valid()) {
    return dense_[static_cast<size_t>(number)];
  }
  const auto found = sparse_.find(number);
  return found == sparse_.end() ? StringId{} : found->second;
}

StringId EventNames::Get(int64_t number) {
  const StringId recorded = number == kMissing ? StringId{} : strings_.Find(number);
  if (!recorded.valid()) {
    part_.data.diagnostics.Count(
        Diag::kMissingName, Diagnostics::kNoByte,
        number == kMissing ? "" : "string " + std::to_string(number) + " is not in the file");
    return StringId{0};
  }
  if (names_.size() <= recorded.value) {
    names_.resize(strings_.size());
  }
  StringId& name = names_[recorded.value];
  if (!name.valid()) {
    name = part_.Intern(translate_(strings_.Get(recorded)));
  }
  return name;
}

Result<void> CountOtherTables(const DatabaseInput& input, std::span<const std::string_view> known,
                              TracePart& part) {
  for (const auto& [table, columns] : input.schema.tables()) {
    const bool is_timed = std::any_of(columns.begin(), columns.end(), [](const std::string& name) {
      return name == "start" || name == "timestamp" || name == "rawTimestamp";
    });
    if (!is_timed || std::find(known.begin(), known.end(), table) != known.end()) {
      continue;
    }
    BS_ASSIGN(SqlStatement count, input.database.Prepare("SELECT count(*) FROM " + SqlName(table)));
    BS_ASSIGN(const bool is_row, count.Step());
    const int64_t rows = is_row ? count.Integer(0) : 0;
    if (rows > 0) {
      part.CountEvent('?', part.Intern(table), 0);
      part.AddCount(static_cast<uint64_t>(rows) - 1);
    }
  }
  return {};
}

}  // namespace borescope
