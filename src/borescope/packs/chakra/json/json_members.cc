#include "borescope/packs/chakra/json/json_members.h"

#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

namespace ondemand = simdjson::ondemand;
using simdjson::SUCCESS;

}  // namespace

std::string_view KeyOf(simdjson::ondemand::field& field) {
  const char* const raw = field.key().raw();
  const char* end = raw;
  while (*end != '"') {
    end += *end == '\\' ? 2 : 1;
  }
  return {raw, static_cast<size_t>(end - raw)};
}

bool RawOf(simdjson::ondemand::value& value, std::string_view& json) {
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
  json = WithoutSpaceBehind(value.raw_json_token());
  return true;
}

}  // namespace borescope::internal
