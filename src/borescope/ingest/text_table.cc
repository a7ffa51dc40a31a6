#include "borescope/ingest/text_table.h"

#include <algorithm>

namespace borescope::internal {

// If runs overlap, they are split into single ids.
void RowIds::Sort() {
  std::vector<Run> single;
  single.reserve(rows_);
  for (const Run& run : runs_) {
    for (uint32_t i = 0; i < run.count; ++i) {
      single.push_back({run.first + int64_t{i}, 1, run.row + i});
    }
  }
  std::stable_sort(single.begin(), single.end(),
                   [](const Run& a, const Run& b) { return a.first < b.first; });
  runs_ = std::move(single);
}

size_t RowIds::Finish() {
  if (is_sorted_) {
    return 0;
  }
  Sort();
  const auto end = std::unique(runs_.begin(), runs_.end(),
                               [](const Run& a, const Run& b) { return a.first == b.first; });
  const auto repeated = static_cast<size_t>(runs_.end() - end);
  runs_.erase(end, runs_.end());
  return repeated;
}

uint32_t RowIds::FindElsewhere(int64_t id) {
  if (last_ + 1 < runs_.size() && runs_[last_ + 1].Has(id)) {
    return runs_[++last_].RowOf(id);
  }
  const auto after =
      std::upper_bound(runs_.begin(), runs_.end(), id,
                       [](int64_t value, const Run& run) { return value < run.first; });
  if (after == runs_.begin() || !std::prev(after)->Has(id)) {
    return kNone;
  }
  last_ = static_cast<size_t>(std::prev(after) - runs_.begin());
  return runs_[last_].RowOf(id);
}

Result<void> TextTable::Read(SqlDatabase& database, const DatabaseSchema& schema,
                             std::string_view table, std::string_view id, std::string_view text,
                             StringPool& pool, Diagnostics& diagnostics) {
  table_ = table;
  const std::string_view columns[] = {id, text};
  BS_ASSIGN(TableRows rows, TableRows::Open(database, schema, table, columns, diagnostics));
  return rows.ForEach([&] {
    ids_.Add(rows.Integer(0));
    texts_.push_back(pool.Intern(rows.Text(1)));
  });
}

void TextTable::Finish(Diagnostics& diagnostics) {
  diagnostics.CountMany(Diag::kDuplicateKey, ids_.Finish(), Diagnostics::kNoByte, table_);
}

StringId TextTable::NoText(int64_t id, Diagnostics& diagnostics) const {
  if (id != kMissing) {
    diagnostics.Count(Diag::kDanglingReference, Diagnostics::kNoByte,
                      table_ + " " + std::to_string(id));
  }
  return StringId{0};
}

}  // namespace borescope::internal
