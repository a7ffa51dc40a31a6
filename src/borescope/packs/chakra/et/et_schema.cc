#include "borescope/packs/chakra/et/et_schema.h"

#include <algorithm>

namespace borescope::internal {
namespace {

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

}  // namespace borescope::internal
