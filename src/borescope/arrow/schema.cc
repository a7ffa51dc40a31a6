#include <string>
#include <utility>

#include "borescope/arrow/descendants.h"
#include "borescope/arrow/dictionary_texts.h"
#include "borescope/arrow/export.h"
#include "borescope/arrow/metadata.h"
#include "borescope/base/text/utf8.h"

namespace borescope::internal {
namespace {

// What a schema points to. Formats are literals and need no keeping.
struct SchemaData {
  std::string name;
  std::string metadata;
  Descendants<ArrowSchema> descendants;
};

// Signed: pyarrow 15 takes unsigned ones, but makes no pandas table of them. The numbers of texts
// are below 2^31 (CheckShape), hence the same in the unsigned type of the table.
constexpr const char* kTextNumberFormat = "i";

// The schema of `data`. Nothing can fail any more.
ArrowSchema Publish(std::unique_ptr<SchemaData> data, const char* format, int64_t flags) noexcept {
  ArrowSchema schema{};
  schema.format = format;
  schema.name = data->name.c_str();
  schema.metadata = data->metadata.empty() ? nullptr : data->metadata.data();
  schema.flags = flags;
  data->descendants.Attach(schema);
  schema.release = ReleaseWithData<ArrowSchema, SchemaData>;
  schema.private_data = data.release();
  return schema;
}

const char* CellFormat(const Column& column) {
  constexpr const char* kFormats[] = {"l", "g", kTextNumberFormat, "b"};
  return kFormats[column.values.index()];
}

ArrowSchema MakeTextsSchema(const StringValues& values, const ExportLimits& limits) {
  const bool large = NeedsLargeOffsets(values, limits.utf8_bytes);
  return Publish(std::make_unique<SchemaData>(), large ? "U" : "u", ARROW_FLAG_NULLABLE);
}

// Every column may have nulls: tables of one kind have the same schema, whatever is missing.
ArrowSchema MakeColumnSchema(const Column& column, const ExportLimits& limits) {
  auto data = std::make_unique<SchemaData>();
  data->name = ToValidUtf8(column.name);
  data->metadata = EncodeFieldMetadata(column);
  if (const auto* texts = std::get_if<StringValues>(&column.values)) {
    data->descendants.dictionary() = MakeTextsSchema(*texts, limits);
  }
  return Publish(std::move(data), CellFormat(column), ARROW_FLAG_NULLABLE);
}

}  // namespace

void ExportSchema(const Table& table, ArrowSchema* out, const ExportLimits& limits) {
  auto data = std::make_unique<SchemaData>();
  data->metadata = EncodeTableMetadata(table);
  data->descendants.Resize(table.columns.size());
  for (size_t i = 0; i < table.columns.size(); ++i) {
    data->descendants.child(i) = MakeColumnSchema(table.columns[i], limits);
  }
  *out = Publish(std::move(data), "+s", 0);
}

}  // namespace borescope::internal
