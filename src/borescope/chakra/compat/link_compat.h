// Links as Chakra's trace_link does, with its rules, rounding and oversights, so that the linked
// trace has the same bytes. What ends that tool with an error does not end this: docs/chakra.md.
#pragma once

#include "borescope/base/result.h"
#include "borescope/chakra/compat/device_events.h"
#include "borescope/chakra/host_trace.h"
#include "borescope/chakra/link_plan.h"

namespace borescope::chakra::compat {

// kMissingData where no operator of the two is the same.
Result<LinkPlan> LinkAsChakra(const HostTrace& host, DeviceTrace device);

}  // namespace borescope::chakra::compat
