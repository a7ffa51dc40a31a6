#include "borescope/engine/line_styles.h"

#include <algorithm>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/compat/pyprof/columns.h"

namespace borescope::internal {
namespace {

// PyProf's own styles. Without an option its columns have blanks between them.
LineForm FormOfProf(const Params& params) {
  if (params.Number(kWidthParam) != 0) return LineForm::kFixed;
  if (params.Flag(kQuotedParam)) return LineForm::kQuoted;
  return params.compat == Compat::kPyProf ? LineForm::kSpaced : LineForm::kNone;
}

}  // namespace

LineStyle LineStyleOf(std::span<const AnalysisSpec* const> specs, const Params& params,
                      std::span<const Table> tables) {
  constexpr std::string_view kProf = "prof";
  const bool has_prof = std::any_of(specs.begin(), specs.end(),
                                    [&](const AnalysisSpec* spec) { return spec->name == kProf; });
  const auto table = std::find_if(tables.begin(), tables.end(),
                                  [&](const Table& each) { return each.name == kProf; });
  if (!has_prof || table == tables.end()) {
    return {};
  }
  LineStyle style{.form = FormOfProf(params), .table = table->name};
  if (style.form == LineForm::kFixed) {
    style.widths = ProfWidths(*table, params.Number(kWidthParam));
  }
  return style;
}

}  // namespace borescope::internal
