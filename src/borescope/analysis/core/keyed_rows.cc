#include "borescope/analysis/core/keyed_rows.h"

#include <algorithm>
#include <iterator>

#include "borescope/analysis/core/row.h"
#include "borescope/base/check.h"

namespace borescope::internal {

void InsertKeys(Table& table, std::string_view name, const GroupKeys& keys,
                const std::function<std::span<const int64_t>(size_t row)>& values_of) {
  if (keys.size() == 0) return;
  Table before;
  Table after;
  keys.AddColumnsBeforeName(before);
  keys.AddColumnsAfterName(after);
  for (size_t i = 0; i < table.rows(); ++i) {
    const std::span<const int64_t> values = values_of(i);
    Row row_before(before);
    keys.PushBeforeName(row_before, values);
    Row row_after(after);
    keys.PushAfterName(row_after, values);
  }
  auto found = std::find_if(table.columns.begin(), table.columns.end(),
                            [&](const Column& column) { return column.name == name; });
  BS_CHECK(found != table.columns.end());
  table.columns.insert(std::next(found), std::make_move_iterator(after.columns.begin()),
                       std::make_move_iterator(after.columns.end()));
  table.columns.insert(table.columns.begin(), std::make_move_iterator(before.columns.begin()),
                       std::make_move_iterator(before.columns.end()));
}

}  // namespace borescope::internal
