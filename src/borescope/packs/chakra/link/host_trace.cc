#include "borescope/packs/chakra/link/host_trace.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "borescope/base/io/inflate.h"
#include "borescope/base/row_limit.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/json/json_cursor.h"
#include "borescope/json/json_string.h"

namespace borescope::internal::chakra {
namespace {

constexpr std::string_view kFlatSchema = "1.0.1";
constexpr std::string_view kSchemas[] = {kFlatSchema,          "1.0.2-chakra.0.0.4",
                                         "1.0.3-chakra.0.0.4", "1.0.4-chakra.0.0.4",
                                         "1.1.0-chakra.0.0.4", "1.1.1-chakra.0.0.4"};

class HostReader {
 public:
  explicit HostReader(std::string text) {
    trace_.text = std::make_unique<const std::string>(std::move(text));
  }

  Result<HostTrace> Read() {
    BS_TRY(ReadTop());
    BS_TRY(CheckSchema());
    if (const std::string_view nodes = trace_.top[trace_.nodes_at].value; !nodes.empty()) {
      JsonCursor cursor(*trace_.text, static_cast<size_t>(nodes.data() - trace_.text->data()));
      BS_TRY(ReadNodes(cursor));
    }
    BS_TRY(SortNodes());
    return std::move(trace_);
  }

 private:
  Error Corrupt(std::string_view at, std::string cause, std::string remedy = {}) const {
    return {.code = ErrorCode::kCorrupt,
            .cause = std::move(cause),
            .remedy = std::move(remedy),
            .offset = static_cast<uint64_t>(at.data() - trace_.text->data())};
  }
  static Error NoTrace(std::string_view why) {
    return {ErrorCode::kUnsupportedFormat, fmt::format("no execution trace of PyTorch: {}", why),
            "expected is what ExecutionTraceObserver writes"};
  }

  Result<void> ReadTop() {
    JsonCursor cursor(*trace_.text);
    if (!cursor.EnterObject()) {
      return NoTrace("it is not a JSON object");
    }
    std::string_view key;
    bool has_nodes = false;
    while (cursor.NextMember(key)) {
      const bool is_nodes = key == "nodes";
      if (is_nodes) {
        has_nodes = true;
        trace_.nodes_at = trace_.top.size();
      }
      // All known writers put the schema first, so that the nodes can be read when they come.
      const bool reads_now = is_nodes && !SchemaOf().empty();
      if (reads_now) {
        BS_TRY(CheckSchema());
        BS_TRY(ReadNodes(cursor));
      }
      trace_.top.push_back({key, reads_now ? std::string_view() : cursor.Value()});
    }
    if (cursor.failed()) {
      return Error{.code = ErrorCode::kCorrupt,
                   .cause = "the text ends early or is damaged here",
                   .remedy = "a process that died leaves its trace so, record it again",
                   .offset = cursor.offset()};
    }
    return has_nodes ? Result<void>() : NoTrace("it has no member \"nodes\"");
  }

  // The schema, if it was read already.
  std::string_view SchemaOf() const {
    std::string_view schema;
    for (const HostMember& member : trace_.top) {
      schema = member.key == "schema" ? StringContent(member.value) : schema;
    }
    return schema;
  }

  Result<void> CheckSchema() {
    trace_.schema = SchemaOf();
    if (trace_.schema.empty()) {
      return NoTrace("it has no member \"schema\"");
    }
    if (std::find(std::begin(kSchemas), std::end(kSchemas), trace_.schema) == std::end(kSchemas)) {
      return Error{ErrorCode::kUnsupportedFormat,
                   fmt::format("execution trace of schema {}, which is not read", trace_.schema),
                   fmt::format("those read are {}", fmt::join(kSchemas, ", "))};
    }
    trace_.has_ctrl_deps = trace_.schema != kFlatSchema;
    return {};
  }

  Result<void> ReadNodes(JsonCursor& cursor) {
    const std::string_view text = *trace_.text;
    if (!cursor.EnterArray()) {
      return Corrupt(text.substr(cursor.offset()), "\"nodes\" is not a list");
    }
    trace_.nodes.clear();
    trace_.members.clear();
    while (cursor.NextElement()) {
      const size_t begin = cursor.offset();
      if (!cursor.EnterObject()) {
        return Corrupt(text.substr(begin), "a node is not a JSON object");
      }
      BS_TRY(ReadNode(cursor, text.substr(begin)));
    }
    return cursor.failed()
               ? Corrupt(text.substr(cursor.offset()), "the text ends early or is damaged here",
                         "a process that died leaves its trace so, record it again")
               : Result<void>();
  }

  Result<void> ReadNode(JsonCursor& cursor, std::string_view at) {
    HostNode node;
    node.first_member = static_cast<uint32_t>(trace_.members.size());
    std::optional<int64_t> id;
    std::string_view key;
    while (cursor.NextMember(key)) {
      const std::string_view value = cursor.Value();
      if (key == "id") {
        id = ParseNumber<int64_t>(value);
      } else {
        Understand(key, value, node);
      }
      AddMember(node, {key, value});
    }
    if (cursor.failed()) {
      return Corrupt(at, "this node ends early or is damaged",
                     "a process that died leaves its trace so, record it again");
    }
    if (!id.has_value()) {
      return Corrupt(at, "a node has no whole number as its id");
    }
    if (node.name.empty()) {
      trace_.diagnostics.Count(Diag::kMissingName);
    }
    node.id = *id;
    node.end_member = CheckedRows(trace_.members.size(), "members of nodes");
    CheckStopAt(trace_.nodes.size());
    trace_.nodes.push_back(node);
    return {};
  }

  // Of several equal keys the last value counts, in the place of the first.
  void AddMember(const HostNode& node, HostMember member) {
    for (size_t i = node.first_member; i < trace_.members.size(); ++i) {
      if (trace_.members[i].key == member.key) {
        trace_.diagnostics.Count(Diag::kDuplicateKey);
        trace_.members[i].value = member.value;
        return;
      }
    }
    trace_.members.push_back(member);
  }

  void Understand(std::string_view key, std::string_view value, HostNode& node) {
    if (key == "name") {
      node.name = StringContent(value);
    } else if (key == "ctrl_deps" || (key == "parent" && !trace_.has_ctrl_deps)) {
      node.parent = ParseNumber<int64_t>(value);
    } else if (key == "rf_id" && !trace_.has_ctrl_deps) {
      TakeRfId(value, node);
    } else if (key == "attrs") {
      ReadAttributes(value, node);
    }
  }

  void TakeRfId(std::string_view value, HostNode& node) {
    node.rf_id = LooseIntValue(value);
    if (!node.rf_id.has_value()) {
      trace_.diagnostics.Count(Diag::kBadFieldType, Diagnostics::kNoByte, "rf_id of a node");
    }
  }

  // [{"name": "rf_id", "type": "uint64", "value": 3}, …]
  void ReadAttributes(std::string_view attributes, HostNode& node) {
    JsonCursor cursor(attributes);
    if (!cursor.EnterArray()) {
      return;
    }
    while (cursor.NextElement() && cursor.EnterObject()) {
      std::string_view key;
      std::string_view name;
      std::string_view value;
      while (cursor.NextMember(key)) {
        const std::string_view text = cursor.Value();
        name = key == "name" ? StringContent(text) : name;
        value = key == "value" ? text : value;
      }
      if (name == "rf_id") {
        TakeRfId(value, node);
      }
    }
  }

  Result<void> SortNodes() {
    std::stable_sort(trace_.nodes.begin(), trace_.nodes.end(),
                     [](const HostNode& a, const HostNode& b) { return a.id < b.id; });
    const auto twin =
        std::adjacent_find(trace_.nodes.begin(), trace_.nodes.end(),
                           [](const HostNode& a, const HostNode& b) { return a.id == b.id; });
    if (twin == trace_.nodes.end()) {
      return {};
    }
    return Error{ErrorCode::kCorrupt, fmt::format("two nodes have the id {}", twin->id),
                 "traces of several processes cannot be linked in one file"};
  }

  HostTrace trace_;
};

}  // namespace

std::optional<uint32_t> HostTrace::Find(int64_t id) const {
  const auto at = std::lower_bound(nodes.begin(), nodes.end(), id,
                                   [](const HostNode& node, int64_t key) { return node.id < key; });
  return at != nodes.end() && at->id == id
             ? std::optional(static_cast<uint32_t>(at - nodes.begin()))
             : std::nullopt;
}

Result<std::string> ReadWhole(std::unique_ptr<ByteSource> source) {
  constexpr size_t kStep = size_t{1} << 20;
  BS_ASSIGN(const OpenedSource opened, InflateIfCompressed(std::move(source)));
  std::string text;
  size_t size = 0;
  size_t got = 0;
  do {
    size += got;
    text.resize(std::max(size + kStep, size + size / 2));
    BS_ASSIGN(got, ReadFully(*opened.bytes, text.data() + size, text.size() - size));
  } while (got != 0);
  text.resize(size);
  if (opened.inflating != nullptr && !opened.inflating->damage().empty()) {
    return Error{ErrorCode::kCorrupt, std::string(opened.inflating->damage())};
  }
  return text;
}

Result<HostTrace> ReadHostTrace(std::string text) { return HostReader(std::move(text)).Read(); }

}  // namespace borescope::internal::chakra
