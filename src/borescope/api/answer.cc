#include "borescope/answer.h"

#include <algorithm>
#include <utility>

#include "borescope/api/access.h"
#include "borescope/output/writer.h"

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

Diagnostic PublicDiagnostic(const internal::DiagnosticRow& row) {
  return {row.code, PublicSeverity(row.severity), row.count, row.file, row.first, row.help};
}

FileInfo PublicFile(const internal::FileReport& file) {
  return {file.path,   file.rank,    file.file_bytes, file.text_bytes,
          file.events, file.skipped, file.error};
}

}  // namespace

struct Answer::Data {
  internal::Document document;
  std::vector<Diagnostic> diagnostics;
  std::vector<FileInfo> files;
};

Answer AnswerAccess::Make(internal::Answer answer) {
  auto data = std::make_shared<Answer::Data>();
  data->document = std::move(answer.document);
  std::transform(data->document.diagnostics.begin(), data->document.diagnostics.end(),
                 std::back_inserter(data->diagnostics), PublicDiagnostic);
  std::transform(answer.files.begin(), answer.files.end(), std::back_inserter(data->files),
                 PublicFile);
  Answer handle;
  handle.data_ = std::move(data);
  return handle;
}

std::vector<Table> Answer::tables() const {
  std::vector<Table> tables;
  tables.reserve(data_->document.tables.size());
  for (const internal::Table& table : data_->document.tables) {
    tables.push_back(TableAccess::Make({data_, &table}));
  }
  return tables;
}

bool Answer::Find(std::string_view name, Table* table) const {
  for (const internal::Table& each : data_->document.tables) {
    if (each.name == name) {
      *table = TableAccess::Make({data_, &each});
      return true;
    }
  }
  return false;
}

const std::vector<Diagnostic>& Answer::diagnostics() const { return data_->diagnostics; }
const std::vector<FileInfo>& Answer::files() const { return data_->files; }

Result<std::string> Answer::Render(std::string_view format, const RenderOptions& options) const {
  const internal::TableWriter* const writer = internal::FindTableWriter(format);
  if (writer == nullptr) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .message = "unknown format '" + std::string(format) + "'",
                 .hint = "Describe().writers lists the formats",
                 .parameter = "format"};
  }
  internal::StringSink sink;
  const internal::Result<void> written =
      writer->write(data_->document, {options.width, options.colour}, sink);
  if (!written.ok()) {
    return PublicError(written.error());
  }
  return sink.text();
}

}  // namespace borescope
