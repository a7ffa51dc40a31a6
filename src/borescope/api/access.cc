#include "borescope/api/access.h"

#include <algorithm>
#include <iterator>

#include "borescope/base/parallel.h"

namespace borescope {
namespace {

Severity PublicSeverity(internal::Severity severity) {
  switch (severity) {
    case internal::Severity::kInfo:
      return Severity::kInfo;
    case internal::Severity::kWarning:
      return Severity::kWarning;
    case internal::Severity::kError:
      return Severity::kError;
  }
  return Severity::kError;
}

CacheUse PublicUse(internal::StoreUse use) {
  switch (use) {
    case internal::StoreUse::kNone:
      return CacheUse::kNone;
    case internal::StoreUse::kFound:
      return CacheUse::kFound;
    case internal::StoreUse::kKept:
      return CacheUse::kKept;
    case internal::StoreUse::kFailed:
      return CacheUse::kFailed;
  }
  return CacheUse::kNone;
}

FileInfo PublicFile(const internal::FileReport& file) {
  FileInfo info{file.path,    file.rank,  file.file_bytes, file.text_bytes, file.events,
                file.skipped, file.error, file.load_ns,    file.index_ns,   file.analysis_ns};
  if (file.overlay.has_value()) {
    const internal::OverlayReport& drawn = *file.overlay;
    info.overlay = OverlayInfo{drawn.path,   drawn.counters, drawn.tracks,
                               drawn.arrows, drawn.marked,   drawn.keeps_damage};
  }
  info.saved = file.saved;
  info.cache = PublicUse(file.store.use);
  info.cache_failure = file.store.reason;
  return info;
}

}  // namespace

std::vector<Diagnostic> PublicDiagnostics(std::span<const internal::DiagnosticRow> rows) {
  std::vector<Diagnostic> diagnostics;
  diagnostics.reserve(rows.size());
  for (const internal::DiagnosticRow& row : rows) {
    diagnostics.push_back(
        {row.code, PublicSeverity(row.severity), row.count, row.file, row.first, row.help});
  }
  return diagnostics;
}

std::vector<FileInfo> PublicFiles(std::span<const internal::FileReport> files) {
  std::vector<FileInfo> infos;
  std::transform(files.begin(), files.end(), std::back_inserter(infos), PublicFile);
  return infos;
}

Result<const internal::TableWriter*> WriterOf(std::string_view format) {
  const internal::TableWriter* const writer = internal::FindTableWriter(format);
  if (writer == nullptr) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .cause = "unknown format '" + std::string(format) + "'",
                 .remedy = "Describe().writers lists the formats",
                 .parameter = "format"};
  }
  return writer;
}

int ThreadsOf(int threads) { return threads > 0 ? threads : internal::DefaultThreads(); }

std::function<void(uint64_t, uint64_t)> FileProgress(const ProgressCallback& progress) {
  if (!progress) {
    return {};
  }
  return [progress](uint64_t done, uint64_t total) { progress({done, total, 0, 1}); };
}

}  // namespace borescope
