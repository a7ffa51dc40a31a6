#include "borescope/packs/hta/tables.h"
#include "borescope/packs/packs.h"

namespace borescope::internal {
namespace {

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
