#include "borescope/analysis/measures/names/name_patterns.h"

#include <fmt/format.h>
#include <re2/re2.h>
#include <simdjson.h>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/base/within_memory.h"
#include "borescope/json/json_document.h"

namespace borescope::internal {
namespace {

Error NoPatterns(std::string_view cause) {
  return {ErrorCode::kInvalidArgument, std::string(cause),
          "write {\"category\": [\"expression\", ...], ...}"};
}

// RE2 reads UTF-8, as names are made valid UTF-8 when they are read. Of other bytes it matches
// none.
Result<std::unique_ptr<re2::RE2>> Compile(std::string_view category, std::string_view expression) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  AskForMemory(kExpressionBytes);
  auto compiled = std::make_unique<re2::RE2>(expression, options);
  if (!compiled->ok()) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("category \"{}\": '{}' is no regular expression of RE2: {}", category,
                             expression, compiled->error())};
  }
  return compiled;
}

}  // namespace

NamePatterns::NamePatterns() = default;
NamePatterns::~NamePatterns() = default;
NamePatterns::NamePatterns(NamePatterns&&) noexcept = default;
NamePatterns& NamePatterns::operator=(NamePatterns&&) noexcept = default;

Result<NamePatterns> NamePatterns::Parse(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  if (const auto error = ParseDocument(parser, json, document)) {
    return NoPatterns(fmt::format("no JSON ({})", simdjson::error_message(error)));
  }
  simdjson::dom::object categories;
  if (document.get(categories) != simdjson::SUCCESS) {
    return NoPatterns("no JSON object");
  }
  NamePatterns result;
  for (const auto& [key, value] : categories) {
    simdjson::dom::array expressions;
    if (value.get(expressions) != simdjson::SUCCESS) {
      return NoPatterns(fmt::format("category \"{}\" has no list of expressions", key));
    }
    result.categories_.emplace_back(key);
    for (const simdjson::dom::element one : expressions) {
      std::string_view text;
      if (one.get(text) != simdjson::SUCCESS) {
        return NoPatterns(fmt::format("category \"{}\": an expression is no text", key));
      }
      BS_ASSIGN(std::unique_ptr<re2::RE2> compiled, Compile(key, text));
      result.patterns_.emplace_back(result.categories_.size() - 1, std::move(compiled));
    }
  }
  return result;
}

std::string_view NamePatterns::CategoryOf(std::string_view name) const {
  for (auto pattern = patterns_.rbegin(); pattern != patterns_.rend(); ++pattern) {
    if (re2::RE2::PartialMatch(name, *pattern->second)) {
      return categories_[pattern->first];
    }
  }
  return kNoCategory;
}

bool HasPatterns(const Params& params) { return params.Content(kPatternsParam) != nullptr; }

Result<NamePatterns> PatternsOf(const Params& params) {
  Result<NamePatterns> patterns = NamePatterns::Parse(*params.Content(kPatternsParam));
  if (!patterns.ok()) {
    return OfParameter("patterns", InFile(params.Text(kPatternsParam), patterns.error()));
  }
  return patterns;
}

Result<void> CheckPatterns(const Params& params) {
  if (HasPatterns(params)) {
    BS_TRY(PatternsOf(params));
  }
  return {};
}

}  // namespace borescope::internal
