// Links as Chakra's trace_link does, with its rules, rounding and oversights, so that the linked
// trace has the same bytes. What ends that tool with an error does not this: docs/use/chakra.md.
#pragma once

#include "borescope/base/result.h"
#include "borescope/packs/chakra/link/host_trace.h"
#include "borescope/packs/chakra/link/link_plan.h"
#include "borescope/packs/chakra/reference/device_events.h"

namespace borescope::internal::chakra::compat {

// kMissingData where no operator of the two is the same.
Result<LinkPlan> LinkAsChakra(const HostTrace& host, DeviceTrace device);

}  // namespace borescope::internal::chakra::compat
