#include "borescope/packs/packs.h"
#include "borescope/packs/rpd/tables.h"

namespace borescope::internal {
namespace {

constexpr PackPipeline kPipelines[] = {{"busy", &kRpdBusy},
                                       {"top", &kRpdTop},
                                       {"kernels", &kRpdKernels},
                                       {"launches", &kRpdCalls},
                                       {"bandwidth", &kRpdCopies}};

}  // namespace

const Pack kRpdPack{.tool = Compat::kRpd, .pipelines = kPipelines, .verbs = {}};

}  // namespace borescope::internal
