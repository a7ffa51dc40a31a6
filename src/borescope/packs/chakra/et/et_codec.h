// The messages of a Chakra execution trace as protobuf bytes, reading and writing. Written bytes
// are those of proto3: fields ascending, numbers packed, defaults left out, members of a oneof
// always there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"

namespace borescope::internal {

// The content of a Chakra execution trace (.et): one GlobalMetadata, then Nodes. Field numbers are
// those of et_def.proto of MLCommons Chakra, package ChakraProtoMsg.

enum class EtNodeType : int32_t {
  kInvalid = 0,
  kMetadata = 1,
  kMemLoad = 2,
  kMemStore = 3,
  kComp = 4,
  kCommSend = 5,
  kCommRecv = 6,
  kCommColl = 7,
};

enum class EtCollective : int64_t {
  kAllReduce = 0,
  kReduce = 1,
  kAllGather = 2,
  kGather = 3,
  kScatter = 4,
  kBroadcast = 5,
  kAllToAll = 6,
  kReduceScatter = 7,
  kReduceScatterBlock = 8,
  kBarrier = 9,
};

// "COMP_NODE", "ALL_REDUCE"; empty for a number that has no name.
std::string_view EtNodeTypeName(EtNodeType type);
std::string_view EtCollectiveName(EtCollective kind);

// The type of the value of an attribute, in the order of the field numbers.
enum class EtScalar : uint8_t {
  kDouble,
  kFloat,
  kInt32,
  kInt64,
  kUint32,
  kUint64,
  kSint32,
  kSint64,
  kFixed32,
  kFixed64,
  kSfixed32,
  kSfixed64,
  kBool,
  kString,
  kBytes,
};
constexpr uint32_t kEtScalars = 15;

// The member of the oneof: a scalar has an odd number from 3 on, and its list has the next number.
constexpr uint32_t EtValueField(EtScalar scalar, bool is_list = false) {
  return 3 + 2 * static_cast<uint32_t>(scalar) + (is_list ? 1 : 0);
}
constexpr uint32_t kEtFirstValueField = EtValueField(EtScalar::kDouble);
constexpr uint32_t kEtLastValueField = EtValueField(EtScalar::kBytes, true);

// "int64_val", "bool_list". REQUIRES: a member of the oneof.
std::string_view EtValueName(uint32_t field);

// A named value of a node or of the whole trace. The maker of an attribute owns its texts.
struct EtAttr {
  std::string_view name;
  std::string_view doc;
  uint32_t field = 0;      // member of the oneof; 0: no value
  uint64_t bits = 0;       // of a number: two's complement, or the bits of a float or double
  std::string_view bytes;  // of a string or bytes: itself; of a list: its message as it is encoded

  static EtAttr Int64(std::string_view name, int64_t value) {
    return {name, {}, EtValueField(EtScalar::kInt64), static_cast<uint64_t>(value), {}};
  }
  static EtAttr Uint64(std::string_view name, uint64_t value) {
    return {name, {}, EtValueField(EtScalar::kUint64), value, {}};
  }
  static EtAttr Bool(std::string_view name, bool value) {
    return {name, {}, EtValueField(EtScalar::kBool), value ? uint64_t{1} : 0, {}};
  }
  static EtAttr String(std::string_view name, std::string_view value) {
    return {name, {}, EtValueField(EtScalar::kString), 0, value};
  }

  EtScalar scalar() const { return static_cast<EtScalar>((field - kEtFirstValueField) / 2); }
  bool is_list() const { return field != 0 && (field - kEtFirstValueField) % 2 == 1; }
  bool Is(EtScalar wanted) const { return field == EtValueField(wanted); }
};

struct EtMetadata {
  std::string_view version;
  std::vector<EtAttr> attrs;
  uint64_t unknown_fields = 0;  // that a reader skipped

  void Clear();
};

// The arguments or results of an operator, each as one text.
struct EtIo {
  std::string_view values;
  std::string_view shapes;
  std::string_view types;
  bool present = false;  // a message that is there may be empty
};

struct EtNode {
  uint64_t id = 0;
  std::string_view name;
  EtNodeType type = EtNodeType::kInvalid;
  std::vector<uint64_t> ctrl_deps;
  std::vector<uint64_t> data_deps;
  uint64_t start_us = 0;
  uint64_t duration_us = 0;
  EtIo inputs;
  EtIo outputs;
  std::vector<EtAttr> attrs;
  uint64_t unknown_fields = 0;  // that a reader skipped

  // Clears the node like a new one, but keeps its memory.
  void Clear();
  // The first attribute of this name; nullptr when there is none.
  const EtAttr* Find(std::string_view attr) const;
};

void AppendMetadata(const EtMetadata& metadata, std::string& out);
void AppendNode(const EtNode& node, std::string& out);

// Reads one message; texts point into `bytes`. Fields that are not known, or known but of another
// wire type, are skipped and counted. kCorrupt with only the cause, such as "a field ends early".
Result<void> DecodeMetadata(std::string_view bytes, EtMetadata& metadata);
Result<void> DecodeNode(std::string_view bytes, EtNode& node);

// The values of a list, each as the same attribute with one value. REQUIRES: attr.is_list().
Result<std::vector<EtAttr>> DecodeList(const EtAttr& attr);

// The message of a list, as EtAttr::bytes contains it, from scalars of one kind.
std::string EncodeList(const std::vector<EtAttr>& values);

}  // namespace borescope::internal
