// The options of prof, with and without --compat pyprof.
#include "borescope/analysis/analyses.h"
#include "borescope/analysis/modelled_work.h"
#include "borescope/analysis/param_specs.h"
#include "borescope/analysis/pyprof/columns.h"

namespace borescope {

Result<void> CheckProf(const Params& params) {
  BS_TRY(ModelOptionsOf(params));
  BS_TRY(CheckProfColumns(params.Text(kColumnsParam)));
  const int64_t width = params.Number(kWidthParam);
  if (width == 0) return {};
  if (params.Flag(kQuotedParam)) {
    return Error{ErrorCode::kInvalidArgument, "--csv and --width are two styles; name one"};
  }
  return CheckProfWidth(params.Text(kColumnsParam), width);
}

}  // namespace borescope
