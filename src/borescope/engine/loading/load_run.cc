#include "borescope/engine/loading/load_run.h"

#include "borescope/base/row_limit.h"
#include "borescope/base/stop.h"
#include "borescope/engine/map_run.h"

namespace borescope::internal {
namespace {

Result<LoadedRun> Load(const RunOptions& options) {
  BS_ASSIGN(MappedRun run, MapRun({{},
                                   options.files,
                                   options.ranks,
                                   options.params,
                                   options,
                                   "",
                                   /*keep_traces=*/true}));
  LoadedRun loaded;
  loaded.diagnostics = CollectDiagnostics(run);
  loaded.ranks.reserve(run.selected.size());
  for (RankPart* part : run.selected) {
    loaded.ranks.push_back({part->report.rank, part->report.path, std::move(part->diagnostics),
                            std::move(part->trace)});
  }
  loaded.files = TakeReports(run);
  return loaded;
}

}  // namespace

Result<LoadedRun> LoadRun(const RunOptions& options) {
  return WithNumberedRows([&] { return Stoppable(options.stop, [&] { return Load(options); }); });
}

}  // namespace borescope::internal
