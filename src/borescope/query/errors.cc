#include "borescope/query/errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "borescope/base/text/nearest.h"
#include "borescope/query/functions.h"
#include "borescope/query/relations/relation.h"

namespace borescope::internal::query {
namespace {

using Names = std::vector<std::string_view>;

Names TableNames() {
  Names names;
  names.reserve(Relations().size() + Views().size());
  for (const Relation& relation : Relations()) {
    names.push_back(relation.name);
  }
  for (const ViewSpec& view : Views()) {
    names.push_back(view.name);
  }
  return names;
}

Names ColumnNames(std::string_view sql) {
  Names names;
  for (const Relation& relation : Relations()) {
    if (sql.find(relation.name) != std::string_view::npos) {
      std::transform(relation.columns.begin(), relation.columns.end(), std::back_inserter(names),
                     [](const ColumnSpec& column) { return column.name; });
    }
  }
  return names;
}

Names FunctionNames(std::string_view) {
  Names names;
  names.reserve(Functions().size());
  for (const FunctionRow& function : Functions()) {
    names.push_back(function.name);
  }
  return names;
}

struct UnknownRow {
  std::string_view prefix;
  Names (*names)(std::string_view sql);
};
constexpr UnknownRow kUnknowns[] = {
    {"no such table: ", [](std::string_view) { return TableNames(); }},
    {"no such column: ", ColumnNames},
    {"no such function: ", FunctionNames}};

// The nearest name to the unknown one at the end of a message, which may be qualified.
std::string_view Suggestion(std::string_view message, std::string_view sql) {
  for (const UnknownRow& row : kUnknowns) {
    if (message.starts_with(row.prefix)) {
      std::string_view name = message.substr(row.prefix.size());
      name = name.substr(name.rfind('.') + 1);  // npos + 1 is 0
      return Nearest(name, row.names(sql));
    }
  }
  return {};
}

}  // namespace

Error StatementError(std::string_view message, std::string_view sql) {
  const std::string_view nearest = Suggestion(message, sql);
  std::string remedy;
  if (!nearest.empty()) {
    remedy = fmt::format("did you mean '{}'?", nearest);
  } else if (message.starts_with("no such ")) {
    remedy = "borescope query --schema shows what there is";
  }
  std::string cause = fmt::format("query: {}", message);
  std::replace(cause.begin(), cause.end(), '\n', ' ');
  return {ErrorCode::kInvalidArgument, std::move(cause), std::move(remedy)};
}

std::string BytesText(uint64_t bytes) {
  constexpr uint64_t kGiB = uint64_t{1} << 30;
  constexpr uint64_t kMiB = uint64_t{1} << 20;
  const auto count = static_cast<double>(bytes);
  return bytes >= kGiB   ? fmt::format("{:.4g} GiB", count / static_cast<double>(kGiB))
         : bytes >= kMiB ? fmt::format("{:.4g} MiB", count / static_cast<double>(kMiB))
                         : fmt::format("{:.4g} KiB", count / 1024);
}

}  // namespace borescope::internal::query
