#include <algorithm>
#include <cstdio>
#include <cstdlib>
// whatif: what the recording would take if something took another time. The recording is run again
// as a graph of dependencies with the change made (measures/replay); how far that can be believed
// is measured first, and an answer that cannot be is not given. docs/whatif.md.
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/analysis/verbs/whatif/whatif_tables.h"

namespace borescope::internal {
namespace {

Result<Tables> MapWhatIf(const RankView& view, const Params& params) {
  const ReplayModel model = MakeReplayModel(view, params.Text(kDataLoadParam));
  if (getenv("BSDBG")) {
    const std::vector<int64_t> m = MeasuredTimes(model.graph);
    std::vector<Place> path = PathOfReplay(model.graph, model.lags, model.times);
    std::vector<std::pair<int64_t, Place>> inc;
    for (size_t i = 0; i + 1 < path.size(); ++i) {
      int64_t e = (model.times[path[i]] - m[path[i]]) - (model.times[path[i + 1]] - m[path[i + 1]]);
      inc.push_back({e, path[i]});
    }
    std::sort(inc.begin(), inc.end(), [](auto a, auto b) { return std::abs(a.first) > std::abs(b.first); });
    int64_t s=0; for (auto& [e, p] : inc) s+=e;
    fprintf(stderr, "sum %ld over %zu\n", s, inc.size());
    for (size_t i = 0; i < inc.size() && i < 25; ++i) {
      Place p = inc[i].second;
      uint32_t edge = DecidingEdge(model.graph, model.lags, model.times, p);
      const auto& g = model.graph.recording.graph;
      NodeId n = model.graph.node[p];
      auto nm = [&](NodeId k) { return std::string(g.side[k] == NodeSide::kDevice ? view.trace.Text(view.trace.device().name[g.event[k]]) : g.side[k] == NodeSide::kHost ? view.trace.Text(view.trace.host().name[g.event[k]]) : std::string_view("-")).substr(0, 40); };
      NodeId f = model.graph.node[model.graph.source[edge]];
      fprintf(stderr, "%9ld ns at %ld  %s -> %s  [%s] lag %ld measured %ld\n", inc[i].first, m[p], nm(f).c_str(), nm(n).c_str(),
              model.graph.lag_class[edge] == kOwnLag ? "own" : model.graph.classes.Describe(view.trace, model.graph.lag_class[edge]).c_str(), model.lags.ns[edge], m[p] - m[model.graph.source[edge]]);
    }
  }
  Tables tables;
  tables.push_back(ReplayQualityTable(view, model));
  tables.push_back(ReplayConstantsTable(view, model));
  return tables;
}

constexpr const ParamSpec* kWhatIfParams[] = {&kDataLoadParam};

}  // namespace

const AnalysisSpec kWhatIfVerb{
    .name = "whatif",
    .summary = "how long it would take if something were faster, and how sure that is",
    .example = "borescope whatif trace.json.gz --scale class:gemm=0.5",
    .needs = Needs::kEvents,
    .params = kWhatIfParams,
    .takes_selection = false,
    .answer = {.map = MapWhatIf, .reduce = ConcatTables},
    .memory = 1.5,
    .in_report = false};

}  // namespace borescope::internal
