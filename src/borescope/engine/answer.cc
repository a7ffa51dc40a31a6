#include "borescope/answer.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <variant>

#include "borescope/arrow/export.h"
#include "borescope/base/check.h"
#include "borescope/base/io/foreign_links.h"
#include "borescope/base/io/temporary_folder.h"
#include "borescope/base/text/text.h"
#include "borescope/base/version.h"
#include "borescope/engine/access.h"
#include "borescope/engine/question/question.h"
#include "borescope/engine/targets/targets.h"
#include "borescope/output.h"
#include "borescope/output/read_json.h"
#include "borescope/output/sink/sink.h"
#include "borescope/output/units/units.h"
#include "borescope/output/utf8.h"
#include "borescope/output/writer.h"
#include "borescope/table.h"
#include "borescope/table/display/view.h"
#include "borescope/table/table.h"
#include "borescope/table/table_ops.h"
#include "borescope/text.h"
#include "borescope/version.h"

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
  // One after the other: where a copy fails within braces, GCC 12 destroys those before it twice.
  internal::AnswerData part;
  part.document.diagnostics = all.diagnostics;
  part.document.lines = all.lines;
  part.document.views = all.views;
  part.document.source = all.source;
  part.document.begins = all.begins;
  part.files = data_->answer.files;
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

namespace {

// Hands bytes to a function of the caller's.
class FunctionSink : public internal::Sink {
 public:
  explicit FunctionSink(const WriteBytes& write) : write_(write) {}

  Result<void> Write(std::string_view bytes) override {
    const Result<void> written = write_(bytes);
    return written.ok() ? Result<void>() : written.error();
  }

 private:
  const WriteBytes& write_;
};

}  // namespace

Result<void> WriteTo(const Output& output,
                     const std::function<Result<void>(internal::Sink&)>& write) {
  if (!output.write) {
    return internal::WriteFile(output.path, write);
  }
  FunctionSink sink(output.write);
  return write(sink);
}

Result<void> DescriptorWriter::Write(std::string_view bytes) {
  internal::DescriptorSink sink(descriptor_, name_);
  const Result<void> written = sink.Write(bytes);
  reader_is_gone_ = sink.reader_is_gone();
  return written;
}

Result<void> DescriptorWriter::Finish() {
  return internal::DescriptorSink(descriptor_, name_).Finish();
}

void UndoUnfinished() { internal::UndoUnfinished(); }

Result<void> CheckNoForeignLink(const std::string& path) {
  return internal::CheckNoForeignLink(path);
}

Result<void> CheckOutput(const std::string& path, std::span<const std::string> inputs) {
  if (path.empty()) {
    return {};
  }
  const Result<std::vector<std::string>> behind = internal::PathsBehind(inputs);
  return behind.ok() ? internal::CheckNoInput(*behind, path, "`output`")
                     : Result<void>(behind.error());
}

struct Table::Data {
  std::shared_ptr<const internal::Table> table;
};

struct Column::Data {
  std::shared_ptr<const internal::Table> table;  // keeps the column alive
  const internal::Column* column = nullptr;
};

Table TableAccess::Make(std::shared_ptr<const internal::Table> table) {
  Table handle;
  handle.data_ = std::make_shared<const Table::Data>(Table::Data{std::move(table)});
  return handle;
}

std::string_view Table::name() const { return data_->table->name; }
std::string_view Table::title() const { return data_->table->title; }
size_t Table::num_rows() const { return data_->table->rows(); }
size_t Table::num_columns() const { return data_->table->columns.size(); }

Column Table::column(size_t index) const {
  BS_CHECK(index < num_columns());
  Column handle;
  handle.data_ = std::make_shared<const Column::Data>(
      Column::Data{data_->table, &data_->table->columns[index]});
  return handle;
}

bool Table::Find(std::string_view name, Column* column) const {
  for (size_t i = 0; i < num_columns(); ++i) {
    if (data_->table->columns[i].name == name) {
      *column = this->column(i);
      return true;
    }
  }
  return false;
}

void Table::ExportArrow(ArrowArrayStream* out) const { internal::ExportTable(data_->table, out); }
void Table::ExportSchema(ArrowSchema* out) const { internal::ExportSchema(*data_->table, out); }

std::string_view Column::name() const { return data_->column->name; }
std::string_view Column::unit() const { return internal::UnitName(data_->column->unit); }
std::string_view Column::role() const { return internal::RoleName(data_->column->role); }
std::string_view Column::doc() const { return data_->column->doc; }
size_t Column::size() const { return data_->column->size(); }
bool Column::IsMissing(size_t row) const { return data_->column->IsMissing(row); }

ColumnType Column::type() const {
  constexpr ColumnType kTypes[] = {ColumnType::kInt, ColumnType::kFloat, ColumnType::kText,
                                   ColumnType::kBool};
  static_assert(std::variant_size_v<decltype(internal::Column::values)> == std::size(kTypes));
  return kTypes[data_->column->values.index()];
}

int64_t Column::Int(size_t row) const {
  return std::get<internal::IntValues>(data_->column->values)[row];
}

double Column::Float(size_t row) const {
  return std::get<internal::FloatValues>(data_->column->values)[row];
}

std::string_view Column::Text(size_t row) const {
  return std::get<internal::StringValues>(data_->column->values)[row];
}

bool Column::Bool(size_t row) const {
  return std::get<internal::BoolValues>(data_->column->values)[row] != 0;
}

std::span<const int64_t> Column::Ints() const {
  return std::get<internal::IntValues>(data_->column->values);
}

std::span<const double> Column::Floats() const {
  return std::get<internal::FloatValues>(data_->column->values);
}

std::string_view Version() { return internal::Version(); }

std::string GroupDigits(int64_t value) { return internal::GroupDigits(value); }

std::string FormatBytes(uint64_t bytes) { return internal::FormatBytes(bytes); }

std::string ToPrintable(std::string_view text) { return internal::ToPrintable(text); }

std::string ToPrintableLines(std::string_view lines) { return internal::ToPrintableLines(lines); }

std::vector<std::string> WrapText(std::string_view text, size_t width) {
  return internal::WrapText(text, width);
}

std::vector<std::string> SplitList(std::string_view text) { return internal::SplitList(text); }

std::string_view Nearest(std::string_view word, std::span<const std::string_view> candidates) {
  return internal::Nearest(word, candidates);
}

}  // namespace borescope
