// The messages of a Chakra execution trace as protobuf bytes, both ways. Writing follows proto3 to
// the byte: fields ascending, numbers packed, defaults left out, members of a oneof always there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/packs/chakra/et/et_schema.h"

namespace borescope::internal {

void AppendMetadata(const EtMetadata& metadata, std::string& out);
void AppendNode(const EtNode& node, std::string& out);

// Reads one message; texts point into `bytes`. Fields that are not known, or known but of another
// wire type, are skipped and counted. kCorrupt with the cause alone, such as "a field ends early".
Result<void> DecodeMetadata(std::string_view bytes, EtMetadata& metadata);
Result<void> DecodeNode(std::string_view bytes, EtNode& node);

// The values of a list. REQUIRES: attr.is_list(). Each as the same attribute with one value.
Result<std::vector<EtAttr>> DecodeList(const EtAttr& attr);

// The message of a list as EtAttr::bytes holds it, from scalars of one kind.
std::string EncodeList(const std::vector<EtAttr>& values);

}  // namespace borescope::internal
