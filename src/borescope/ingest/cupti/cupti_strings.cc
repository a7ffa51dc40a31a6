#include "borescope/ingest/cupti/cupti_strings.h"

#include <algorithm>

namespace borescope::internal {

StringId EventNames::Get(int64_t number) {
  const StringId recorded = strings_.Find(number);
  if (!recorded.valid()) {
    part_.data.diagnostics.Count(
        Diag::kMissingName, Diagnostics::kNoByte,
        number == kMissing ? "" : "string " + std::to_string(number) + " is not in the file");
    return StringId{0};
  }
  if (names_.size() <= recorded.value) {
    names_.resize(recorded.value + 1);
  }
  StringId& name = names_[recorded.value];
  if (!name.valid()) {
    name = part_.Intern(translate_(part_.data.strings.Get(recorded)));
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

}  // namespace borescope::internal
