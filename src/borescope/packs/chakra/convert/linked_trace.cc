#include "borescope/packs/chakra/convert/linked_trace.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <new>
#include <numeric>
#include <utility>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/row_limit.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/json/json_cursor.h"
#include "borescope/json/json_string.h"
#include "borescope/packs/chakra/json/python_json.h"

namespace borescope::internal {

namespace {

namespace ondemand = simdjson::ondemand;
using simdjson::SUCCESS;

constexpr std::string_view kAttrNames[] = {"rf_id", "fw_parent", "seq_id",
                                           "scope", "tid",       "fw_tid"};
static_assert(std::size(kAttrNames) == kLinkedAttrs);

bool IsNull(std::string_view json) { return json == "null"; }

// Strides, and members that are not known, are not written to a .et.
std::string_view* PartOf(LinkedIo& io, std::string_view key) {
  return key == "values"   ? &io.values
         : key == "shapes" ? &io.shapes
         : key == "types"  ? &io.types
                           : nullptr;
}

bool ReadIo(ondemand::value& value, LinkedIo& io) {
  ondemand::json_type type{};
  if (value.type().get(type) != SUCCESS) {
    return false;
  }
  if (type != ondemand::json_type::object) {
    return RawOf(value, io.values);  // schema 1.0.1
  }
  ondemand::object object;
  if (value.get_object().get(object) != SUCCESS) {
    return false;
  }
  for (auto item : object) {
    ondemand::field field;
    std::string_view json;
    if (std::move(item).get(field) != SUCCESS) {
      return false;
    }
    const std::string_view key = KeyOf(field);
    ondemand::value member = field.value();
    if (!RawOf(member, json)) {
      return false;
    }
    if (std::string_view* const text = PartOf(io, key); text != nullptr) {
      *text = json;
    }
  }
  return true;
}

}  // namespace

std::string_view LinkedAttrName(LinkedAttr attr) { return kAttrNames[static_cast<size_t>(attr)]; }

bool LinkedNodeReader::Fail(std::string cause) {
  cause_ = std::move(cause);
  return false;
}

bool LinkedNodeReader::Read(ondemand::object& object, LinkedNode& node) {
  has_id_ = false;
  for (auto item : object) {
    ondemand::field field;
    if (std::move(item).get(field) != SUCCESS) {
      return Fail("is damaged");
    }
    const std::string_view key = KeyOf(field);
    ondemand::value value = field.value();
    if (!ReadMember(key, value, node)) {
      return Fail(fmt::format("is damaged at \"{}\"", key));
    }
  }
  return has_id_ || Fail("has no \"id\"");
}

bool LinkedNodeReader::ReadMember(std::string_view key, ondemand::value& value, LinkedNode& node) {
  if (key == "inputs" || key == "outputs") {
    return ReadIo(value, key == "inputs" ? node.inputs : node.outputs);
  }
  if (key == "attrs") {
    return ReadAttrs(value, node);
  }
  std::string_view json;
  if (!RawOf(value, json)) {
    return false;
  }
  return key == "id" ? ReadId(json, node) : ReadPlain(key, json, node);
}

bool LinkedNodeReader::ReadId(std::string_view json, LinkedNode& node) {
  const std::optional<uint64_t> id = ParseNumber<uint64_t>(json);
  node.id = id.value_or(0);
  has_id_ = id.has_value();
  return has_id_;
}

bool LinkedNodeReader::ReadPlain(std::string_view key, std::string_view json, LinkedNode& node) {
  if (key == "name") {
    node.name = TextOf(json);
  } else if (key == "ctrl_deps" || (key == "parent" && !node.has_parent)) {
    const std::optional<uint64_t> parent = ParseNumber<uint64_t>(json);
    node.has_parent = parent.has_value();
    node.parent = parent.value_or(0);
  } else if (key == "exclusive_dur") {
    node.exclusive_us = IsNull(json) ? std::string_view() : json;
  } else if (key == "ts") {
    node.ts_us = IsNull(json) ? std::string_view() : json;
  } else if (key == "inter_thread_dep") {
    node.inter_thread_dep = ParseNumber<uint64_t>(json);
  } else if (key == "sync_dep") {
    node.sync_deps = ReadIds(json);
  } else if (key == "stream_dep") {
    trace_.has_stream_deps = true;
    node.stream_deps = ReadIds(json);
  } else {
    return ReadDeviceMember(key, json, node);
  }
  return true;
}

bool LinkedNodeReader::ReadDeviceMember(std::string_view key, std::string_view json,
                                        LinkedNode& node) {
  if (key == "cat") {
    node.is_device = !IsNull(json);
    node.cat = TextOf(json);
  } else if (key == "stream") {
    node.stream = ParseNumber<int64_t>(json);
  } else if (key == "device") {
    node.device = ParseNumber<int64_t>(json);
  } else if (key == "pg_name") {
    node.pg_name = TextOf(json);
  } else if (key != "inclusive_dur" && key != "ph") {
    ReadFlat(key, json, node);
  }
  return true;
}

void LinkedNodeReader::ReadFlat(std::string_view key, std::string_view json, LinkedNode& node) {
  if (key == "input_shapes") {
    node.inputs.shapes = json;
  } else if (key == "input_types") {
    node.inputs.types = json;
  } else if (key == "output_shapes") {
    node.outputs.shapes = json;
  } else if (key == "output_types") {
    node.outputs.types = json;
  } else if (!SetAttr(key, json, node)) {
    trace_.counts.unknown_keys += 1;
  }
}

std::pair<uint32_t, uint32_t> LinkedNodeReader::ReadIds(std::string_view json) {
  const auto begin = static_cast<uint32_t>(trace_.ids.size());
  const auto add = [&](std::string_view number) {
    if (const std::optional<uint64_t> id = ParseNumber<uint64_t>(number); id.has_value()) {
      trace_.ids.push_back(*id);
    }
  };
  if (json.starts_with('[')) {
    for (const std::string_view element : ElementsOf(json)) {
      add(element);
    }
  } else {
    add(json);
  }
  return {begin, CheckedRows(trace_.ids.size(), "dependencies of nodes") - begin};
}

bool LinkedNodeReader::ReadAttrs(ondemand::value& value, LinkedNode& node) {
  ondemand::array attrs;
  if (value.get_array().get(attrs) != SUCCESS) {
    return false;
  }
  for (auto item : attrs) {
    ondemand::object object;
    if (item.get_object().get(object) != SUCCESS || !ReadAttr(object, node)) {
      return false;
    }
  }
  return true;
}

bool LinkedNodeReader::ReadAttr(ondemand::object& object, LinkedNode& node) {
  std::string_view name;
  std::string_view json;
  for (auto item : object) {
    ondemand::field field;
    std::string_view member;
    if (std::move(item).get(field) != SUCCESS) {
      return false;
    }
    const std::string_view key = KeyOf(field);
    ondemand::value value = field.value();
    if (!RawOf(value, member)) {
      return false;
    }
    if (key == "name") {
      name = TextOf(member);
    } else if (key == "value") {
      json = member;
    }
  }
  SetAttr(name, json, node);
  return true;
}

bool LinkedNodeReader::SetAttr(std::string_view name, std::string_view json, LinkedNode& node) {
  for (size_t i = 0; i < kLinkedAttrs; ++i) {
    if (kAttrNames[i] == name) {
      node.attrs[i] = ParseNumber<int64_t>(json);
      trace_.counts.unread_attrs += node.attrs[i].has_value() ? 0 : 1;
      return true;
    }
  }
  if (name == "op_schema") {
    node.op_schema = TextOf(json);
  } else if (name == "pg_name") {
    node.pg_name = TextOf(json);
  } else if (name == "collective_name") {
    node.collective_name = TextOf(json);
  } else if (name == "dtype") {
    node.dtype = TextOf(json);
  } else if (name == "in_msg_nelems") {
    node.in_elems = ParseNumber<int64_t>(json);
  } else if (name == "out_msg_nelems") {
    node.out_elems = ParseNumber<int64_t>(json);
  } else {
    return false;
  }
  return true;
}

std::string_view LinkedNodeReader::TextOf(std::string_view json) {
  if (!json.starts_with('"') || json.size() < 2) {
    return IsNull(json) ? std::string_view() : json;
  }
  if (json.find('\\') == std::string_view::npos) {
    return json.substr(1, json.size() - 2);
  }
  return trace_.unescaped.emplace_back(StringText(json));
}

namespace {

namespace ondemand = simdjson::ondemand;
using simdjson::MEMALLOC;
using simdjson::SUCCESS;

// Reads one document into a trace. An error of simdjson ends it; `cause_` keeps the first cause.
class Parser {
 public:
  explicit Parser(LinkedTrace& trace) : trace_(trace), node_reader_(trace) {}

  // False if it failed; `cause()` says why.
  bool ReadDocument(ondemand::document& document) {
    ondemand::object top;
    if (document.get_object().get(top) != SUCCESS) {
      return Fail("the document is not an object");
    }
    for (auto item : top) {
      ondemand::field field;
      if (std::move(item).get(field) != SUCCESS || !ReadMember(field)) {
        return Fail(simdjson::error_message(simdjson::TAPE_ERROR));
      }
    }
    return true;
  }

  bool has_nodes() const { return has_nodes_; }
  const std::string& cause() const { return cause_; }

 private:
  // Keeps only the first cause.
  bool Fail(std::string_view cause) {
    if (cause_.empty()) {
      cause_ = cause;
    }
    return false;
  }

  bool ReadMember(ondemand::field& field) {
    const std::string_view key = KeyOf(field);
    ondemand::value value = field.value();
    if (key == "nodes") {
      has_nodes_ = true;
      return ReadNodes(value);
    }
    std::string_view json;
    if (!RawOf(value, json)) {
      return false;
    }
    if (key == "schema") {
      trace_.schema = node_reader_.TextOf(json);
    } else if (key == "time") {
      trace_.time = node_reader_.TextOf(json);
    } else if (key == "pid") {
      trace_.pid = ParseNumber<uint64_t>(json);
    } else if (key == "start_ts") {
      trace_.start_ts = ParseNumber<uint64_t>(json);
    } else if (key == "finish_ts") {
      trace_.finish_ts = ParseNumber<uint64_t>(json);
    }
    return true;
  }

  bool ReadNodes(ondemand::value& value) {
    ondemand::array nodes;
    if (value.get_array().get(nodes) != SUCCESS) {
      return Fail("\"nodes\" is not an array");
    }
    for (auto item : nodes) {
      ondemand::object object;
      if (item.get_object().get(object) != SUCCESS) {
        return FailAtNode("is not an object, or the text before it is damaged");
      }
      LinkedNode node;
      if (!node_reader_.Read(object, node)) {
        return FailAtNode(node_reader_.cause());
      }
      CheckStopAt(node_count_);
      node_count_ += 1;
      Keep(node);
    }
    return true;
  }

  bool FailAtNode(std::string_view cause) {
    return Fail(fmt::format("node {} of the list {}", node_count_ + 1, cause));
  }

  // A later node with the same id replaces the earlier one.
  void Keep(const LinkedNode& node) {
    const auto [place, is_new] = index_.try_emplace(node.id, trace_.nodes.size());
    if (is_new) {
      trace_.nodes.push_back(node);
    } else {
      trace_.counts.duplicate_ids += 1;
      trace_.nodes[place->second] = node;
    }
  }

  LinkedTrace& trace_;
  LinkedNodeReader node_reader_;
  HashMap<uint64_t, size_t> index_;
  size_t node_count_ = 0;
  bool has_nodes_ = false;
  std::string cause_;
};

}  // namespace

Result<LinkedTrace> ParseLinkedTrace(std::string document, const std::string& name) {
  const size_t size = document.size();
  document.reserve(size + simdjson::SIMDJSON_PADDING);
  LinkedTrace trace;
  trace.text = std::make_unique<const std::string>(std::move(document));
  ondemand::parser parser;
  ondemand::document parsed;
  const simdjson::error_code error =
      parser.iterate(simdjson::padded_string_view(trace.text->data(), size, trace.text->capacity()))
          .get(parsed);
  if (error == MEMALLOC) {
    throw std::bad_alloc();  // not the fault of the text
  }
  if (error != SUCCESS) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("no JSON that can be read: {}", error_message(error)),
                 {},
                 name};
  }
  Parser reader(trace);
  if (!reader.ReadDocument(parsed)) {
    return Error{ErrorCode::kCorrupt, fmt::format("{}", reader.cause()),
                 "write it again with borescope link", name};
  }
  if (!reader.has_nodes()) {
    return Error{ErrorCode::kUnsupportedFormat, "no \"nodes\", so no execution trace",
                 "name the output of borescope link or of the ExecutionTraceObserver", name};
  }
  return trace;
}

LinkedTree::LinkedTree(const LinkedTrace& linked) {
  const std::vector<LinkedNode>& nodes = linked.nodes;
  places_.reserve(nodes.size());
  for (const LinkedNode& node : nodes) {
    places_.emplace(node.id, static_cast<uint32_t>(places_.size()));
  }
  parents_.assign(nodes.size(), kNone);
  begins_.assign(nodes.size() + 1, 0);
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (const auto parent = nodes[i].has_parent ? Find(nodes[i].parent) : std::nullopt;
        parent.has_value()) {
      parents_[i] = *parent;
      begins_[*parent + 1] += 1;
    }
  }
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  children_.resize(begins_.back());
  std::vector<uint32_t> by_id(nodes.size());
  std::iota(by_id.begin(), by_id.end(), 0);
  std::sort(by_id.begin(), by_id.end(),
            [&](uint32_t a, uint32_t b) { return nodes[a].id < nodes[b].id; });
  std::vector<uint32_t> next(begins_.begin(), begins_.end() - 1);
  for (const uint32_t node : by_id) {
    if (parents_[node] != kNone) {
      children_[next[parents_[node]]++] = node;
    }
  }
}

std::optional<uint32_t> LinkedTree::Find(uint64_t id) const {
  const auto found = places_.find(id);
  return found == places_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<uint32_t> LinkedTree::Preorder(uint32_t root) const {
  std::vector<uint32_t> order;
  std::vector<uint32_t> stack = {root};
  while (!stack.empty()) {
    const uint32_t node = stack.back();
    stack.pop_back();
    // A node has one parent, so that only the root can come up a second time.
    if (node == root && !order.empty()) {
      continue;
    }
    order.push_back(node);
    const std::span<const uint32_t> children = Children(node);
    stack.insert(stack.end(), children.rbegin(), children.rend());
  }
  return order;
}

bool IsThread(const LinkedNode& node) {
  return node.name == "[pytorch|profiler|execution_trace|thread]" ||
         node.name == "[pytorch|profiler|execution_graph|thread]";
}

bool IsProcess(const LinkedNode& node) {
  return node.name == "[pytorch|profiler|execution_trace|process]" ||
         node.name == "[pytorch|profiler|execution_graph|process]";
}

}  // namespace borescope::internal
