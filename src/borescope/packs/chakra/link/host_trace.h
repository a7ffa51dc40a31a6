// The host trace: what PyTorch's ExecutionTraceObserver wrote (JSON, schemas 1.0.1 to
// 1.1.1-chakra.0.0.4), or a linked trace. Its nodes are kept as text, because they are written
// again as they are; only what linking needs is parsed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/diagnostics.h"
#include "borescope/base/io/byte_source.h"
#include "borescope/base/result.h"

namespace borescope::internal::chakra {

struct HostMember {
  std::string_view key;    // without quotation marks, escapes as written
  std::string_view value;  // its text
};

struct HostNode {
  int64_t id = 0;
  std::optional<int64_t> parent;  // "ctrl_deps" (1.0.1: "parent")
  std::optional<int64_t> rf_id;   // number of the record function, as in the device trace
  std::string_view name;          // as written
  uint32_t first_member = 0;      // its slice [first_member, end_member) of HostTrace::members
  uint32_t end_member = 0;
};

struct HostTrace {
  std::unique_ptr<const std::string> text;  // all views point here
  std::string_view schema;
  std::vector<HostMember> top;  // members of the document, in order; one of them has the nodes
  size_t nodes_at = 0;          // index of that one
  std::vector<HostNode> nodes;  // sorted by id; ids are unique
  std::vector<HostMember> members;
  bool has_ctrl_deps = true;  // false in schema 1.0.1
  Diagnostics diagnostics;

  std::span<const HostMember> MembersOf(const HostNode& node) const {
    return std::span(members).subspan(node.first_member, node.end_member - node.first_member);
  }
  // The row of the node with this id.
  std::optional<uint32_t> Find(int64_t id) const;
};

// All bytes of `source`, inflated. Errors name the stored byte, and a damaged stream (kCorrupt).
Result<std::string> ReadWhole(std::unique_ptr<ByteSource> source);

// Reads the document. Errors (kUnsupportedFormat: not an execution trace, or of another schema;
// kCorrupt: cut or damaged, a node without an id or two with the same) name the byte, not the file.
// A node without a name (kMissingName), or whose rf_id is not a number (kBadFieldType), is counted.
Result<HostTrace> ReadHostTrace(std::string text);

}  // namespace borescope::internal::chakra
