#include "borescope/table/table_fault.h"

#include <set>
#include <string_view>

namespace borescope::internal {

std::string FaultOf(const Table& table) {
  std::set<std::string_view> names;
  for (const Column& column : table.columns) {
    if (column.size() != table.rows()) {
      return "columns of " + std::to_string(table.rows()) + " and of " +
             std::to_string(column.size()) + " rows";
    }
    if (!names.insert(column.name).second) {
      return "two columns of one name";
    }
    if (column.role == Role::kSum && !column.IsNumber()) {
      return "sums that are no numbers";
    }
  }
  return {};
}

}  // namespace borescope::internal
