#include "borescope/output/document.h"

#include <fmt/format.h>

namespace borescope::internal {

void AppendDiagnostics(const Diagnostics& diagnostics, const std::string& file,
                       std::vector<Diagnostic>& rows) {
  for (size_t i = 0; i < static_cast<size_t>(Diag::kCount); ++i) {
    const DiagRow& row = GetDiagRow(static_cast<Diag>(i));
    const Diagnostics::Entry& entry = diagnostics.Get(row.id);
    if (entry.count == 0) {
      continue;
    }
    std::string first = entry.first;
    if (entry.first_byte != Diagnostics::kNoByte) {
      const std::string_view gap = first.empty() ? "" : ": ";
      first.insert(0, fmt::format("byte {}{}", entry.first_byte, gap));
    }
    rows.push_back(
        {row.severity, std::string(row.code), entry.count, file, first, std::string(row.help)});
  }
}

}  // namespace borescope::internal
