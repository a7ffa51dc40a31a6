#include "borescope/analysis/core/keyed_rows.h"

#include <cstddef>
#include <iterator>
#include <vector>

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
  std::vector<Column>& columns = table.columns;
  const auto insert = [&](size_t place, std::vector<Column>& keys_there) {
    columns.insert(columns.begin() + static_cast<std::ptrdiff_t>(place),
                   std::make_move_iterator(keys_there.begin()),
                   std::make_move_iterator(keys_there.end()));
  };
  const Column* found = table.Find(name);
  BS_CHECK(found != nullptr);
  insert(static_cast<size_t>(found - columns.data()) + 1, after.columns);
  insert(columns.front().name == "rank" ? 1 : 0, before.columns);
}

}  // namespace borescope::internal
