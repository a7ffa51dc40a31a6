// Reads one node of an execution trace.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "borescope/packs/chakra/linked/linked_trace.h"

namespace borescope::internal {

// Adds ids, unescaped texts and counts to the trace, which must outlive it; the node itself is the
// caller's. Not thread-safe.
class LinkedNodeReader {
 public:
  explicit LinkedNodeReader(LinkedTrace& trace) : trace_(trace) {}

  // False where the node is damaged or has no id; `cause()` then continues a sentence about it.
  bool Read(simdjson::ondemand::object& object, LinkedNode& node);
  const std::string& cause() const { return cause_; }

  // The text of a string token; any other token as it is written.
  std::string_view TextOf(std::string_view json);

 private:
  bool Fail(std::string cause);
  bool ReadMember(std::string_view key, simdjson::ondemand::value& value, LinkedNode& node);
  bool ReadId(std::string_view json, LinkedNode& node);
  bool ReadPlain(std::string_view key, std::string_view json, LinkedNode& node);
  bool ReadDeviceMember(std::string_view key, std::string_view json, LinkedNode& node);
  // Schema 1.0.1 has the attributes as members of the node.
  void ReadFlat(std::string_view key, std::string_view json, LinkedNode& node);
  // The ids in a list, or a single one as the first versions of the reference wrote it.
  std::pair<uint32_t, uint32_t> ReadIds(std::string_view json);
  bool ReadAttrs(simdjson::ondemand::value& value, LinkedNode& node);
  bool ReadAttr(simdjson::ondemand::object& object, LinkedNode& node);
  // Whether the attribute is one that is read.
  bool SetAttr(std::string_view name, std::string_view json, LinkedNode& node);

  LinkedTrace& trace_;
  bool has_id_ = false;
  std::string cause_;
};

}  // namespace borescope::internal
