#include "borescope/packs/chakra/linked/linked_node.h"

#include <fmt/format.h>

#include "borescope/base/row_limit.h"
#include "borescope/base/text/text.h"
#include "borescope/json/json_cursor.h"
#include "borescope/json/json_string.h"
#include "borescope/packs/chakra/json/json_members.h"
#include "borescope/packs/chakra/json/py_repr.h"

namespace borescope::internal {
namespace {

namespace ondemand = simdjson::ondemand;
using simdjson::SUCCESS;

constexpr std::string_view kAttrNames[] = {"rf_id", "fw_parent", "seq_id",
                                           "scope", "tid",       "fw_tid"};
static_assert(std::size(kAttrNames) == kLinkedAttrs);

bool IsNull(std::string_view json) { return json == "null"; }

// Strides and whatever else there may be have no place in a .et.
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

}  // namespace borescope::internal
