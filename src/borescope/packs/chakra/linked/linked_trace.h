// A PyTorch execution trace whose operators were linked with what the devices did, as JSON: what
// `borescope link` and the reference's chakra_trace_link write. A bare execution trace is one
// without times. Texts point into the document, which the trace keeps.
#pragma once

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

#include "borescope/base/result.h"

namespace borescope::internal {

// The attributes that every operator has, in the order in which a .et names them.
enum class LinkedAttr : uint8_t { kRfId, kFwParent, kSeqId, kScope, kTid, kFwTid, kCount };
constexpr size_t kLinkedAttrs = static_cast<size_t>(LinkedAttr::kCount);
std::string_view LinkedAttrName(LinkedAttr attr);

// JSON texts of arguments or results; empty where they are missing.
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
  std::string_view exclusive_us;  // the number as it is written; empty where it is missing or null
  std::string_view ts_us;         // likewise
  std::string_view cat;           // of device work; empty for operators
  std::optional<int64_t> stream;
  std::optional<int64_t> device;
  std::optional<uint64_t> inter_thread_dep;
  // Nodes that must have ended first, in LinkedTrace::ids: device work an operator waited for, and
  // device work that other device work had to wait for.
  std::pair<uint32_t, uint32_t> sync_deps{0, 0};    // begin, count
  std::pair<uint32_t, uint32_t> stream_deps{0, 0};  // begin, count
  std::array<std::optional<int64_t>, kLinkedAttrs> attrs;
  std::optional<std::string_view> op_schema;
  // Of communication, where the profiler recorded it.
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
  uint64_t unread_attrs = 0;   // an attribute of an operator that is no whole number of 64 bits
  uint64_t unknown_keys = 0;   // of nodes
};

struct LinkedTrace {
  // Of the document; empty text or nothing where missing.
  std::string_view schema;
  std::string_view time;
  std::optional<uint64_t> pid;
  std::optional<uint64_t> start_ts;
  std::optional<uint64_t> finish_ts;

  std::vector<LinkedNode> nodes;  // in the order of the document, each id once
  std::vector<uint64_t> ids;      // what the lists of the nodes hold
  bool has_stream_deps = false;   // whether any node has the key
  LinkedCounts counts;

  std::unique_ptr<const std::string> text;  // the document
  std::deque<std::string> unescaped;        // texts that do not stand in the document as they are

  std::span<const uint64_t> Ids(std::pair<uint32_t, uint32_t> range) const {
    return std::span(ids).subspan(range.first, range.second);
  }
};

// Reads the document, of which `name` stands in errors. kUnsupportedFormat for JSON that is no
// execution trace, kCorrupt for what is no JSON or lacks what every node must have.
Result<LinkedTrace> ParseLinkedTrace(std::string document, const std::string& name);

}  // namespace borescope::internal
