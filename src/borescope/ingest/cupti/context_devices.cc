#include "borescope/ingest/cupti/context_devices.h"

namespace borescope::internal {
namespace {

bool IsNumber(int64_t number) { return number != kMissing && number >= 0; }

}  // namespace

void ContextDevices::Note(Numbers& numbers, std::pair<int64_t, int64_t> key, int64_t device,
                          Source source) {
  const auto [place, is_new] = numbers.try_emplace(key, Known{device, source, false});
  Known& known = place->second;
  if (is_new || source > known.source) {
    return;
  }
  if (source < known.source) {
    known = {device, source, false};
  } else if (known.device != device) {
    known.is_disputed = true;
  }
}

void ContextDevices::Learn(const Place& place, int64_t device, Source source) {
  const std::tuple row(place.process, place.context, place.stream, device, source);
  if (!IsNumber(device) || row == last_) {
    return;
  }
  last_ = row;
  if (IsNumber(place.context)) {
    Note(contexts_, {place.process, place.context}, device, source);
  }
  if (IsNumber(place.stream)) {
    Note(streams_, {place.process, place.stream}, device, source);
  }
}

int64_t ContextDevices::Find(const Place& place, int64_t recorded) const {
  if (const auto known = contexts_.find({place.process, place.context});
      known != contexts_.end() && !known->second.is_disputed) {
    return known->second.device;
  }
  const auto known = streams_.find({place.process, place.stream});
  return known == streams_.end() || known->second.is_disputed ? recorded : known->second.device;
}

}  // namespace borescope::internal
