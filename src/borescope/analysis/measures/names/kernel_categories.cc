#include "borescope/analysis/measures/names/kernel_categories.h"

#include <fmt/format.h>
#include <re2/re2.h>
#include <simdjson.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/base/memory_limit.h"
#include "borescope/json/json_cursor.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {

namespace {

Error NoPatterns(std::string_view cause) {
  return {ErrorCode::kInvalidArgument, std::string(cause),
          "write {\"category\": [\"expression\", ...], ...}"};
}

// RE2 reads UTF-8; names are made valid UTF-8 when they are read. Expressions never match other
// bytes.
Result<std::unique_ptr<re2::RE2>> Compile(std::string_view category, std::string_view expression) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  AskForMemory(kExpressionBytes);
  auto compiled = std::make_unique<re2::RE2>(expression, options);
  if (!compiled->ok()) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("category \"{}\": '{}' is not a regular expression of RE2: {}",
                             category, expression, compiled->error())};
  }
  return compiled;
}

}  // namespace

NamePatterns::NamePatterns() = default;
NamePatterns::~NamePatterns() = default;
NamePatterns::NamePatterns(NamePatterns&&) noexcept = default;
NamePatterns& NamePatterns::operator=(NamePatterns&&) noexcept = default;

Result<NamePatterns> NamePatterns::Parse(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  if (const auto error = ParseDocument(parser, json, document)) {
    return NoPatterns(fmt::format("no JSON ({})", simdjson::error_message(error)));
  }
  simdjson::dom::object categories;
  if (document.get(categories) != simdjson::SUCCESS) {
    return NoPatterns("no JSON object");
  }
  NamePatterns result;
  for (const auto& [key, value] : categories) {
    simdjson::dom::array expressions;
    if (value.get(expressions) != simdjson::SUCCESS) {
      return NoPatterns(fmt::format("category \"{}\" has no list of expressions", key));
    }
    result.categories_.emplace_back(key);
    for (const simdjson::dom::element one : expressions) {
      std::string_view text;
      if (one.get(text) != simdjson::SUCCESS) {
        return NoPatterns(fmt::format("category \"{}\": an expression is not a text", key));
      }
      BS_ASSIGN(std::unique_ptr<re2::RE2> compiled, Compile(key, text));
      result.patterns_.emplace_back(result.categories_.size() - 1, std::move(compiled));
    }
  }
  return result;
}

std::string_view NamePatterns::CategoryOf(std::string_view name) const {
  for (auto pattern = patterns_.rbegin(); pattern != patterns_.rend(); ++pattern) {
    if (re2::RE2::PartialMatch(name, *pattern->second)) {
      return categories_[pattern->first];
    }
  }
  return kNoCategory;
}

bool HasPatterns(const Params& params) { return params.Content(kPatternsParam) != nullptr; }

Result<NamePatterns> PatternsOf(const Params& params) {
  Result<NamePatterns> patterns = NamePatterns::Parse(*params.Content(kPatternsParam));
  if (!patterns.ok()) {
    return OfParameter("patterns", InFile(params.Text(kPatternsParam), patterns.error()));
  }
  return patterns;
}

Result<void> CheckPatterns(const Params& params) {
  if (HasPatterns(params)) {
    BS_TRY(PatternsOf(params));
  }
  return {};
}

namespace {

constexpr std::string_view kCategoryDoc =
    "Category of --patterns: the last with an expression that matches the name; (none) without "
    "one.";

// The category of every row; each name is matched once.
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

// One row for each name in a category, so that names can be counted. A name with rows for several
// operators or classes counts once.
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
