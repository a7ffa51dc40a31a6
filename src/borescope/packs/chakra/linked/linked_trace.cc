#include "borescope/packs/chakra/linked/linked_trace.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <new>
#include <utility>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/packs/chakra/json/json_members.h"
#include "borescope/packs/chakra/linked/linked_node.h"

namespace borescope::internal {
namespace {

namespace ondemand = simdjson::ondemand;
using simdjson::MEMALLOC;
using simdjson::SUCCESS;

// Reads one document into a trace. An error of simdjson ends it; `cause_` keeps the first.
class Parser {
 public:
  explicit Parser(LinkedTrace& trace) : trace_(trace), node_reader_(trace) {}

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
      return Fail("\"nodes\" is no array");
    }
    for (auto item : nodes) {
      ondemand::object object;
      if (item.get_object().get(object) != SUCCESS) {
        return FailAtNode("is no object, or the text before it is damaged");
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

}  // namespace borescope::internal
