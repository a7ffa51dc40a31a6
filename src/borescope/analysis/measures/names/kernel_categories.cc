#include "borescope/analysis/measures/names/kernel_categories.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/row.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kCategoryDoc =
    "Category of --patterns: the last with an expression that matches the name; (none) without "
    "one.";

// The category of every row, asked for once for each name.
StringValues CategoriesOf(const StringValues& names, const NamePatterns& patterns) {
  std::map<std::string_view, std::string_view> known;
  StringValues categories;
  categories.reserve(names.size());
  for (size_t row = 0; row < names.size(); ++row) {
    const auto [entry, is_new] = known.try_emplace(names[row]);
    if (is_new) {
      entry->second = patterns.CategoryOf(names[row]);
    }
    categories.push_back(entry->second);
  }
  return categories;
}

size_t PlaceOf(const Table& table, std::string_view column) {
  const auto found = std::find_if(table.columns.begin(), table.columns.end(),
                                  [&](const Column& one) { return one.name == column; });
  return static_cast<size_t>(found - table.columns.begin());
}

Column CategoryColumn(const Table& table, const NamePatterns& patterns) {
  return {"category",
          Unit::kNone,
          Role::kKey,
          std::string(kCategoryDoc),
          CategoriesOf(Texts(table, "name"), patterns),
          {}};
}

// One row for each name in a category, so that names can be counted. A name that is a row for each
// of several operators or classes is one name.
Table NamesByCategory(const Table& kernels, const NamePatterns& patterns) {
  Table names{"kernel_categories", "Device time per category of kernels", {}};
  for (size_t i = 0; i < PlaceOf(kernels, "name"); ++i) {
    names.columns.push_back(kernels.columns[i]);
  }
  names.columns.push_back(CategoryColumn(kernels, patterns));
  for (const std::string_view column : {"name", "count", "total_ns"}) {
    names.columns.push_back(*kernels.Find(column));
  }
  return MergeByKey(names);
}

}  // namespace

void AddCategories(Table& table, const NamePatterns& patterns) {
  const auto place = static_cast<ptrdiff_t>(PlaceOf(table, "name") + 1);
  table.columns.insert(table.columns.begin() + place, CategoryColumn(table, patterns));
}

Table CategoryTable(const Table& kernels, const NamePatterns& patterns) {
  Table table = NamesByCategory(kernels, patterns);
  const auto place = PlaceOf(table, "name");
  table.columns[place] = {
      "kernels", Unit::kCount, Role::kSum, "Distinct names of kernels.", IntValues(table.rows(), 1),
      {}};
  table = MergeByKey(table);
  const size_t rows = table.rows();
  table.columns.push_back(
      {"mean_ns", Unit::kNanoseconds, Role::kDerived, "Mean duration.", FloatValues(rows, 0), {}});
  table.columns.push_back({"share",
                           Unit::kShare,
                           Role::kDerived,
                           "Total / total of all rows of this table.",
                           FloatValues(rows, 0),
                           {}});
  FillMean(table, "total_ns", "count", "mean_ns");
  FillShare(table, "total_ns", "share");
  return Sorted(table, "total_ns");
}

}  // namespace borescope::internal
