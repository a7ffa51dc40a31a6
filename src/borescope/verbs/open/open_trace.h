// `open`: makes ready what a browser is to show, for the server of serve/file_server.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "borescope/base/result.h"
#include "borescope/output/html/html.h"
#include "borescope/serve/file_server.h"
#include "borescope/verbs/convert/convert_run.h"

namespace borescope::internal {

// The one port of this machine from which Perfetto's page may read: its content security policy
// says so.
inline constexpr uint16_t kPerfettoPort = 9001;

struct ReadyTrace {
  ServedFile file;
  // Why Perfetto cannot have the input as it is ("Perfetto does not unpack zstd"), and what became
  // of it; neither where it can.
  std::string why;
  std::optional<ConvertReport> converted;
};

// Of `options` it takes the inputs, the window, what to scrub, threads and progress. One file that
// Perfetto's page reads and shows as it was recorded is served as it is: undamaged Chrome JSON,
// plain or as one gzip stream, and Perfetto's own traces. All else (databases, other compression,
// several inputs, a window, damage, what is to be scrubbed) is converted into a file below
// `folder`, which may go once this returns. Errors are those of convert.
Result<ReadyTrace> PrepareTrace(ConvertOptions options, const std::string& folder);

// A page that is served from memory; it refers to `html`, which must outlive it.
Result<ServedFile> PreparePage(std::string_view html, std::string_view name);

// What the browser is to open: Perfetto's page, which then fetches the file from this machine at
// kPerfettoPort; or a served page itself.
std::string PerfettoAddress(const ServedFile& file);
std::string PageAddress(const ServedFile& file, uint16_t port);

}  // namespace borescope::internal
