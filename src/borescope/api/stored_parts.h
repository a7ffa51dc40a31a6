// Partials in files, from public values to those inside. Internal to api/.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "borescope/engine/partial/part_source.h"
#include "borescope/partial.h"

namespace borescope {

inline std::vector<internal::StoredPartial> StoredPartials(std::span<const StoredPart> parts) {
  std::vector<internal::StoredPartial> stored;
  stored.reserve(parts.size());
  for (const StoredPart& part : parts) {
    stored.push_back({part.name, part.bytes});
  }
  return stored;
}

// With which messages about them may begin.
inline std::vector<std::string> NamesOf(std::span<const StoredPart> parts) {
  std::vector<std::string> names;
  names.reserve(parts.size());
  for (const StoredPart& part : parts) {
    names.push_back(part.name);
  }
  return names;
}

}  // namespace borescope
