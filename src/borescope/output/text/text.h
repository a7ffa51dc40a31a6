// Tables as lines for scripts, in the styles of tools that print them so (LineForm of
// table/display/view.h).
#pragma once

#include "borescope/output/sink/sink.h"
#include "borescope/output/writer.h"

namespace borescope::internal {

// Values as in csv; missing ones are "-". Columns without a width, of kFixed, have that of their
// widest value. REQUIRES: style.form is not kNone.
Result<void> WriteLines(const Table& table, const LineStyle& style, Sink& sink);

}  // namespace borescope::internal
