#include "borescope/answer.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "borescope/engine/access.h"
#include "borescope/output/read_json.h"
#include "borescope/output/writer.h"
#include "borescope/table/table_ops.h"

namespace borescope {
namespace {

internal::WriteOptions Inside(const RenderOptions& options) {
  return {options.width, options.colour, options.printable, options.guard_formulas};
}

internal::Table Inside(const ListedTable& given) {
  internal::Table table{given.name, given.title, {}};
  table.columns.reserve(given.columns.size());
  for (const ListedColumn& texts : given.columns) {
    internal::Column& column = internal::AddString(
        table, texts.name, texts.is_key ? internal::Role::kKey : internal::Role::kDerived,
        texts.doc);
    for (const std::string& cell : texts.cells) {
      internal::Push(column, cell);
    }
  }
  return table;
}

// `count` rows from `begin` on, fewer where the table ends before.
internal::Table Window(const internal::Table& table, size_t begin, size_t count) {
  const size_t first = std::min(begin, table.rows());
  const size_t rows = std::min(count, table.rows() - first);
  if (rows == table.rows()) {
    return table;
  }
  if (first == 0) {
    return internal::Head(table, rows);
  }
  std::vector<uint32_t> taken(rows);
  std::iota(taken.begin(), taken.end(), static_cast<uint32_t>(first));
  return internal::TakeRows(table, taken);
}

}  // namespace

struct Answer::Data {
  internal::AnswerData answer;
};

Answer AnswerAccess::Make(internal::AnswerData answer) {
  Answer handle;
  handle.data_ = std::make_shared<const Answer::Data>(Answer::Data{std::move(answer)});
  return handle;
}

Answer AnswerAccess::Make(internal::Document document) {
  return Make(internal::AnswerData{std::move(document), {}});
}

Result<Answer> AnswerWith(Result<internal::Document> document) {
  BS_ASSIGN(internal::Document answered, std::move(document));
  return AnswerAccess::Make(std::move(answered));
}

const internal::Document& AnswerAccess::Inside(const Answer& answer) {
  return answer.data_->answer.document;
}

Answer Answer::OfTexts(std::span<const ListedTable> tables) {
  internal::Document document;
  for (const ListedTable& table : tables) {
    document.tables.push_back(Inside(table));
  }
  return AnswerAccess::Make(std::move(document));
}

std::vector<Table> Answer::tables() const {
  std::vector<Table> tables;
  tables.reserve(data_->answer.document.tables.size());
  for (const internal::Table& table : data_->answer.document.tables) {
    tables.push_back(TableAccess::Make({data_, &table}));
  }
  return tables;
}

bool Answer::Find(std::string_view name, Table* table) const {
  for (const internal::Table& each : data_->answer.document.tables) {
    if (each.name == name) {
      *table = TableAccess::Make({data_, &each});
      return true;
    }
  }
  return false;
}

Answer Answer::Only(std::string_view name, size_t begin, size_t count) const {
  const internal::Document& all = data_->answer.document;
  internal::AnswerData part{{{}, all.diagnostics, all.lines, all.views, all.source, all.begins},
                            data_->answer.files};
  for (const internal::Table& table : all.tables) {
    if (table.name == name) {
      part.document.tables.push_back(Window(table, begin, count));
    }
  }
  return AnswerAccess::Make(std::move(part));
}

const std::vector<Diagnostic>& Answer::diagnostics() const {
  return data_->answer.document.diagnostics;
}
const std::vector<FileInfo>& Answer::files() const { return data_->answer.files; }

Result<Answer> Answer::ParseJson(std::string_view json) {
  return AnswerWith(internal::ReadJson(json));
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

Result<std::string> Answer::Render(std::string_view format, const RenderOptions& options) const {
  std::string text;
  const Output output = Output::To([&](std::string_view bytes) -> Result<void> {
    text += bytes;
    return {};
  });
  const Result<std::vector<std::string>> written = Write(format, output, options);
  return written.ok() ? Result<std::string>(std::move(text)) : written.error();
}

Result<std::vector<std::string>> Answer::Write(std::string_view format, const Output& output,
                                               const RenderOptions& options) const {
  const Result<const internal::TableWriter*> writer = WriterOf(format);
  if (!writer.ok()) {
    return writer.error();
  }
  if (!output.write) {
    return internal::WriteFiles(**writer, data_->answer.document, Inside(options), output.path);
  }
  const Result<void> written = WriteTo(output, [&](internal::Sink& sink) {
    return (*writer)->write(data_->answer.document, Inside(options), sink);
  });
  return written.ok() ? Result<std::vector<std::string>>(std::vector<std::string>())
                      : written.error();
}

std::vector<std::string> Answer::OutputPaths(std::string_view format,
                                             const std::string& path) const {
  const internal::TableWriter* const writer = internal::FindTableWriter(format);
  return writer == nullptr ? std::vector<std::string>()
                           : internal::OutputPaths(*writer, data_->answer.document, path);
}

bool Answer::CarriesDiagnostics(std::string_view format) const {
  const internal::TableWriter* const writer = internal::FindTableWriter(format);
  return writer != nullptr && internal::CarriesDiagnostics(*writer, data_->answer.document);
}

std::string RenderDiagnostics(std::span<const Diagnostic> diagnostics,
                              const RenderOptions& options) {
  internal::StringSink sink;
  static_cast<void>(internal::WriteQuality(diagnostics, Inside(options), sink));
  return sink.text();
}

}  // namespace borescope
