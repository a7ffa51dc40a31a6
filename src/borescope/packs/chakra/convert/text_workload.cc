#include "borescope/packs/chakra/convert/text_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

#include "borescope/base/text/text.h"
#include "borescope/packs/chakra/et/et_stream.h"

namespace borescope::internal {

namespace {

struct ParallelismRow {
  std::string_view name;
  Parallelism id;
};
constexpr ParallelismRow kParallelisms[] = {{"MICRO", Parallelism::kMicro},
                                            {"DATA", Parallelism::kData},
                                            {"MODEL", Parallelism::kModel},
                                            {"HYBRID_DATA_MODEL", Parallelism::kDataModel},
                                            {"HYBRID_MODEL_DATA", Parallelism::kModelData},
                                            {"HYBRID_DLRM", Parallelism::kDlrm},
                                            {"HYBRID_DLRM_ENHANCED", Parallelism::kDlrm}};

constexpr std::string_view kCommTypes[] = {"ALLREDUCE", "ALLTOALL", "ALLGATHER", "REDUCESCATTER",
                                           "NONE"};

const ParallelismRow* FindParallelism(std::string_view word) {
  const auto* row = std::find_if(std::begin(kParallelisms), std::end(kParallelisms),
                                 [word](const ParallelismRow& item) { return item.name == word; });
  return row == std::end(kParallelisms) ? nullptr : row;
}

std::vector<std::string_view> WordsOf(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r\v\f";
  std::vector<std::string_view> words;
  for (;;) {
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    if (line.empty()) {
      return words;
    }
    words.push_back(line.substr(0, line.find_first_of(kBlanks)));
    line.remove_prefix(words.back().size());
  }
}

template <class Number>
bool ReadNumber(std::string_view word, Number& number) {
  const std::optional<Number> read = ParseNumber<Number>(word);
  number = read.value_or(Number());
  return read.has_value();
}

// Goes through the lines of a file; errors name the line.
class LineReader {
 public:
  LineReader(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  // False at the end. The empty piece after the last line break is not a line.
  bool Next() {
    if (rest_.empty()) {
      return false;
    }
    const size_t end = std::min(rest_.find('\n'), rest_.size());
    line_ = rest_.substr(0, end);
    words_ = WordsOf(line_);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    number_ += 1;
    return true;
  }

  const std::vector<std::string_view>& words() const { return words_; }
  Error ErrorHere(std::string_view cause, std::string remedy = {}) const {
    return {.code = ErrorCode::kCorrupt,
            .cause = fmt::format("{}: '{}'", cause, line_),
            .remedy = std::move(remedy),
            .file = name_,
            .line = number_};
  }

 private:
  std::string_view rest_;
  const std::string& name_;
  std::string_view line_;
  std::vector<std::string_view> words_;
  uint64_t number_ = 0;
};

constexpr size_t kColumns = 11;  // that are needed; the next one, the time of the update, is not

Result<TextPhase> ReadPhase(const LineReader& lines, size_t column) {
  TextPhase phase;
  phase.comm_type = lines.words()[column + 1];
  if (!ReadNumber(lines.words()[column], phase.compute_us) ||
      !ReadNumber(lines.words()[column + 2], phase.comm_bytes)) {
    return lines.ErrorHere("a time or size is not a number");
  }
  if (std::find(std::begin(kCommTypes), std::end(kCommTypes), phase.comm_type) ==
      std::end(kCommTypes)) {
    return lines.ErrorHere("unknown communication",
                           "ALLREDUCE, ALLTOALL, ALLGATHER, REDUCESCATTER and NONE are known");
  }
  return phase;
}

Result<TextLayer> ReadLayer(const LineReader& lines) {
  if (lines.words().size() < kColumns) {
    return lines.ErrorHere(fmt::format("a layer has {} columns", kColumns + 1));
  }
  TextLayer layer;
  layer.name = lines.words()[0];
  BS_ASSIGN(layer.forward, ReadPhase(lines, 2));
  BS_ASSIGN(layer.input_grad, ReadPhase(lines, 5));
  BS_ASSIGN(layer.weight_grad, ReadPhase(lines, 8));
  return layer;
}

Result<void> ReadHead(LineReader& lines, TextWorkload& workload) {
  const ParallelismRow* row =
      lines.Next() && !lines.words().empty() ? FindParallelism(lines.words()[0]) : nullptr;
  if (row == nullptr) {
    return lines.ErrorHere(
        "unknown parallelism",
        "MICRO, DATA, MODEL, HYBRID_DATA_MODEL, HYBRID_MODEL_DATA and HYBRID_DLRM are known");
  }
  workload.parallelism = row->id;
  const std::vector<std::string_view>& words = lines.words();
  if (row->id == Parallelism::kDlrm &&
      (words.size() < 2 || !ReadNumber(words[1], workload.last_bottom_layer))) {
    return lines.ErrorHere("the index of the last bottom layer is missing");
  }
  if (!lines.Next() || words.empty() || !ReadNumber(words[0], workload.declared_layers)) {
    return lines.ErrorHere("the number of layers is missing");
  }
  return {};
}

}  // namespace

bool LooksLikeTextWorkload(std::string_view text) {
  const std::vector<std::string_view> words = WordsOf(text.substr(0, text.find('\n')));
  return !words.empty() && FindParallelism(words[0]) != nullptr;
}

Result<TextWorkload> ParseTextWorkload(std::string text, const std::string& name) {
  TextWorkload workload;
  workload.text = std::move(text);
  LineReader lines(workload.text, name);
  BS_TRY(ReadHead(lines, workload));
  while (lines.Next()) {
    BS_ASSIGN(TextLayer layer, ReadLayer(lines));
    workload.layers.push_back(std::move(layer));
  }
  if (workload.parallelism == Parallelism::kDlrm && !workload.layers.empty() &&
      workload.layers[0].forward.comm_type != "ALLTOALL") {
    return Error{
        ErrorCode::kCorrupt, "the first layer of HYBRID_DLRM must have ALLTOALL forward", {}, name};
  }
  return workload;
}

// The order of work in a workload of ASTRA-sim 1.0, for each way to distribute a model. Nodes and
// their dependencies are in the order of the reference.

namespace {

using Handle = std::optional<uint64_t>;  // of a node that may be absent

// The latest nodes of one layer.
struct LayerNodes {
  Handle forward, forward_comm;
  Handle input_grad, input_grad_comm;
  Handle weight_grad, weight_grad_comm;
};

EtCollective CollectiveNamed(std::string_view type) {
  return type == "ALLTOALL"        ? EtCollective::kAllToAll
         : type == "ALLGATHER"     ? EtCollective::kAllGather
         : type == "REDUCESCATTER" ? EtCollective::kReduceScatter
                                   : EtCollective::kAllReduce;
}

class PassWriter {
 public:
  PassWriter(const TextWorkload& workload, uint64_t& next_id, Sink& sink)
      : workload_(workload),
        layers_(workload.layers),
        nodes_(workload.layers.size()),
        next_id_(next_id),
        out_(sink) {
    EtMetadata metadata;
    metadata.attrs = {EtAttr::String("schema", "1.0.2-chakra.1.0.0"),
                      EtAttr::String("input_file", workload.text)};
    out_.Add(metadata);
  }

  void Pass() {
    switch (workload_.parallelism) {
      case Parallelism::kMicro:
        return MicroPass();
      case Parallelism::kData:
        return DataPass();
      case Parallelism::kModel:
        return ModelPass();
      case Parallelism::kDataModel:
      case Parallelism::kModelData:
        return HybridPass();
      case Parallelism::kDlrm:
        return DlrmPass();
    }
  }

  Result<void> Finish() { return out_.Finish(); }

 private:
  void Put(std::initializer_list<Handle> deps) {
    node_.id = next_id_++;
    node_.name = name_;
    for (const Handle& dep : deps) {
      if (dep.has_value()) {
        node_.data_deps.push_back(*dep);
      }
    }
    out_.Add(node_);
  }

  Handle Comp(size_t layer, std::string_view phase, uint64_t us,
              std::initializer_list<Handle> deps) {
    node_.Clear();
    name_ = fmt::format("COMP_NODE_{}_{}", layers_[layer].name, phase);
    node_.type = EtNodeType::kComp;
    node_.duration_us = us;
    Put(deps);
    return node_.id;
  }

  Handle Comm(size_t layer, std::string_view infix, const TextPhase& phase,
              std::initializer_list<Handle> deps) {
    node_.Clear();
    name_ = fmt::format("COMM_COLL_NODE_{}{}_{}", layers_[layer].name, infix, phase.comm_type);
    node_.type = EtNodeType::kCommColl;
    node_.attrs = {
        EtAttr::Int64("comm_type", static_cast<int64_t>(CollectiveNamed(phase.comm_type))),
        EtAttr::Int64("comm_size", phase.comm_bytes)};
    Put(deps);
    return node_.id;
  }

  void Forward(size_t i, std::initializer_list<Handle> deps) {
    nodes_[i].forward = Comp(i, "FWD", layers_[i].forward.compute_us, deps);
  }
  void ForwardComm(size_t i) {
    nodes_[i].forward_comm = Comm(i, "", layers_[i].forward, {nodes_[i].forward});
  }
  void InputGrad(size_t i, std::initializer_list<Handle> deps) {
    nodes_[i].input_grad = Comp(i, "BWD_IG", layers_[i].input_grad.compute_us, deps);
  }
  void InputGradComm(size_t i, std::string_view infix, Handle dep) {
    nodes_[i].input_grad_comm = Comm(i, infix, layers_[i].input_grad, {dep});
  }
  void WeightGrad(size_t i, std::initializer_list<Handle> deps) {
    nodes_[i].weight_grad = Comp(i, "BWD_WG", layers_[i].weight_grad.compute_us, deps);
  }
  void WeightGradComm(size_t i, std::initializer_list<Handle> deps) {
    nodes_[i].weight_grad_comm = Comm(i, "", layers_[i].weight_grad, deps);
  }

  // The nodes before and after a layer; none at the ends.
  LayerNodes Before(size_t i) const { return i == 0 ? LayerNodes() : nodes_[i - 1]; }
  LayerNodes Behind(size_t i) const { return IsLast(i) ? LayerNodes() : nodes_[i + 1]; }
  bool IsLast(size_t i) const { return i + 1 == nodes_.size(); }

  void MicroPass() {
    for (size_t i = 0; i < layers_.size(); ++i) {
      WeightGradComm(i, {});
    }
  }

  void DataPass() {
    for (size_t i = 0; i < layers_.size(); ++i) {
      Forward(i, {Before(i).forward, nodes_[i].weight_grad_comm});
    }
    for (size_t i = layers_.size(); i-- > 0;) {
      WeightGrad(i, {IsLast(i) ? nodes_[i].forward : Behind(i).input_grad});
      WeightGradComm(i, {nodes_[i].weight_grad});
      if (i != 0) {
        InputGrad(i, {nodes_[i].weight_grad});
      }
    }
  }

  // The backward pass of a layer that is split by its inputs.
  void SplitInputGrad(size_t i, std::string_view infix) {
    if (IsLast(i)) {
      InputGrad(i, {nodes_[i].forward_comm});
    } else {
      InputGrad(i, {Behind(i).weight_grad, Behind(i).input_grad_comm});
    }
    const uint64_t from_the_end = layers_.size() - 1 - i;
    if (from_the_end + 1 != workload_.declared_layers) {
      InputGradComm(i, infix, nodes_[i].input_grad);
    }
    WeightGrad(i, {nodes_[i].input_grad});
  }

  void ModelPass() {
    for (size_t i = 0; i < layers_.size(); ++i) {
      Forward(i, {Before(i).forward_comm, nodes_[i].weight_grad});
      ForwardComm(i);
    }
    for (size_t i = layers_.size(); i-- > 0;) {
      SplitInputGrad(i, "");
    }
  }

  void HybridPass() {
    for (size_t i = 0; i < layers_.size(); ++i) {
      Forward(i, {nodes_[i].weight_grad_comm, Before(i).forward_comm});
      ForwardComm(i);
    }
    const bool is_data_model = workload_.parallelism == Parallelism::kDataModel;
    for (size_t i = layers_.size(); i-- > 0;) {
      SplitInputGrad(i, is_data_model ? "_IG_COMM_" : "");
      WeightGradComm(i, {nodes_[i].weight_grad});
    }
  }

  void DlrmPass() {
    for (size_t i = 0; i < layers_.size(); ++i) {
      const Handle last =
          nodes_[i].weight_grad_comm ? nodes_[i].weight_grad_comm : nodes_[i].weight_grad;
      const bool joins = i == workload_.last_bottom_layer;
      Forward(i, {last, Before(i).forward, joins ? nodes_[0].forward_comm : Handle()});
      if (layers_[i].forward.comm_type == "ALLTOALL") {
        ForwardComm(i);
      }
    }
    for (size_t i = layers_.size(); i-- > 0;) {
      DlrmBackward(i);
    }
  }

  void DlrmBackward(size_t i) {
    if (IsLast(i)) {
      WeightGrad(i, {nodes_[i].forward});
    } else {
      WeightGrad(i, {Behind(i).input_grad, nodes_[i].input_grad_comm});
    }
    if (layers_[i].weight_grad.comm_type != "NONE") {
      WeightGradComm(i, {nodes_[i].weight_grad});
    }
    if (i != 0) {
      InputGrad(i, {nodes_[i].weight_grad});
    }
    if (i == workload_.last_bottom_layer + 1) {
      InputGradComm(0, "", nodes_[i].input_grad);
    }
  }

  const TextWorkload& workload_;
  const std::vector<TextLayer>& layers_;
  std::vector<LayerNodes> nodes_;
  uint64_t& next_id_;
  EtWriter out_;
  EtNode node_;
  std::string name_;
};

}  // namespace

Result<uint64_t> WriteTextWorkload(const TextWorkload& workload, uint64_t passes, uint64_t& next_id,
                                   Sink& sink) {
  const uint64_t first = next_id;
  PassWriter writer(workload, next_id, sink);
  for (uint64_t pass = 0; pass < passes; ++pass) {
    writer.Pass();
  }
  BS_TRY(writer.Finish());
  return next_id - first;
}

}  // namespace borescope::internal
