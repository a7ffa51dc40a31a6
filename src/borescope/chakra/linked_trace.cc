#include "borescope/chakra/linked_trace.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <utility>

#include "borescope/chakra/json_elements.h"
#include "borescope/chakra/py_repr.h"

namespace borescope {
namespace {

namespace ondemand = simdjson::ondemand;
using simdjson::SUCCESS;

constexpr std::string_view kAttrNames[] = {"rf_id", "fw_parent", "seq_id",
                                           "scope", "tid",       "fw_tid"};
static_assert(std::size(kAttrNames) == kLinkedAttrs);

std::string_view Trimmed(std::string_view token) {
  return token.substr(0, token.find_last_not_of(" \n\r\t") + 1);
}

bool IsNull(std::string_view json) { return json == "null"; }

std::optional<uint64_t> UintOf(std::string_view json) {
  uint64_t number = 0;
  const char* const end = json.data() + json.size();
  const auto [stop, error] = std::from_chars(json.data(), json.data() + json.size(), number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

// Reads one document into a trace. An error of simdjson ends it; `cause_` keeps the first.
class Parser {
 public:
  explicit Parser(LinkedTrace& trace) : trace_(trace) {}

  // False where `cause()` says why.
  bool ReadDocument(ondemand::document& document) {
    ondemand::object top;
    if (document.get_object().get(top) != SUCCESS) {
      return Fail("the document is no object");
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
  // Keeps the first cause only.
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
      trace_.schema = TextOf(json);
    } else if (key == "time") {
      trace_.time = TextOf(json);
    } else if (key == "pid") {
      trace_.pid = UintOf(json);
    } else if (key == "start_ts") {
      trace_.start_ts = UintOf(json);
    } else if (key == "finish_ts") {
      trace_.finish_ts = UintOf(json);
    }
    return true;
  }

  bool ReadNodes(ondemand::value& value) {
    ondemand::array nodes;
    if (value.get_array().get(nodes) != SUCCESS) {
      return Fail("\"nodes\" is no array");
    }
    for (auto item : nodes) {
      ondemand::object object;
      if (item.get_object().get(object) != SUCCESS) {
        return FailAtNode("is no object, or the text before it is damaged");
      }
      if (!ReadNode(object)) {
        return false;
      }
    }
    return true;
  }

  bool FailAtNode(std::string_view cause) {
    return Fail(fmt::format("node {} of the list {}", node_count_ + 1, cause));
  }

  bool ReadNode(ondemand::object& object) {
    LinkedNode node;
    has_id_ = false;
    for (auto item : object) {
      ondemand::field field;
      if (std::move(item).get(field) != SUCCESS) {
        return FailAtNode("is damaged");
      }
      const std::string_view key = KeyOf(field);
      ondemand::value value = field.value();
      if (!ReadNodeMember(key, value, node)) {
        return FailAtNode(fmt::format("is damaged at \"{}\"", key));
      }
    }
    if (!has_id_) {
      return FailAtNode("has no \"id\"");
    }
    node_count_ += 1;
    Keep(node);
    return true;
  }

  // A later node of the same id takes the place of the earlier one.
  void Keep(const LinkedNode& node) {
    const auto [place, is_new] = index_.try_emplace(node.id, trace_.nodes.size());
    if (is_new) {
      trace_.nodes.push_back(node);
    } else {
      trace_.counts.duplicate_ids += 1;
      trace_.nodes[place->second] = node;
    }
  }

  bool ReadNodeMember(std::string_view key, ondemand::value& value, LinkedNode& node) {
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

  bool ReadId(std::string_view json, LinkedNode& node) {
    const std::optional<uint64_t> id = UintOf(json);
    node.id = id.value_or(0);
    has_id_ = id.has_value();
    return has_id_;
  }

  bool ReadPlain(std::string_view key, std::string_view json, LinkedNode& node) {
    if (key == "name") {
      node.name = TextOf(json);
    } else if (key == "ctrl_deps" || (key == "parent" && !node.has_parent)) {
      const std::optional<uint64_t> parent = UintOf(json);
      node.has_parent = parent.has_value();
      node.parent = parent.value_or(0);
    } else if (key == "exclusive_dur") {
      node.exclusive_us = IsNull(json) ? std::string_view() : json;
    } else if (key == "ts") {
      node.ts_us = IsNull(json) ? std::string_view() : json;
    } else if (key == "inter_thread_dep") {
      node.inter_thread_dep = UintOf(json);
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

  bool ReadDeviceMember(std::string_view key, std::string_view json, LinkedNode& node) {
    if (key == "cat") {
      node.is_device = !IsNull(json);
      node.cat = TextOf(json);
    } else if (key == "stream") {
      node.stream = IntOf(json);
    } else if (key == "device") {
      node.device = IntOf(json);
    } else if (key == "pg_name") {
      node.pg_name = TextOf(json);
    } else if (key != "inclusive_dur" && key != "ph") {
      ReadFlat(key, json, node);
    }
    return true;
  }

  // Schema 1.0.1 has the attributes as members of the node.
  void ReadFlat(std::string_view key, std::string_view json, LinkedNode& node) {
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

  // The ids in a list, or a single one as the first versions of the reference wrote it.
  std::pair<uint32_t, uint32_t> ReadIds(std::string_view json) {
    const auto begin = static_cast<uint32_t>(trace_.ids.size());
    const auto add = [&](std::string_view number) {
      if (const std::optional<uint64_t> id = UintOf(number); id.has_value()) {
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
    return {begin, static_cast<uint32_t>(trace_.ids.size()) - begin};
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

  // Strides and whatever else there may be have no place in a .et.
  static std::string_view* PartOf(LinkedIo& io, std::string_view key) {
    return key == "values"   ? &io.values
           : key == "shapes" ? &io.shapes
           : key == "types"  ? &io.types
                             : nullptr;
  }

  bool ReadAttrs(ondemand::value& value, LinkedNode& node) {
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

  bool ReadAttr(ondemand::object& object, LinkedNode& node) {
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

  // Whether the attribute is one that is read.
  bool SetAttr(std::string_view name, std::string_view json, LinkedNode& node) {
    for (size_t i = 0; i < kLinkedAttrs; ++i) {
      if (kAttrNames[i] == name) {
        node.attrs[i] = IntOf(json);
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
      node.in_elems = IntOf(json);
    } else if (name == "out_msg_nelems") {
      node.out_elems = IntOf(json);
    } else {
      return false;
    }
    return true;
  }

  // Keys with escapes are none that is read.
  static std::string_view KeyOf(ondemand::field& field) {
    const char* const raw = field.key().raw();
    const char* end = raw;
    while (*end != '"') {
      end += *end == '\\' ? 2 : 1;
    }
    return {raw, static_cast<size_t>(end - raw)};
  }

  bool RawOf(ondemand::value& value, std::string_view& json) {
    ondemand::json_type type{};
    if (value.type().get(type) != SUCCESS) {
      return false;
    }
    if (type == ondemand::json_type::array) {
      ondemand::array array;
      return value.get_array().get(array) == SUCCESS && array.raw_json().get(json) == SUCCESS;
    }
    if (type == ondemand::json_type::object) {
      ondemand::object object;
      return value.get_object().get(object) == SUCCESS && object.raw_json().get(json) == SUCCESS;
    }
    json = Trimmed(value.raw_json_token());
    return true;
  }

  // The text of a string token; any other token as it is written.
  std::string_view TextOf(std::string_view json) {
    if (!json.starts_with('"') || json.size() < 2) {
      return IsNull(json) ? std::string_view() : json;
    }
    if (json.find('\\') == std::string_view::npos) {
      return json.substr(1, json.size() - 2);
    }
    return trace_.unescaped.emplace_back(UnescapeJson(json));
  }

  LinkedTrace& trace_;
  std::unordered_map<uint64_t, size_t> index_;
  size_t node_count_ = 0;
  bool has_nodes_ = false;
  bool has_id_ = false;
  std::string cause_;
};

}  // namespace

std::string_view LinkedAttrName(LinkedAttr attr) { return kAttrNames[static_cast<size_t>(attr)]; }

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
  if (error != SUCCESS) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("{}: no JSON that can be read: {}", name, error_message(error))};
  }
  Parser reader(trace);
  if (!reader.ReadDocument(parsed)) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("{}: {}; write it again with borescope link", name, reader.cause())};
  }
  if (!reader.has_nodes()) {
    return Error{
        ErrorCode::kUnsupportedFormat,
        fmt::format("{}: no \"nodes\", so no execution trace; name the output of borescope "
                    "link or of the ExecutionTraceObserver",
                    name)};
  }
  return trace;
}

}  // namespace borescope
