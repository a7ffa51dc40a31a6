#include "borescope/arrow/schema.h"

#include <string>
#include <utility>

#include "borescope/arrow/descendants.h"
#include "borescope/arrow/export.h"
#include "borescope/base/text/text.h"
#include "borescope/base/version.h"
#include "borescope/table/display/view.h"

namespace borescope::internal {

namespace {

// A byte that is not UTF-8 becomes as many.
constexpr uint64_t kLargestGrowth = kReplacementUtf8.size();

uint64_t BytesInTable(const StringValues& values) {
  uint64_t bytes = 0;
  for (const std::string& text : values.texts()) {
    bytes += text.size();
  }
  return bytes;
}

uint64_t BytesAsUtf8(const StringValues& values) {
  uint64_t bytes = 0;
  for (const std::string& text : values.texts()) {
    bytes += IsValidUtf8(text) ? text.size() : ToValidUtf8(text).size();
  }
  return bytes;
}

void AppendAsUtf8(std::string& bytes, const std::string& text) {
  IsValidUtf8(text) ? bytes.append(text) : bytes.append(ToValidUtf8(text));
}

}  // namespace

bool NeedsLargeOffsets(const StringValues& values, uint64_t utf8_bytes) {
  const uint64_t bytes = BytesInTable(values);
  if (bytes <= utf8_bytes / kLargestGrowth) {
    return false;  // nearly always, which spares looking at the texts
  }
  return bytes > utf8_bytes || BytesAsUtf8(values) > utf8_bytes;
}

DictionaryTexts::DictionaryTexts(const StringValues& values, bool large_offsets)
    : size_(static_cast<int64_t>(values.texts().size())) {
  if (large_offsets) {
    offsets_.emplace<std::vector<int64_t>>();
  }
  bytes_.reserve(BytesInTable(values));
  std::visit(
      [&](auto& offsets) {
        using Offset = typename std::decay_t<decltype(offsets)>::value_type;
        offsets.reserve(values.texts().size() + 1);
        offsets.push_back(0);
        for (const std::string& text : values.texts()) {
          AppendAsUtf8(bytes_, text);
          offsets.push_back(static_cast<Offset>(bytes_.size()));
        }
      },
      offsets_);
}

const void* DictionaryTexts::offsets() const {
  return std::visit([](const auto& offsets) -> const void* { return offsets.data(); }, offsets_);
}

namespace {

void AppendNumber(std::string& out, int32_t number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

void AppendText(std::string& out, std::string_view text) {
  AppendNumber(out, static_cast<int32_t>(text.size()));
  out += text;
}

}  // namespace

void Metadata::Add(std::string_view key, std::string_view value) {
  if (value.empty()) {
    return;
  }
  AppendText(encoded_, key);
  AppendText(encoded_, ToValidUtf8(value));
  ++pairs_;
}

std::string Metadata::Encode() const {
  std::string whole;
  if (pairs_ != 0) {
    AppendNumber(whole, pairs_);
    whole += encoded_;
  }
  return whole;
}

std::string EncodeFieldMetadata(const Column& column) {
  Metadata metadata;
  metadata.Add("borescope:title", column.name);
  metadata.Add("borescope:unit", UnitName(column.unit));
  metadata.Add("borescope:role", RoleName(column.role));
  metadata.Add("borescope:doc", column.doc);
  return metadata.Encode();
}

std::string EncodeTableMetadata(const Table& table) {
  Metadata metadata;
  metadata.Add("borescope:table", table.name);
  metadata.Add("borescope:title", table.title);
  metadata.Add("borescope:version", Version());
  return metadata.Encode();
}

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
