// A PyTorch execution trace whose operators were linked with device work, as JSON: what `borescope
// link` and the reference's chakra_trace_link write. A bare execution trace is one without times.
// Texts point into the document, which the trace keeps.
#pragma once

#include <simdjson.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/result.h"

namespace borescope::internal {

// The attributes that every operator has, in the order in which a .et names them.
enum class LinkedAttr : uint8_t { kRfId, kFwParent, kSeqId, kScope, kTid, kFwTid, kCount };
constexpr size_t kLinkedAttrs = static_cast<size_t>(LinkedAttr::kCount);
std::string_view LinkedAttrName(LinkedAttr attr);

// JSON texts of arguments or results; empty if they are missing.
struct LinkedIo {
  std::string_view values;
  std::string_view shapes;
  std::string_view types;
};

struct LinkedNode {
  uint64_t id = 0;
  uint64_t parent = 0;
  std::string_view name;
  LinkedIo inputs;
  LinkedIo outputs;
  std::string_view exclusive_us;  // the number as written; empty if it is missing or null
  std::string_view ts_us;         // likewise
  std::string_view cat;           // of device work; empty for operators
  std::optional<int64_t> stream;
  std::optional<int64_t> device;
  std::optional<uint64_t> inter_thread_dep;
  // Nodes that must have ended before this one, in LinkedTrace::ids: device work for which an
  // operator waited, and device work for which other device work had to wait.
  std::pair<uint32_t, uint32_t> sync_deps{0, 0};    // begin, count
  std::pair<uint32_t, uint32_t> stream_deps{0, 0};  // begin, count
  std::array<std::optional<int64_t>, kLinkedAttrs> attrs;
  std::optional<std::string_view> op_schema;
  // For communication, if the profiler recorded it.
  std::string_view pg_name;
  std::string_view collective_name;
  std::string_view dtype;
  std::optional<int64_t> in_elems;
  std::optional<int64_t> out_elems;
  bool has_parent = false;
  bool is_device = false;  // has a "cat"
};

// What was odd in the document.
struct LinkedCounts {
  uint64_t duplicate_ids = 0;  // the later node counts
  uint64_t unread_attrs = 0;   // attributes of operators that are not whole numbers of 64 bits
  uint64_t unknown_keys = 0;   // of nodes
};

struct LinkedTrace {
  // Members of the document; empty text or nothing if missing.
  std::string_view schema;
  std::string_view time;
  std::optional<uint64_t> pid;
  std::optional<uint64_t> start_ts;
  std::optional<uint64_t> finish_ts;

  std::vector<LinkedNode> nodes;  // in the order of the document, each id once
  std::vector<uint64_t> ids;      // the elements of the lists of nodes
  bool has_stream_deps = false;   // whether any node has the key
  LinkedCounts counts;

  std::unique_ptr<const std::string> text;  // the document
  std::deque<std::string> unescaped;        // texts that had escapes in the document

  std::span<const uint64_t> Ids(std::pair<uint32_t, uint32_t> range) const {
    return std::span(ids).subspan(range.first, range.second);
  }
};

// Reads the document; errors name it `name`. kUnsupportedFormat for JSON that is not an execution
// trace, kCorrupt for text that is not JSON, or if something is missing that every node must have.
Result<LinkedTrace> ParseLinkedTrace(std::string document, const std::string& name);

// Reads one node of an execution trace.

// Adds ids, unescaped texts and counts to the trace, which must outlive it; the caller keeps the
// node itself. Not thread-safe.
class LinkedNodeReader {
 public:
  explicit LinkedNodeReader(LinkedTrace& trace) : trace_(trace) {}

  // False if the node is damaged or has no id; `cause()` then continues a sentence about it.
  bool Read(simdjson::ondemand::object& object, LinkedNode& node);
  const std::string& cause() const { return cause_; }

  // The text of a string token; any other token as written.
  std::string_view TextOf(std::string_view json);

 private:
  bool Fail(std::string cause);
  bool ReadMember(std::string_view key, simdjson::ondemand::value& value, LinkedNode& node);
  bool ReadId(std::string_view json, LinkedNode& node);
  bool ReadPlain(std::string_view key, std::string_view json, LinkedNode& node);
  bool ReadDeviceMember(std::string_view key, std::string_view json, LinkedNode& node);
  // In schema 1.0.1 the attributes are members of the node.
  void ReadFlat(std::string_view key, std::string_view json, LinkedNode& node);
  // The ids in a list, or a single id as the first versions of the reference wrote it.
  std::pair<uint32_t, uint32_t> ReadIds(std::string_view json);
  bool ReadAttrs(simdjson::ondemand::value& value, LinkedNode& node);
  bool ReadAttr(simdjson::ondemand::object& object, LinkedNode& node);
  // Returns whether the attribute is one that is read.
  bool SetAttr(std::string_view name, std::string_view json, LinkedNode& node);

  LinkedTrace& trace_;
  bool has_id_ = false;
  std::string cause_;
};

// Parents and children in a linked trace.

// Places are indices in LinkedTrace::nodes.
class LinkedTree {
 public:
  explicit LinkedTree(const LinkedTrace& linked);

  std::optional<uint32_t> Find(uint64_t id) const;
  // Nothing if the node names no parent, or one that is not in the document.
  std::optional<uint32_t> Parent(uint32_t node) const {
    return parents_[node] == kNone ? std::nullopt : std::optional(parents_[node]);
  }
  // Ascending by id. A node that names itself is its own child.
  std::span<const uint32_t> Children(uint32_t node) const {
    return std::span(children_).subspan(begins_[node], begins_[node + 1] - begins_[node]);
  }

  // `root` and the nodes below it, parents first, children ascending by id. Each node once, even if
  // the document is circular.
  std::vector<uint32_t> Preorder(uint32_t root) const;

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};

  HashMap<uint64_t, uint32_t> places_;
  std::vector<uint32_t> parents_;
  std::vector<uint32_t> begins_;  // of each node in children_
  std::vector<uint32_t> children_;
};

// Whether the node represents a thread, or the process.
bool IsThread(const LinkedNode& node);
bool IsProcess(const LinkedNode& node);

}  // namespace borescope::internal
