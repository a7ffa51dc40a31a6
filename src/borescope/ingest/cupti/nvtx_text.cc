#include "borescope/ingest/cupti/nvtx_text.h"

#include <algorithm>

#include "borescope/json/number.h"
#include "borescope/trace/columns.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kSequence = ", seq = ";
constexpr std::string_view kOpId = ", op_id = ";
constexpr std::string_view kSizes = ", sizes = ";
constexpr std::string_view kXla = "Xla";
constexpr std::string_view kXlaModule = "XlaModule";
constexpr std::string_view kXlaFields = ":#";
constexpr std::string_view kXlaOperation = "Thunk:#";
constexpr std::string_view kXlaKeys[] = {
    "name=", "hlo_op=", "unique_hlo_op_id=", "hlo_module=", "module=", "prefix=", "program_id="};

int64_t NumberAt(std::string_view text) {
  const ParsedNumber number = ParseInteger(text.substr(0, text.find(',')));
  return number.status == NumberStatus::kOk ? number.value : kMissing;
}

// The list at the start of `text`, its brackets closed; empty when there is none.
std::string_view ListAt(std::string_view text) {
  int open = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    open += text[i] == '[' ? 1 : 0;
    open -= text[i] == ']' ? 1 : 0;
    if (open == 0) {
      return text[i] == ']' ? text.substr(0, i + 1) : std::string_view();
    }
  }
  return {};
}

// The first comma at or after `from` which the key follows.
size_t FindXlaKey(std::string_view fields, std::string_view key, size_t from) {
  for (size_t comma = fields.find(',', from); comma != std::string_view::npos;
       comma = fields.find(',', comma + 1)) {
    if (fields.substr(comma + 1).starts_with(key)) return comma;
  }
  return std::string_view::npos;
}

// The value of a key up to the next key that is known: scopes may hold commas.
std::string_view XlaValue(std::string_view fields, std::string_view key) {
  size_t begin = 0;
  if (!fields.starts_with(key)) {
    begin = FindXlaKey(fields, key, 0);
    if (begin == std::string_view::npos) return {};
    ++begin;
  }
  begin += key.size();
  size_t end = fields.size();
  for (const std::string_view other : kXlaKeys) {
    end = std::min(end, FindXlaKey(fields, other, begin));
  }
  return fields.substr(begin, end - begin);
}

}  // namespace

std::optional<XlaText> ParseXlaText(std::string_view text) {
  const bool is_operation = text.starts_with(kXlaOperation);
  if (!text.ends_with('#') || (!is_operation && !text.starts_with(kXla))) {
    return std::nullopt;
  }
  const size_t fields_at = text.find(kXlaFields);
  if (fields_at >= text.size() - kXlaFields.size()) {
    return std::nullopt;
  }
  const std::string_view word = text.substr(0, fields_at);
  text.remove_prefix(fields_at + kXlaFields.size());
  const std::string_view fields = text.substr(0, text.size() - 1);
  XlaText xla;
  if (is_operation) {
    xla.operation = XlaValue(fields, "hlo_op=");
    xla.scope = XlaValue(fields, "name=");
  } else if (word == kXlaModule) {
    xla.annotation = XlaValue(fields, "hlo_module=");
  } else {
    std::string_view about = XlaValue(fields, "name=");
    about = about.empty() ? XlaValue(fields, "module=") : about;
    if (!about.empty()) {
      xla.annotation.append(word).append(":").append(about);
    }
  }
  return xla.annotation.empty() && xla.operation.empty() ? std::nullopt : std::optional(xla);
}

std::optional<OperatorText> ParseOperatorText(std::string_view text) {
  const size_t sequence = text.find(kSequence);
  const size_t op_id = text.find(kOpId);
  OperatorText op;
  if (sequence != std::string_view::npos) {
    op.sequence = NumberAt(text.substr(sequence + kSequence.size()));
  }
  if (op_id != std::string_view::npos) {
    op.op_id = NumberAt(text.substr(op_id + kOpId.size()));
  }
  const size_t end = std::min(sequence, op_id);
  if (end == 0 || (op.sequence == kMissing && op.op_id == kMissing)) {
    return std::nullopt;
  }
  op.name = text.substr(0, end);
  const size_t sizes = text.find(kSizes, end);
  if (sizes != std::string_view::npos) {
    op.sizes = ListAt(text.substr(sizes + kSizes.size()));
  }
  return op;
}

uint32_t AddOperator(TracePart& part, const OperatorText& op) {
  Ops& ops = part.data.ops;
  const uint32_t row = AddMissingRow(ops);
  ops.sequence[row] = op.sequence;
  ops.input_dims[row] = part.Intern(op.sizes);
  return row;
}

}  // namespace borescope::internal
