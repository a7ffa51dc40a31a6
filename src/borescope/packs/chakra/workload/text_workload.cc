#include "borescope/packs/chakra/workload/text_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "borescope/base/text/text.h"

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

  // False at the end. The empty piece behind the last line break is no line.
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
    return lines.ErrorHere("a time or size is no number");
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

}  // namespace borescope::internal
