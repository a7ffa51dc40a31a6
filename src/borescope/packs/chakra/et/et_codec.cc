#include "borescope/packs/chakra/et/et_codec.h"

#include <algorithm>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <utility>

namespace borescope::internal {

namespace {

// Field numbers of the messages of a Chakra execution trace. For those of values see EtValueField.

namespace attribute {
constexpr uint32_t kName = 1, kDoc = 2;
}
namespace list {
constexpr uint32_t kValues = 1;
}
namespace metadata_field {
constexpr uint32_t kVersion = 1, kAttr = 2;
}
namespace node_field {
constexpr uint32_t kId = 1, kName = 2, kType = 3, kCtrlDeps = 4, kDataDeps = 5, kStart = 6,
                   kDuration = 7, kInputs = 8, kOutputs = 9, kAttr = 10;
}
namespace io_field {
constexpr uint32_t kValues = 1, kShapes = 2, kTypes = 3;
}

constexpr std::string_view kNodeTypes[] = {"INVALID_NODE",   "METADATA_NODE", "MEM_LOAD_NODE",
                                           "MEM_STORE_NODE", "COMP_NODE",     "COMM_SEND_NODE",
                                           "COMM_RECV_NODE", "COMM_COLL_NODE"};

constexpr std::string_view kCollectives[] = {
    "ALL_REDUCE", "REDUCE",         "ALL_GATHER",           "GATHER", "SCATTER", "BROADCAST",
    "ALL_TO_ALL", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER"};

constexpr std::string_view kValueNames[] = {
    "double_val",  "double_list",  "float_val",    "float_list",    "int32_val",    "int32_list",
    "int64_val",   "int64_list",   "uint32_val",   "uint32_list",   "uint64_val",   "uint64_list",
    "sint32_val",  "sint32_list",  "sint64_val",   "sint64_list",   "fixed32_val",  "fixed32_list",
    "fixed64_val", "fixed64_list", "sfixed32_val", "sfixed32_list", "sfixed64_val", "sfixed64_list",
    "bool_val",    "bool_list",    "string_val",   "string_list",   "bytes_val",    "bytes_list"};
static_assert(std::size(kValueNames) == size_t{2} * kEtScalars);

template <size_t N>
std::string_view NameOf(const std::string_view (&names)[N], int64_t number) {
  return number >= 0 && number < static_cast<int64_t>(N) ? names[number] : std::string_view();
}

}  // namespace

std::string_view EtNodeTypeName(EtNodeType type) {
  return NameOf(kNodeTypes, static_cast<int64_t>(type));
}

std::string_view EtCollectiveName(EtCollective kind) {
  return NameOf(kCollectives, static_cast<int64_t>(kind));
}

std::string_view EtValueName(uint32_t field) { return kValueNames[field - kEtFirstValueField]; }

void EtMetadata::Clear() {
  version = {};
  attrs.clear();
  unknown_fields = 0;
}

void EtNode::Clear() {
  id = start_us = duration_us = unknown_fields = 0;
  name = {};
  type = EtNodeType::kInvalid;
  ctrl_deps.clear();
  data_deps.clear();
  inputs = outputs = {};
  attrs.clear();
}

const EtAttr* EtNode::Find(std::string_view attr) const {
  const auto found = std::find_if(attrs.begin(), attrs.end(),
                                  [&](const EtAttr& candidate) { return candidate.name == attr; });
  return found == attrs.end() ? nullptr : &*found;
}

namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

// The current field of a message, and the number of fields that could not be used.
struct FieldReader {
  pbf_reader& in;
  uint64_t& unknown;

  // Whether the current field has the wire type; if not, skips and counts it.
  bool Has(pbf_wire_type type) {
    if (in.wire_type() == type) {
      return true;
    }
    Skip();
    return false;
  }
  void Skip() {
    in.skip();
    unknown += 1;
  }
  void Text(std::string_view& text) {
    if (Has(pbf_wire_type::length_delimited)) {
      const protozero::data_view view = in.get_view();
      text = {view.data(), view.size()};
    }
  }
  void Number(uint64_t& number) {
    if (Has(pbf_wire_type::varint)) {
      number = in.get_uint64();
    }
  }
  // Numbers may be packed or separate: a reader must accept both.
  void Ids(std::vector<uint64_t>& ids) {
    if (in.wire_type() == pbf_wire_type::varint) {
      ids.push_back(in.get_uint64());
    } else if (Has(pbf_wire_type::length_delimited)) {
      for (const uint64_t id : in.get_packed_uint64()) {
        ids.push_back(id);
      }
    }
  }
};

pbf_reader ReaderOf(std::string_view bytes) { return {bytes.data(), bytes.size()}; }

pbf_wire_type WireTypeOf(EtScalar scalar) {
  switch (scalar) {
    case EtScalar::kDouble:
    case EtScalar::kFixed64:
    case EtScalar::kSfixed64:
      return pbf_wire_type::fixed64;
    case EtScalar::kFloat:
    case EtScalar::kFixed32:
    case EtScalar::kSfixed32:
      return pbf_wire_type::fixed32;
    case EtScalar::kString:
    case EtScalar::kBytes:
      return pbf_wire_type::length_delimited;
    default:
      return pbf_wire_type::varint;
  }
}

uint64_t SignExtend(uint64_t bits) {
  return static_cast<uint64_t>(int64_t{static_cast<int32_t>(static_cast<uint32_t>(bits))});
}

uint64_t VarintBits(EtScalar scalar, uint64_t raw) {
  switch (scalar) {
    case EtScalar::kInt32:
      return SignExtend(raw);
    case EtScalar::kUint32:
      return static_cast<uint32_t>(raw);
    case EtScalar::kSint32:
      return SignExtend(static_cast<uint64_t>(protozero::decode_zigzag64(raw)));
    case EtScalar::kSint64:
      return static_cast<uint64_t>(protozero::decode_zigzag64(raw));
    case EtScalar::kBool:
      return raw != 0 ? 1 : 0;
    default:
      return raw;
  }
}

// REQUIRES: the current field has the wire type of `value`.
void ReadScalar(pbf_reader& in, EtAttr& value) {
  switch (in.wire_type()) {
    case pbf_wire_type::fixed64:
      value.bits = in.get_fixed64();
      return;
    case pbf_wire_type::fixed32:
      value.bits = in.get_fixed32();
      return;
    case pbf_wire_type::varint:
      value.bits = VarintBits(value.scalar(), in.get_uint64());
      return;
    default: {
      const protozero::data_view view = in.get_view();
      value.bytes = {view.data(), view.size()};
    }
  }
}

void ReadValue(FieldReader reader, EtAttr& attr) {
  EtAttr value{attr.name, attr.doc, reader.in.tag(), 0, {}};
  const pbf_wire_type type =
      value.is_list() ? pbf_wire_type::length_delimited : WireTypeOf(value.scalar());
  if (!reader.Has(type)) {
    return;
  }
  ReadScalar(reader.in, value);
  attr = value;
}

EtAttr ReadAttr(std::string_view bytes, uint64_t& unknown) {
  EtAttr attr;
  pbf_reader in = ReaderOf(bytes);
  FieldReader reader{in, unknown};
  while (in.next()) {
    if (in.tag() == attribute::kName) {
      reader.Text(attr.name);
    } else if (in.tag() == attribute::kDoc) {
      reader.Text(attr.doc);
    } else if (in.tag() >= kEtFirstValueField && in.tag() <= kEtLastValueField) {
      ReadValue(reader, attr);
    } else {
      reader.Skip();
    }
  }
  return attr;
}

void ReadAttrInto(FieldReader reader, std::vector<EtAttr>& attrs) {
  if (reader.Has(pbf_wire_type::length_delimited)) {
    const protozero::data_view view = reader.in.get_view();
    attrs.push_back(ReadAttr({view.data(), view.size()}, reader.unknown));
  }
}

void ReadIo(FieldReader outer, EtIo& io) {
  if (!outer.Has(pbf_wire_type::length_delimited)) {
    return;
  }
  io.present = true;
  pbf_reader in(outer.in.get_view());
  FieldReader reader{in, outer.unknown};
  while (in.next()) {
    switch (in.tag()) {
      case io_field::kValues:
        reader.Text(io.values);
        break;
      case io_field::kShapes:
        reader.Text(io.shapes);
        break;
      case io_field::kTypes:
        reader.Text(io.types);
        break;
      default:
        reader.Skip();
    }
  }
}

void ReadType(FieldReader reader, EtNodeType& type) {
  uint64_t number = static_cast<uint64_t>(type);
  reader.Number(number);
  type = static_cast<EtNodeType>(static_cast<int32_t>(static_cast<uint32_t>(number)));
}

void ReadNodeField(FieldReader reader, EtNode& node) {
  switch (reader.in.tag()) {
    case node_field::kId:
      return reader.Number(node.id);
    case node_field::kName:
      return reader.Text(node.name);
    case node_field::kType:
      return ReadType(reader, node.type);
    case node_field::kCtrlDeps:
      return reader.Ids(node.ctrl_deps);
    case node_field::kDataDeps:
      return reader.Ids(node.data_deps);
    case node_field::kStart:
      return reader.Number(node.start_us);
    case node_field::kDuration:
      return reader.Number(node.duration_us);
    case node_field::kInputs:
      return ReadIo(reader, node.inputs);
    case node_field::kOutputs:
      return ReadIo(reader, node.outputs);
    case node_field::kAttr:
      return ReadAttrInto(reader, node.attrs);
    default:
      return reader.Skip();
  }
}

void ReadMetadataField(FieldReader reader, EtMetadata& metadata) {
  if (reader.in.tag() == metadata_field::kVersion) {
    reader.Text(metadata.version);
  } else if (reader.in.tag() == metadata_field::kAttr) {
    ReadAttrInto(reader, metadata.attrs);
  } else {
    reader.Skip();
  }
}

std::string_view CauseOf(const protozero::exception& failure) {
  if (dynamic_cast<const protozero::end_of_buffer_exception*>(&failure) != nullptr) {
    return "a field ends early";
  }
  if (dynamic_cast<const protozero::varint_too_long_exception*>(&failure) != nullptr) {
    return "a number is longer than ten bytes";
  }
  if (dynamic_cast<const protozero::invalid_length_exception*>(&failure) != nullptr) {
    return "a list of numbers has an impossible length";
  }
  return "these bytes are not a field";
}

// protozero throws exceptions for bytes that are not a message; they do not leave this file.
template <class Read>
Result<void> Guarded(Read&& read) {
  try {
    std::forward<Read>(read)();
  } catch (const protozero::exception& failure) {
    return Error{ErrorCode::kCorrupt, std::string(CauseOf(failure))};
  }
  return {};
}

// Numbers of a list, one after the other without field numbers.
std::vector<EtAttr> ReadPacked(std::string_view bytes, const EtAttr& like) {
  std::vector<EtAttr> values;
  const char* next = bytes.data();
  const char* const end = next + bytes.size();
  const pbf_wire_type type = WireTypeOf(like.scalar());
  const size_t width = type == pbf_wire_type::fixed64 ? 8 : 4;
  while (next != end) {
    EtAttr value = like;
    if (type == pbf_wire_type::varint) {
      value.bits = VarintBits(like.scalar(), protozero::decode_varint(&next, end));
    } else {
      if (static_cast<size_t>(end - next) < width) {
        throw protozero::invalid_length_exception{};
      }
      value.bits = 0;
      for (size_t i = 0; i < width; ++i) {
        value.bits |= uint64_t{static_cast<unsigned char>(next[i])} << (8 * i);
      }
      next += width;
    }
    values.push_back(value);
  }
  return values;
}

void ReadListField(pbf_reader& in, const EtAttr& like, std::vector<EtAttr>& values) {
  EtAttr value = like;
  if (in.wire_type() == WireTypeOf(like.scalar())) {
    ReadScalar(in, value);
    values.push_back(value);
  } else if (in.wire_type() == pbf_wire_type::length_delimited) {
    const protozero::data_view view = in.get_view();
    const std::vector<EtAttr> packed = ReadPacked({view.data(), view.size()}, like);
    values.insert(values.end(), packed.begin(), packed.end());
  } else {
    in.skip();
  }
}

}  // namespace

Result<void> DecodeMetadata(std::string_view bytes, EtMetadata& metadata) {
  metadata.Clear();
  return Guarded([&] {
    pbf_reader in = ReaderOf(bytes);
    while (in.next()) {
      ReadMetadataField({in, metadata.unknown_fields}, metadata);
    }
  });
}

Result<void> DecodeNode(std::string_view bytes, EtNode& node) {
  node.Clear();
  return Guarded([&] {
    pbf_reader in = ReaderOf(bytes);
    while (in.next()) {
      ReadNodeField({in, node.unknown_fields}, node);
    }
  });
}

Result<std::vector<EtAttr>> DecodeList(const EtAttr& attr) {
  const EtAttr like{{}, {}, EtValueField(attr.scalar()), 0, {}};
  std::vector<EtAttr> values;
  BS_TRY(Guarded([&] {
    pbf_reader in = ReaderOf(attr.bytes);
    while (in.next()) {
      if (in.tag() == list::kValues) {
        ReadListField(in, like, values);
      } else {
        in.skip();
      }
    }
  }));
  return values;
}

namespace {

using protozero::pbf_writer;

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
    return out.add_message(field, std::string());  // a nested writer would remove an empty message
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
  // The content of a packed list is a field without its number.
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
