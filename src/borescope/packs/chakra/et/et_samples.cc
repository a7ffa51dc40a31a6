#include "borescope/packs/chakra/et/et_samples.h"

#include <bit>
#include <deque>

#include "borescope/packs/chakra/et/et_codec.h"
#include "borescope/packs/chakra/et/et_stream.h"

namespace borescope::internal {
namespace {

enum class Kind : uint8_t { kAttributes, kMemory, kComp, kCompPair, kCompChain, kCollective };

struct FamilyRow {
  std::string_view name;
  Kind kind;
  EtNodeType type;
  EtCollective collective;
};

constexpr auto kColl = EtNodeType::kCommColl;
constexpr auto kNoCollective = EtCollective::kAllReduce;
constexpr FamilyRow kFamilies[] = {
    {"one_metadata_node_all_types", Kind::kAttributes, EtNodeType::kMetadata, kNoCollective},
    {"one_remote_mem_load_node", Kind::kMemory, EtNodeType::kMemLoad, kNoCollective},
    {"one_remote_mem_store_node", Kind::kMemory, EtNodeType::kMemStore, kNoCollective},
    {"one_comp_node", Kind::kComp, EtNodeType::kComp, kNoCollective},
    {"two_comp_nodes_independent", Kind::kCompPair, EtNodeType::kComp, kNoCollective},
    {"two_comp_nodes_dependent", Kind::kCompChain, EtNodeType::kComp, kNoCollective},
    {"ALL_REDUCE", Kind::kCollective, kColl, EtCollective::kAllReduce},
    {"ALL_TO_ALL", Kind::kCollective, kColl, EtCollective::kAllToAll},
    {"ALL_GATHER", Kind::kCollective, kColl, EtCollective::kAllGather},
    {"REDUCE_SCATTER", Kind::kCollective, kColl, EtCollective::kReduceScatter},
    {"BROADCAST", Kind::kCollective, kColl, EtCollective::kBroadcast},
    {"BARRIER", Kind::kCollective, kColl, EtCollective::kBarrier},
    {"one_comm_send_node", Kind::kMemory, EtNodeType::kCommSend, kNoCollective},
    {"one_comm_recv_node", Kind::kMemory, EtNodeType::kCommRecv, kNoCollective},
};

// ---- A node with an attribute of every kind ----

constexpr uint64_t Bits(int64_t number) { return static_cast<uint64_t>(number); }

// The values of the list.
std::vector<uint64_t> NumbersOf(EtScalar scalar) {
  switch (scalar) {
    case EtScalar::kDouble:
      return {std::bit_cast<uint64_t>(1.2345), std::bit_cast<uint64_t>(2.3456)};
    case EtScalar::kFloat:
      return {std::bit_cast<uint32_t>(1.2345F), std::bit_cast<uint32_t>(2.3456F)};
    case EtScalar::kInt32:
    case EtScalar::kUint32:
    case EtScalar::kFixed32:
      return {12345, 23456};
    case EtScalar::kInt64:
    case EtScalar::kUint64:
    case EtScalar::kFixed64:
      return {9876543210, 1234567890};
    case EtScalar::kSint32:
    case EtScalar::kSfixed32:
      return {12345, Bits(-23456)};
    case EtScalar::kSint64:
    case EtScalar::kSfixed64:
      return {9876543210, Bits(-1234567890)};
    case EtScalar::kBool:
      return {1, 0, 1, 0, 1, 0, 1, 0, 1, 0};
    case EtScalar::kString:
    case EtScalar::kBytes:
      break;
  }
  return {12345, 12346, 12347, 12348, 12349, 12350, 12351, 12352, 12353, 12354};
}

bool IsNegative(EtScalar scalar) {
  return scalar == EtScalar::kSint32 || scalar == EtScalar::kSint64 ||
         scalar == EtScalar::kSfixed32 || scalar == EtScalar::kSfixed64;
}

// Whether the reference has a description for it.
bool HasDoc(EtScalar scalar) {
  return scalar <= EtScalar::kSint64 || scalar == EtScalar::kBool || scalar == EtScalar::kString;
}

// Owns what the attributes point to.
class SampleAttributes {
 public:
  std::vector<EtAttr> Make() {
    std::vector<EtAttr> attrs;
    attrs.reserve(size_t{2} * kEtScalars);
    for (uint32_t i = 0; i < kEtScalars; ++i) {
      const auto scalar = static_cast<EtScalar>(i);
      const std::vector<EtAttr> values = ValuesOf(scalar);
      EtAttr single = values.front();
      single.bits = IsNegative(scalar) ? 0 - single.bits : single.bits;
      single.name = EtValueName(single.field);
      single.name.remove_suffix(std::string_view("_val").size());
      single.doc = HasDoc(scalar) ? single.name : std::string_view();
      attrs.push_back(single);
      EtAttr list;
      list.field = EtValueField(scalar, true);
      list.name = EtValueName(list.field);
      list.bytes = texts_.emplace_back(EncodeList(values));
      attrs.push_back(list);
    }
    return attrs;
  }

 private:
  std::vector<EtAttr> ValuesOf(EtScalar scalar) {
    const bool is_text = scalar == EtScalar::kString || scalar == EtScalar::kBytes;
    std::vector<EtAttr> values;
    for (const uint64_t number : NumbersOf(scalar)) {
      EtAttr value;
      value.field = EtValueField(scalar);
      value.bits = is_text ? 0 : number;
      value.bytes = is_text ? texts_.emplace_back(std::to_string(number)) : std::string_view();
      values.push_back(value);
    }
    return values;
  }

  std::deque<std::string> texts_;
};

// ---- The files ----

class SampleWriter {
 public:
  SampleWriter(const SampleOptions& options, uint64_t& next_id, Sink& sink)
      : options_(options), next_id_(next_id), out_(sink) {
    EtMetadata metadata;
    metadata.version = "1.0.0";
    out_.Add(metadata);
  }

  void Put(const FamilyRow& family) {
    switch (family.kind) {
      case Kind::kAttributes:
        return PutAttributes();
      case Kind::kMemory:
        return PutMemory(family.type);
      case Kind::kComp:
        return PutComp(false);
      case Kind::kCompPair:
        PutComp(false);
        return PutComp(false);
      case Kind::kCompChain:
        PutComp(false);
        return PutComp(true);
      case Kind::kCollective:
        return PutCollective(family);
    }
  }

  Result<void> Finish() { return out_.Finish(); }

 private:
  void Start(std::string_view name, EtNodeType type) {
    node_.Clear();
    node_.id = next_id_++;
    node_.name = name;
    node_.type = type;
  }

  void PutAttributes() {
    Start(EtNodeTypeName(EtNodeType::kMetadata), EtNodeType::kMetadata);
    SampleAttributes attributes;
    node_.attrs = attributes.Make();
    out_.Add(node_);
  }

  void PutMemory(EtNodeType type) {
    Start(EtNodeTypeName(type), type);
    node_.attrs = {EtAttr::Bool("is_cpu_op", false),
                   EtAttr::Uint64("tensor_size", options_.tensor_bytes)};
    out_.Add(node_);
  }

  void PutComp(bool follows) {
    Start(EtNodeTypeName(EtNodeType::kComp), EtNodeType::kComp);
    node_.duration_us = options_.runtime_us;
    if (follows) {
      node_.data_deps = {node_.id - 1};
    }
    node_.attrs = {EtAttr::Bool("is_cpu_op", false)};
    out_.Add(node_);
  }

  void PutCollective(const FamilyRow& family) {
    const bool is_barrier = family.collective == EtCollective::kBarrier;
    Start(family.name, family.type);
    node_.attrs = {
        EtAttr::Bool("is_cpu_op", false),
        EtAttr::Int64("comm_type", static_cast<int64_t>(family.collective)),
        EtAttr::Int64("comm_size", is_barrier ? 0 : static_cast<int64_t>(options_.comm_bytes))};
    out_.Add(node_);
  }

  const SampleOptions& options_;
  uint64_t& next_id_;
  EtWriter out_;
  EtNode node_;
};

}  // namespace

size_t SampleFamilies() { return std::size(kFamilies); }

std::string_view SampleFamilyName(size_t family) { return kFamilies[family].name; }

Result<void> WriteSample(size_t family, const SampleOptions& options, uint64_t& next_id,
                         Sink& sink) {
  SampleWriter writer(options, next_id, sink);
  writer.Put(kFamilies[family]);
  return writer.Finish();
}

}  // namespace borescope::internal
