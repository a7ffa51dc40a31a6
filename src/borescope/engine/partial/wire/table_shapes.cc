#include "borescope/engine/partial/wire/table_shapes.h"

#include <fmt/format.h>

#include <algorithm>

#include "borescope/index/trace_index.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {
namespace {

bool IsLike(const Column& column, const Column& shape) {
  return column.name == shape.name && column.unit == shape.unit && column.role == shape.role &&
         column.values.index() == shape.values.index();
}

bool IsAddition(const Column& column) {
  return column.role == Role::kDerived && std::holds_alternative<FloatValues>(column.values);
}

std::string MismatchOf(const Table& table, const Table& shape, bool adds_columns) {
  if (table.name != shape.name) {
    return fmt::format("a table \"{}\" stands where \"{}\" should", table.name, shape.name);
  }
  const size_t known = shape.columns.size();
  for (size_t i = 0; i < known; ++i) {
    if (i >= table.columns.size() || !IsLike(table.columns[i], shape.columns[i])) {
      return fmt::format("table \"{}\" has no column \"{}\" of its kind", table.name,
                         shape.columns[i].name);
    }
  }
  for (size_t i = known; i < table.columns.size(); ++i) {
    if (!adds_columns || !IsAddition(table.columns[i])) {
      return fmt::format("table \"{}\" has a column \"{}\" too many", table.name,
                         table.columns[i].name);
    }
  }
  return {};
}

}  // namespace

Params WithoutNames(const AnalysisSpec& verb, Params params) {
  params.selection = {};
  std::erase_if(params.values, [&](const ParamValue& value) {
    return std::any_of(verb.params.begin(), verb.params.end(), [&](const ParamSpec* param) {
      return param->names_events && param->name == value.name;
    });
  });
  return params;
}

Result<Tables> ShapeOf(const AnalysisSpec& verb, const Params& params, bool reads_files) {
  const Trace trace = TraceBuilder().Finish({}, 0, 1);
  const TraceIndex index = BuildIndex(trace, 1);
  const RankView view{0, trace, index};
  const Params asked = WithoutNames(verb, params);
  const Pipeline& pipeline = verb.PipelineFor(asked);
  BS_ASSIGN(Tables tables, pipeline.map(view, asked));
  return pipeline.read_files == nullptr || !reads_files
             ? std::move(tables)
             : pipeline.read_files(std::move(tables), asked);
}

std::string MismatchOf(const Tables& tables, const Tables& shape, bool adds_columns) {
  if (tables.size() != shape.size()) {
    return fmt::format("it has {} tables, and should have {}", tables.size(), shape.size());
  }
  for (size_t i = 0; i < tables.size(); ++i) {
    if (std::string found = MismatchOf(tables[i], shape[i], adds_columns); !found.empty()) {
      return found;
    }
  }
  return {};
}

}  // namespace borescope::internal
