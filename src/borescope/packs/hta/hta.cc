#include "borescope/packs/hta/hta.h"

#include "borescope/packs/packs.h"

namespace borescope::internal {
namespace {

constexpr Pipeline kHtaBreakdown{.map = MapHtaBreakdown, .reduce = ConcatTables};
constexpr Pipeline kHtaKernels{
    .map = MapHtaKernels, .reduce = MergeTables, .finish = FinishHtaKernels};
constexpr Pipeline kHtaOverlap{.map = MapHtaOverlap, .reduce = ConcatTables};
constexpr Pipeline kHtaIdle{.map = MapHtaIdle, .reduce = ConcatTables};
constexpr Pipeline kHtaLaunches{.map = MapHtaLaunches, .reduce = ConcatTables};
constexpr Pipeline kHtaDelays{
    .map = MapHtaDelays, .reduce = ConcatTables, .finish = FinishHtaDelays};
constexpr Pipeline kHtaQueue{.map = MapHtaQueue, .reduce = ConcatTables};
constexpr Pipeline kHtaBandwidth{.map = MapHtaBandwidth, .reduce = ConcatTables};
constexpr Pipeline kHtaSequences{
    .map = MapHtaSequences, .reduce = ConcatTables, .finish = FinishHtaSequences};
constexpr Pipeline kHtaAnnotations{
    .map = MapHtaAnnotations, .reduce = ConcatTables, .finish = FinishHtaAnnotations};
constexpr Pipeline kHtaStragglers{.map = MapHtaStragglers,
                                  .reduce = ConcatTables,
                                  .finish = FinishHtaStragglers,
                                  .check_tables = CheckHtaStragglers};
constexpr Pipeline kHtaCounters{
    .map = MapHtaCounters, .reduce = ConcatTables, .adds_columns = true};
constexpr Pipeline kHtaCriticalPath{.map = MapHtaCriticalPath,
                                    .reduce = ConcatTables,
                                    .overlay = OverlayHtaCriticalPath,
                                    .takes_window = true};
constexpr Pipeline kHtaEvents{.map = MapHtaEvents,
                              .read_text = ReadHtaEvents,
                              .reduce = ConcatTables,
                              .finish = FinishHtaEvents,
                              .adds_columns = true};
constexpr Pipeline kHtaDiff{.map = MapHtaDiff, .reduce = MergeTables, .compare = CompareHtaDiff};

constexpr PackPipeline kPipelines[] = {{"breakdown", &kHtaBreakdown},
                                       {"idle", &kHtaIdle},
                                       {"overlap", &kHtaOverlap},
                                       {"kernels", &kHtaKernels},
                                       {"launches", &kHtaLaunches},
                                       {"delays", &kHtaDelays},
                                       {"queue", &kHtaQueue},
                                       {"bandwidth", &kHtaBandwidth},
                                       {"sequences", &kHtaSequences},
                                       {"annotations", &kHtaAnnotations},
                                       {"stragglers", &kHtaStragglers},
                                       {"critical-path", &kHtaCriticalPath},
                                       {"counters", &kHtaCounters},
                                       {"events", &kHtaEvents},
                                       {"diff", &kHtaDiff}};

}  // namespace

const Pack kHtaPack{.tool = Compat::kHta, .pipelines = kPipelines, .verbs = {}};

}  // namespace borescope::internal
