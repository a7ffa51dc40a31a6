#include "borescope/store/stored_head.h"

#include <string>

#include "borescope/store/build_identity.h"
#include "borescope/store/stored_fields.h"

namespace borescope::internal {

ContentHash BuildHash(const SecretHash& hash) {
  std::string text = BuildIdentity().value_or("");
  const TraceData data;
  const TraceIndex index;
  ForEachStoredColumn(data, index,
                      [&](const auto& column) { text += static_cast<char>(sizeof(column[0])); });
  return hash.Of(text);
}

ContentHash HeadChecksum(StoredHead head, std::span<const StoredSection> list,
                         const SecretHash& hash) {
  head.checksum = {};
  return hash.Of(std::string(RawBytes(head)) + std::string(RawBytes(list)));
}

}  // namespace borescope::internal
