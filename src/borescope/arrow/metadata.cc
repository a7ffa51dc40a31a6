#include "borescope/arrow/metadata.h"

#include "borescope/base/text/utf8.h"
#include "borescope/base/version.h"
#include "borescope/table/display/unit_and_role_names.h"

namespace borescope::internal {
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

}  // namespace borescope::internal
