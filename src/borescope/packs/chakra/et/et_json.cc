#include "borescope/packs/chakra/et/et_json.h"

#include <bit>

#include "borescope/base/text/base64.h"
#include "borescope/output/json_writer.h"
#include "borescope/packs/chakra/et/et_codec.h"
#include "borescope/packs/chakra/et/et_stream.h"

namespace borescope::internal {
namespace {

class EtJson {
 public:
  explicit EtJson(Sink& sink) : out_(sink) {}

  Result<void> Write(std::string_view et) {
    EtReader reader(et);
    EtMetadata metadata;
    BS_ASSIGN(const bool has_metadata, reader.Next(metadata));
    if (!has_metadata) {
      return Error{ErrorCode::kCorrupt, "the file is empty", "a .et begins with its metadata"};
    }
    out_.BeginObject();
    out_.Key("metadata");
    BS_TRY(PutMetadata(metadata));
    out_.Key("nodes");
    out_.BeginArray();
    EtNode node;
    for (;;) {
      BS_ASSIGN(const bool is_node, reader.Next(node));
      if (!is_node) {
        break;
      }
      out_.BreakLine(0);
      BS_TRY(PutNode(node));
    }
    out_.BreakLine(0);
    out_.EndArray();
    out_.EndObject();
    return out_.Finish();
  }

 private:
  Result<void> PutMetadata(const EtMetadata& metadata) {
    out_.BeginObject();
    PutText("version", metadata.version);
    BS_TRY(PutAttrs(metadata.attrs));
    PutUnknown(metadata.unknown_fields);
    out_.EndObject();
    return {};
  }

  Result<void> PutNode(const EtNode& node) {
    out_.BeginObject();
    out_.Key("id");
    out_.Uint(node.id);
    PutText("name", node.name);
    out_.Key("type");
    const std::string_view type = EtNodeTypeName(node.type);
    type.empty() ? out_.Int(static_cast<int64_t>(node.type)) : out_.String(type);
    PutIds("ctrl_deps", node.ctrl_deps);
    PutIds("data_deps", node.data_deps);
    PutNumber("start_time_micros", node.start_us);
    PutNumber("duration_micros", node.duration_us);
    PutIo("inputs", node.inputs);
    PutIo("outputs", node.outputs);
    BS_TRY(PutAttrs(node.attrs));
    PutUnknown(node.unknown_fields);
    out_.EndObject();
    return {};
  }

  void PutText(std::string_view key, std::string_view text) {
    out_.Key(key);
    out_.String(text);
  }

  void PutNumber(std::string_view key, uint64_t number) {
    if (number != 0) {
      out_.Key(key);
      out_.Uint(number);
    }
  }

  void PutIds(std::string_view key, const std::vector<uint64_t>& ids) {
    if (ids.empty()) {
      return;
    }
    out_.Key(key);
    out_.BeginArray();
    for (const uint64_t id : ids) {
      out_.Uint(id);
    }
    out_.EndArray();
  }

  void PutIo(std::string_view key, const EtIo& io) {
    if (!io.present) {
      return;
    }
    out_.Key(key);
    out_.BeginObject();
    PutText("values", io.values);
    PutText("shapes", io.shapes);
    PutText("types", io.types);
    out_.EndObject();
  }

  void PutUnknown(uint64_t fields) { PutNumber("unknown_fields", fields); }

  Result<void> PutAttrs(const std::vector<EtAttr>& attrs) {
    out_.Key("attr");
    out_.BeginArray();
    for (const EtAttr& attr : attrs) {
      BS_TRY(PutAttr(attr));
    }
    out_.EndArray();
    return {};
  }

  Result<void> PutAttr(const EtAttr& attr) {
    out_.BeginObject();
    PutText("name", attr.name);
    if (!attr.doc.empty()) {
      PutText("doc_string", attr.doc);
    }
    if (attr.is_list()) {
      out_.Key(EtValueName(attr.field));
      BS_ASSIGN(const std::vector<EtAttr> values, DecodeList(attr));
      out_.BeginArray();
      for (const EtAttr& value : values) {
        PutScalar(value);
      }
      out_.EndArray();
    } else if (attr.field != 0) {
      out_.Key(EtValueName(attr.field));
      PutScalar(attr);
    }
    out_.EndObject();
    return {};
  }

  void PutScalar(const EtAttr& value) {
    switch (value.scalar()) {
      case EtScalar::kDouble:
        return out_.Double(std::bit_cast<double>(value.bits));
      case EtScalar::kFloat:
        return out_.Double(std::bit_cast<float>(static_cast<uint32_t>(value.bits)));
      case EtScalar::kUint32:
      case EtScalar::kUint64:
      case EtScalar::kFixed32:
      case EtScalar::kFixed64:
        return out_.Uint(value.bits);
      case EtScalar::kSfixed32:
        return out_.Int(static_cast<int32_t>(static_cast<uint32_t>(value.bits)));
      case EtScalar::kBool:
        return out_.Bool(value.bits != 0);
      case EtScalar::kString:
        return out_.String(value.bytes);
      case EtScalar::kBytes:
        return out_.String(Base64(value.bytes));
      default:
        return out_.Int(static_cast<int64_t>(value.bits));
    }
  }

  JsonWriter out_;
};

}  // namespace

Result<void> WriteEtJson(std::string_view et, Sink& sink) { return EtJson(sink).Write(et); }

}  // namespace borescope::internal
