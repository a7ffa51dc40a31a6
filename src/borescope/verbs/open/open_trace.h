// `open`: makes ready what a browser is to show, for the server of serve/file_server.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "borescope/base/result.h"
#include "borescope/convert.h"
#include "borescope/output/html/html.h"
#include "borescope/serve.h"
#include "borescope/serve/file_server.h"

namespace borescope::internal {

struct ReadyTrace {
  ServedFile file;
  // Why Perfetto cannot have the input as it is ("Perfetto does not unpack zstd"), and how it
  // was converted; neither if it can.
  std::string why;
  std::optional<ConvertReport> converted;
};

// Uses the inputs, the window and steps, what to scrub, threads and progress of `options`. One file
// that Perfetto's page reads and shows as it was recorded is served as it is: Perfetto's own
// traces and, with kJson, undamaged Chrome JSON, plain or as one gzip stream. All else (JSON
// without kJson, databases, other compression, several inputs, a window, damage, what is to be
// scrubbed) is converted to that form, into a file below `folder`, which may go once this returns.
// Errors are those of convert.
Result<ReadyTrace> PrepareTrace(ConvertOptions options, const std::string& folder,
                                TraceForm form = TraceForm::kPerfetto);

// A page that is served from memory; it refers to `html`, which must outlive it.
Result<ServedFile> PreparePage(std::string_view html, std::string_view name);

// What the browser is to open: Perfetto's page, which then fetches the file from this machine at
// kPerfettoPort; or a served page itself.
std::string PerfettoAddress(const ServedFile& file);
std::string PageAddress(const ServedFile& file, uint16_t port);

}  // namespace borescope::internal
