#include "borescope/ingest/recording/log_devices.h"

#include <algorithm>
#include <iterator>

#include "borescope/json/json_cursor.h"
#include "borescope/json/json_string.h"
#include "borescope/json/number.h"

namespace borescope::internal {
namespace {

struct NumberMember {
  std::string_view key;
  int64_t DeviceInfo::* member;
};
constexpr NumberMember kNumberMembers[] = {
    {"total_bytes", &DeviceInfo::total_bytes},
    {"multiprocessors", &DeviceInfo::multiprocessors},
    {"compute_major", &DeviceInfo::compute_major},
    {"compute_minor", &DeviceInfo::compute_minor},
    {"warp_size", &DeviceInfo::warp_size},
    {"max_threads_per_multiprocessor", &DeviceInfo::max_threads_per_multiprocessor},
};

void TakeMember(DeviceInfo& info, std::string_view key, std::string_view value) {
  if (key == "name" && IsString(value)) {
    info.name = StringText(value);
  }
  const auto* const row =
      std::find_if(std::begin(kNumberMembers), std::end(kNumberMembers),
                   [key](const NumberMember& number) { return number.key == key; });
  if (row != std::end(kNumberMembers)) {
    info.*row->member = LooseIntValue(value).value_or(kMissing);
  }
}

}  // namespace

void AddRecordedDevice(std::vector<DeviceInfo>& devices, uint32_t id, std::string_view text) {
  DeviceInfo info;
  info.id = id;
  JsonCursor cursor(text);
  std::string_view key;
  cursor.EnterObject();
  while (cursor.NextMember(key)) {
    TakeMember(info, key, cursor.Value());
  }
  devices.push_back(std::move(info));
}

SeriesName ParseSeriesName(std::string_view text) {
  const size_t first = text.find('/');
  const size_t second = first == std::string_view::npos ? first : text.find('/', first + 1);
  if (second == std::string_view::npos) {
    return {};
  }
  const ParsedNumber number = ParseInteger(text.substr(first + 1, second - first - 1));
  if (number.status != NumberStatus::kOk) {
    return {};
  }
  return {text.substr(0, first), number.value, text.substr(second + 1)};
}

}  // namespace borescope::internal
