// Writes the linked trace: the document of the host trace with new ids, times and the device work
// that its nodes launched.
#pragma once

#include "borescope/base/result.h"
#include "borescope/output/sink/sink.h"
#include "borescope/packs/chakra/json/python_json.h"
#include "borescope/packs/chakra/link/host_trace.h"
#include "borescope/packs/chakra/link/link.h"

namespace borescope::internal::chakra {

// Files are kIndented, as the reference writes them; kCompact is for readers in this process.
// kCorrupt, with the byte, if text of the host trace is not JSON; else errors of the sink.
Result<void> WriteLinked(const HostTrace& host, const LinkPlan& plan, JsonForm form, Sink& sink);

}  // namespace borescope::internal::chakra
