#include "borescope/packs/chakra/et/et_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <protozero/varint.hpp>
#include <queue>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/io/inflate.h"
#include "borescope/base/row_limit.h"
#include "borescope/base/stop.h"
#include "borescope/packs/chakra/et/et_codec.h"

namespace borescope::internal {

namespace {

constexpr size_t kPieceBytes = size_t{1} << 20;

void AppendVarint(std::string& out, uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

// Parsers may read this far beyond the end of the text.
constexpr size_t kRoomBytes = 64;
// Not more than this is reserved, whatever size a file records.
constexpr uint64_t kMostReserved = uint64_t{1} << 32;

Result<std::string> ReadToEnd(ByteSource& source) {
  std::string bytes;
  bytes.reserve(std::min(source.stored_total(), kMostReserved) + kPieceBytes + kRoomBytes);
  for (size_t size = 0;;) {
    bytes.resize(size + kPieceBytes);
    BS_ASSIGN(const size_t got, ReadFully(source, bytes.data() + size, bytes.size() - size));
    if (size + got < bytes.size()) {
      bytes.resize(size + got);
      return bytes;
    }
    size += got;
  }
}

}  // namespace

void EtWriter::Add(const EtMetadata& metadata) {
  record_.clear();
  AppendMetadata(metadata, record_);
  AddRecord();
}

void EtWriter::Add(const EtNode& node) {
  record_.clear();
  AppendNode(node, record_);
  AddRecord();
}

void EtWriter::AddRecord() {
  AppendVarint(out_.text(), record_.size());
  out_.Put(record_);
}

Error EtReader::ErrorHere(std::string_view cause) const {
  return {ErrorCode::kCorrupt,
          fmt::format("record {} at byte {}: {}", records_, record_begin_, cause),
          "the file is damaged or no .et"};
}

Result<std::optional<std::string_view>> EtReader::NextRecord(bool may_be_empty) {
  while (next_ != bytes_.size()) {
    record_begin_ = next_;
    CheckStopAt(records_);
    records_ += 1;
    const char* place = bytes_.data() + next_;
    const char* const end = bytes_.data() + bytes_.size();
    uint64_t length = 0;
    try {
      length = protozero::decode_varint(&place, end);
    } catch (const protozero::exception&) {
      return ErrorHere("its length cannot be read");
    }
    const auto left = static_cast<uint64_t>(end - place);
    if (length > left) {
      return ErrorHere(fmt::format("it says {} bytes, and {} are left", length, left));
    }
    const std::string_view record(place, length);
    next_ = static_cast<size_t>(place - bytes_.data()) + length;
    if (!record.empty() || may_be_empty) {
      return std::optional(record);
    }
    empty_records_ += 1;
  }
  return std::optional<std::string_view>();
}

Result<bool> EtReader::Next(EtMetadata& metadata) {
  BS_ASSIGN(const std::optional<std::string_view> record, NextRecord(true));
  if (record.has_value()) {
    if (const Result<void> read = DecodeMetadata(*record, metadata); !read.ok()) {
      return ErrorHere(read.error().cause);
    }
  }
  return record.has_value();
}

Result<bool> EtReader::Next(EtNode& node) {
  BS_ASSIGN(const std::optional<std::string_view> record, NextRecord(false));
  if (record.has_value()) {
    if (const Result<void> read = DecodeNode(*record, node); !read.ok()) {
      return ErrorHere(read.error().cause);
    }
  }
  return record.has_value();
}

namespace {

Result<std::string> ReadOnce(const std::string& path) {
  BS_ASSIGN(std::unique_ptr<ByteSource> file, OpenFile(path));
  Result<OpenedSource> opened = InflateIfCompressed(std::move(file));
  if (!opened.ok()) {
    return InFile(path, opened.error());
  }
  Result<std::string> bytes = ReadToEnd(*opened->bytes);
  if (!bytes.ok()) {
    return InFile(path, bytes.error());
  }
  if (opened->inflating != nullptr && !opened->inflating->damage().empty()) {
    return Error{ErrorCode::kCorrupt, fmt::format("{}", opened->inflating->damage()),
                 "copy the file again", path};
  }
  return bytes;
}

}  // namespace

Result<std::string> ReadInflated(const std::string& path) {
  return ReadUnchanged(path, [&] { return ReadOnce(path); });
}

namespace {

// For every node, by place: the nodes that wait for it, each once.
DependencyGraph ChildrenOf(const EtFile& et) {
  std::vector<std::vector<uint32_t>> children(et.nodes.size());
  for (uint32_t place = 0; place < et.nodes.size(); ++place) {
    for (const uint64_t dep : et.nodes[place].data_deps) {
      const auto parent = et.places.find(dep);
      if (parent == et.places.end()) {
        continue;
      }
      std::vector<uint32_t>& list = children[parent->second];
      if (list.empty() || list.back() != place) {
        list.push_back(place);
      }
    }
  }
  DependencyGraph graph;
  for (const std::vector<uint32_t>& list : children) {
    graph.Add(list);
  }
  return graph;
}

}  // namespace

Result<EtFile> ReadEt(std::string_view bytes) {
  EtFile et;
  EtReader reader(bytes);
  BS_ASSIGN(const bool has_metadata, reader.Next(et.metadata));
  if (!has_metadata) {
    return Error{ErrorCode::kCorrupt, "the file is empty", "a .et begins with its metadata"};
  }
  et.unknown_fields = et.metadata.unknown_fields;
  EtNode node;
  for (;;) {
    BS_ASSIGN(const bool is_node, reader.Next(node));
    if (!is_node) {
      break;
    }
    et.unknown_fields += node.unknown_fields;
    et.places.try_emplace(node.id, CheckedRows(et.nodes.size() + 1, "nodes") - 1);
    et.nodes.push_back(node);
  }
  et.empty_records = reader.empty_records();
  return et;
}

DependencyGraph DataGraph(const EtFile& et) {
  DependencyGraph graph;
  std::vector<uint32_t> deps;
  for (const EtNode& node : et.nodes) {
    deps.clear();
    for (const uint64_t dep : node.data_deps) {
      if (const auto found = et.places.find(dep); found != et.places.end()) {
        deps.push_back(found->second);
      }
    }
    graph.Add(deps);
  }
  return graph;
}

std::vector<uint64_t> IssueOrder(const EtFile& et) {
  const DependencyGraph children = ChildrenOf(et);
  using Ready = std::pair<uint64_t, uint32_t>;  // id, place
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  std::vector<size_t> waits(et.nodes.size());
  for (uint32_t place = 0; place < et.nodes.size(); ++place) {
    waits[place] = et.nodes[place].data_deps.size();
    if (waits[place] == 0) {
      ready.emplace(et.nodes[place].id, place);
    }
  }
  std::vector<uint64_t> order;
  order.reserve(et.nodes.size());
  while (!ready.empty()) {
    const auto [id, place] = ready.top();
    ready.pop();
    order.push_back(id);
    for (const uint32_t child : children.DependenciesOf(place)) {
      // One mention is removed for one end, so that a node that names another one twice waits for
      // ever.
      if (--waits[child] == 0) {
        ready.emplace(et.nodes[child].id, child);
      }
    }
  }
  return order;
}

void DependencyGraph::Add(std::span<const uint32_t> dependencies) {
  targets_.insert(targets_.end(), dependencies.begin(), dependencies.end());
  begins_.push_back(targets_.size());
}

// Kahn's algorithm from the end: removes nodes on which no remaining node depends. The remaining
// ones have more than 0 dependents left.
std::vector<uint32_t> DependencyGraph::DependentsLeft() const {
  std::vector<uint32_t> dependents(size(), 0);
  for (const uint32_t target : targets_) {
    dependents[target] += 1;
  }
  std::vector<uint32_t> free;
  for (uint32_t node = 0; node < size(); ++node) {
    if (dependents[node] == 0) {
      free.push_back(node);
    }
  }
  while (!free.empty()) {
    const uint32_t node = free.back();
    free.pop_back();
    for (const uint32_t target : DependenciesOf(node)) {
      if (--dependents[target] == 0) {
        free.push_back(target);
      }
    }
  }
  return dependents;
}

std::vector<uint32_t> DependencyGraph::FindCycle() const {
  const std::vector<uint32_t> dependents = DependentsLeft();
  const auto first =
      std::find_if(dependents.begin(), dependents.end(), [](uint32_t n) { return n != 0; });
  if (first == dependents.end()) {
    return {};
  }
  // Each remaining node has a remaining dependent: following dependents ends in a circle.
  std::vector<uint32_t> dependent_of(size(), 0);
  for (uint32_t node = 0; node < size(); ++node) {
    for (const uint32_t target : DependenciesOf(node)) {
      if (dependents[node] != 0 && dependents[target] != 0) {
        dependent_of[target] = node;
      }
    }
  }
  auto node = static_cast<uint32_t>(first - dependents.begin());
  for (uint32_t step = 0; step < size(); ++step) {
    node = dependent_of[node];
  }
  std::vector<uint32_t> cycle = {node};
  for (uint32_t next = dependent_of[node]; next != node; next = dependent_of[next]) {
    cycle.push_back(next);
  }
  std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
  return cycle;
}

}  // namespace borescope::internal
