#include "borescope/ingest/rpd/rpd_markers.h"

#include <algorithm>
#include <iterator>

#include "borescope/json/number.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kKeys[] = {", seq = ", ", op_id = ", ", sizes = ", ", input_op_ids = "};

// The position of the first of the keys at or after `from`, or the end.
size_t FirstKey(std::string_view text, size_t from = 0) {
  size_t first = text.size();
  for (const std::string_view key : kKeys) {
    first = std::min(first, text.find(key, from));
  }
  return first;
}

// The value after `key`, up to the next key; empty if there is none.
std::string_view ValueOf(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) {
    return {};
  }
  const size_t begin = at + key.size();
  return text.substr(begin, FirstKey(text, begin) - begin);
}

int64_t NumberOf(std::string_view text, std::string_view key) {
  const ParsedNumber number = ParseInteger(ValueOf(text, key));
  return number.status == NumberStatus::kOk ? number.value : kMissing;
}

}  // namespace

MarkerText ParseMarker(std::string_view text) {
  MarkerText marker;
  const size_t name_end = FirstKey(text);
  marker.name = text.substr(0, name_end);
  marker.is_operator = name_end < text.size() || text.starts_with("aten::");
  if (name_end < text.size()) {
    const std::string_view values = text.substr(name_end);
    marker.sequence = NumberOf(values, kKeys[0]);
    marker.record_function_id = NumberOf(values, kKeys[1]);
    marker.sizes = ValueOf(values, kKeys[2]);
  }
  return marker;
}

bool IsMarkerName(std::string_view api_name) { return api_name == "UserMarker"; }

bool IsTracerName(std::string_view api_name) {
  constexpr std::string_view kNames[] = {"hcc_activity_callback", "rpdflush", "BLOCKING"};
  return std::find(std::begin(kNames), std::end(kNames), api_name) != std::end(kNames) ||
         api_name.ends_with("::writeRows") || api_name.ends_with("::buffer_callback");
}

}  // namespace borescope::internal
