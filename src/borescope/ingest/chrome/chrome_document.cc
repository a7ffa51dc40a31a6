#include "borescope/ingest/chrome/chrome_document.h"

#include <utility>

#include "borescope/ingest/kineto/kineto_document.h"

namespace borescope::internal {

Result<Trace> LoadChromeDocument(TextReader& reader, const std::string& name,
                                 const LoadOptions& options, ChromeRows& rows,
                                 const std::function<void(Meta& meta)>& understand) {
  TraceBuilder builder;
  DocumentReader document(reader, builder, options, rows);
  document.Read();
  if (reader.error().has_value()) {
    return InFile(name, *reader.error());
  }
  if (!document.members().has_events) {
    return Error{ErrorCode::kCorrupt, "no events could be read", "copy the file again", name};
  }
  if (!reader.damage().empty()) {
    builder.diagnostics().Count(Diag::kTruncatedGzip, reader.byte(), reader.damage());
  }
  Meta meta = std::move(document.members().meta);
  understand(meta);
  meta.file = name;
  meta.text_bytes = reader.byte();
  meta.file_bytes = reader.stored_bytes();
  // Events can be added to texts of Kineto's form alone.
  meta.events_begin_byte = 0;
  meta.events_end_byte = 0;
  builder.Append(std::move(rows.part()));
  return builder.Finish(std::move(meta), 0, options.threads);
}

}  // namespace borescope::internal
