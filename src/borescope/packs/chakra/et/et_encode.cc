#include <protozero/pbf_writer.hpp>

#include "borescope/packs/chakra/et/et_codec.h"
#include "borescope/packs/chakra/et/et_fields.h"

namespace borescope::internal {
namespace {

using protozero::pbf_writer;
using namespace et;  // NOLINT(google-build-using-namespace): numbers of fields only

bool IsText(EtScalar scalar) { return scalar == EtScalar::kString || scalar == EtScalar::kBytes; }

void AddText(pbf_writer& out, uint32_t field, std::string_view text) {
  if (!text.empty()) {
    out.add_string(field, text.data(), text.size());
  }
}

void AddNumber(pbf_writer& out, uint32_t field, uint64_t number) {
  if (number != 0) {
    out.add_uint64(field, number);
  }
}

void AddIds(pbf_writer& out, uint32_t field, const std::vector<uint64_t>& ids) {
  if (!ids.empty()) {
    out.add_packed_uint64(field, ids.begin(), ids.end());
  }
}

void AddScalar(pbf_writer& out, uint32_t field, const EtAttr& value) {
  switch (value.scalar()) {
    case EtScalar::kDouble:
    case EtScalar::kFixed64:
    case EtScalar::kSfixed64:
      return out.add_fixed64(field, value.bits);
    case EtScalar::kFloat:
    case EtScalar::kFixed32:
    case EtScalar::kSfixed32:
      return out.add_fixed32(field, static_cast<uint32_t>(value.bits));
    case EtScalar::kSint32:
    case EtScalar::kSint64:
      return out.add_sint64(field, static_cast<int64_t>(value.bits));
    case EtScalar::kString:
    case EtScalar::kBytes:
      return out.add_bytes(field, value.bytes.data(), value.bytes.size());
    default:
      return out.add_uint64(field, value.bits);
  }
}

void AddAttr(pbf_writer& out, uint32_t field, const EtAttr& attr) {
  pbf_writer message(out, field);
  AddText(message, attribute::kName, attr.name);
  AddText(message, attribute::kDoc, attr.doc);
  if (attr.is_list()) {
    message.add_message(attr.field, attr.bytes.data(), attr.bytes.size());
  } else if (attr.field != 0) {
    AddScalar(message, attr.field, attr);
  }
}

void AddIo(pbf_writer& out, uint32_t field, const EtIo& io) {
  if (!io.present) {
    return;
  }
  if (io.values.empty() && io.shapes.empty() && io.types.empty()) {
    return out.add_message(field, std::string());  // a nested writer takes back what stays empty
  }
  pbf_writer message(out, field);
  AddText(message, io_field::kValues, io.values);
  AddText(message, io_field::kShapes, io.shapes);
  AddText(message, io_field::kTypes, io.types);
}

}  // namespace

void AppendMetadata(const EtMetadata& metadata, std::string& out) {
  pbf_writer message(out);
  AddText(message, metadata_field::kVersion, metadata.version);
  for (const EtAttr& attr : metadata.attrs) {
    AddAttr(message, metadata_field::kAttr, attr);
  }
}

void AppendNode(const EtNode& node, std::string& out) {
  pbf_writer message(out);
  AddNumber(message, node_field::kId, node.id);
  AddText(message, node_field::kName, node.name);
  if (node.type != EtNodeType::kInvalid) {
    message.add_enum(node_field::kType, static_cast<int32_t>(node.type));
  }
  AddIds(message, node_field::kCtrlDeps, node.ctrl_deps);
  AddIds(message, node_field::kDataDeps, node.data_deps);
  AddNumber(message, node_field::kStart, node.start_us);
  AddNumber(message, node_field::kDuration, node.duration_us);
  AddIo(message, node_field::kInputs, node.inputs);
  AddIo(message, node_field::kOutputs, node.outputs);
  for (const EtAttr& attr : node.attrs) {
    AddAttr(message, node_field::kAttr, attr);
  }
}

std::string EncodeList(const std::vector<EtAttr>& values) {
  std::string out;
  pbf_writer message(out);
  if (values.empty()) {
    return out;
  }
  if (IsText(values.front().scalar())) {
    for (const EtAttr& value : values) {
      AddScalar(message, list::kValues, value);
    }
    return out;
  }
  // A field of its own, less its number, is what a packed list holds.
  std::string packed;
  for (const EtAttr& value : values) {
    std::string field;
    pbf_writer single(field);
    AddScalar(single, list::kValues, value);
    packed.append(field, 1);
  }
  message.add_bytes(list::kValues, packed);
  return out;
}

}  // namespace borescope::internal
