// Writes the linked trace: the document of the host trace with new ids, times and the device work
// that its nodes launched.
#pragma once

#include "borescope/base/result.h"
#include "borescope/chakra/host_trace.h"
#include "borescope/chakra/link_plan.h"
#include "borescope/chakra/python_json.h"
#include "borescope/output/sink.h"

namespace borescope::chakra {

// Files are kIndented, as the reference writes them; kCompact is for readers in this process.
// kCorrupt, with the byte, where text of the host trace is no JSON; else failures of the sink.
Result<void> WriteLinked(const HostTrace& host, const LinkPlan& plan, JsonForm form, Sink& sink);

}  // namespace borescope::chakra
