#include "borescope/packs/hta/frame.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kStepPrefix = "ProfilerStep#";

// The double nearest to ns / 1000, as if the decimal text had been parsed: 64 bits of mantissa are
// enough that rounding twice makes no difference.
double Microseconds(int64_t ns) {
  const int64_t whole = ns / 1000;
  const int64_t rest = ns % 1000;
  return static_cast<double>(static_cast<long double>(whole) +
                             static_cast<long double>(rest) / 1000.0L);
}

bool AnyFraction(const ColumnData<int64_t>& times) {
  return std::any_of(times.begin(), times.end(), [](int64_t ns) { return ns % 1000 != 0; });
}

bool IsStepName(std::string_view name) {
  return name.starts_with(kStepPrefix) && name.size() > kStepPrefix.size() &&
         name[kStepPrefix.size()] >= '0' && name[kStepPrefix.size()] <= '9';
}

}  // namespace

HtaFrame::HtaFrame(const RankView& view, Steps steps)
    : view_(view),
      steps_(view.trace.strings().size(), 0),
      includes_last_(steps == Steps::kIncludeLast),
      last_us_(-std::numeric_limits<double>::infinity()) {
  FindFractions();
  FindCorrelations();
  FindSteps();
  if (filter_ && steps != Steps::kAll) {
    FindLastMoment();
    FindKeptCorrelations();
  } else {
    filter_ = false;
  }
}

void HtaFrame::FindFractions() {
  fractions_ = AnyFraction(trace().host().ts_ns) || AnyFraction(trace().host().dur_ns) ||
               AnyFraction(trace().device().ts_ns) || AnyFraction(trace().device().dur_ns);
}

HtaTimes HtaFrame::Shrunk(int64_t ts_ns, int64_t dur_ns) const {
  HtaTimes times{Microseconds(ts_ns), Microseconds(dur_ns)};
  if (fractions_) {
    const double end = std::floor(times.end_us());
    times.ts_us = std::ceil(times.ts_us);
    times.dur_us = end - times.ts_us;
  }
  return times;
}

HtaTimes HtaFrame::TimesOf(HostId id) const {
  return Shrunk(trace().host().ts_ns[id.value], trace().host().dur_ns[id.value]);
}

HtaTimes HtaFrame::TimesOf(DeviceId id) const {
  return Shrunk(trace().device().ts_ns[id.value], trace().device().dur_ns[id.value]);
}

int64_t HtaFrame::StreamOf(DeviceId id) const {
  const uint32_t detail = trace().device().detail[id.value];
  switch (trace().device().kind[id.value]) {
    case DeviceKind::kSync:
      return detail == kNoDetail ? -1 : std::max<int64_t>(-1, trace().syncs().stream[detail]);
    case DeviceKind::kAnnotation:
    case DeviceKind::kRange:
    case DeviceKind::kOther:
      return -1;
    case DeviceKind::kKernel:
      return IsWithoutStream(detail) ? -1 : trace().StreamOf(id);
    default:
      return trace().StreamOf(id);
  }
}

// Some rows of MTIA have no args.stream, and HTA takes none from the line of the event.
bool HtaFrame::IsWithoutStream(uint32_t kernel) const {
  return kernel != kNoDetail && trace().kernels().has_stream[kernel] == 0;
}

int64_t HtaFrame::CorrelationOf(DeviceId id) const {
  return std::max<int64_t>(-1, trace().device().correlation[id.value]);
}

int64_t HtaFrame::CorrelationOf(HostId id) const {
  const HostEvents& host = trace().host();
  if (host.kind[id.value] != HostKind::kRuntime || host.detail[id.value] == kNoDetail) {
    return -1;
  }
  return std::max<int64_t>(-1, trace().runtime_calls().correlation[host.detail[id.value]]);
}

bool HtaFrame::IsDeviceSide(DeviceId id) const {
  const std::string_view name = trace().Name(id);
  return (StreamOf(id) >= 0 && CorrelationOf(id) >= 0) || name == "Event Sync" ||
         name == "Context Sync";
}

bool HtaFrame::IsBefore(HostId a, HostId b) const {
  const HostEvents& host = trace().host();
  return host.position.empty() ? host.ts_ns[a.value] < host.ts_ns[b.value]
                               : host.position[a.value] < host.position[b.value];
}

void HtaFrame::FindCorrelations() {
  const HostEvents& host = trace().host();
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    const int64_t number = CorrelationOf(HostId{row});
    if (number < 0) {
      continue;
    }
    HostId& last = launches_[number];
    if (!last.valid() || !IsBefore(HostId{row}, last)) {
      last = HostId{row};
    }
  }
  for (uint32_t row = 0; row < trace().device().size(); ++row) {
    CheckStopAt(row);
    if (IsDeviceSide(DeviceId{row})) {
      device_numbers_[CorrelationOf(DeviceId{row})] = 1;
    }
  }
}

HostId HtaFrame::LaunchOf(DeviceId id) const {
  const auto found = launches_.find(CorrelationOf(id));
  return found == launches_.end() ? HostId() : found->second;
}

int64_t HtaFrame::StepNumberOf(std::string_view name) {
  int64_t number = -1;
  name.remove_prefix(std::min(kStepPrefix.size(), name.size()));
  std::from_chars(name.data(), name.data() + name.size(), number);
  return number;
}

void HtaFrame::FindSteps() {
  int distinct = 0;
  const auto look_at = [&](std::span<const StringId> names) {
    for (const StringId name : names) {
      if (steps_[name.value] == 0 && IsStepName(trace().Text(name))) {
        steps_[name.value] = 1;
        ++distinct;
      }
    }
  };
  look_at(std::span(trace().host().name).first(trace().host().size()));
  look_at(trace().device().name);
  filter_ = distinct >= 2;
}

// The start of the last step. HTA means its end if that one is to be kept, but compares it with
// times from which the first of the file was subtracted.
void HtaFrame::FindLastMoment() {
  const HostEvents& host = trace().host();
  const DeviceEvents& device = trace().device();
  double first_us = std::numeric_limits<double>::infinity();
  const auto look_at = [&](const HtaTimes& times, bool is_step) {
    first_us = std::min(first_us, times.ts_us);
    if (is_step) {
      last_us_ = std::max(last_us_, includes_last_ ? times.end_us() : times.ts_us);
    }
  };
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    look_at(TimesOf(HostId{row}), IsStep(host.name[row]));
  }
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    look_at(TimesOf(DeviceId{row}), IsStep(device.name[row]) && !IsDeviceSide(DeviceId{row}));
  }
  last_us_ += includes_last_ ? first_us : 0;
}

bool HtaFrame::StartsInTime(int64_t ts_ns) const {
  const double ts_us = Shrunk(ts_ns, 0).ts_us;
  return includes_last_ ? ts_us <= last_us_ : ts_us < last_us_;
}

HtaFrame::Steps HtaFrame::StepsOf(const Params& params) {
  return params.Flag(kIncludeLastStepParam) ? Steps::kIncludeLast : Steps::kFiltered;
}

void HtaFrame::FindKeptCorrelations() {
  const HostEvents& host = trace().host();
  const DeviceEvents& device = trace().device();
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    const int64_t number = CorrelationOf(HostId{row});
    if (number >= 0 && StartsInTime(host.ts_ns[row])) {
      ++kept_numbers_[number];
    }
  }
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    if (!IsDeviceSide(DeviceId{row}) && CorrelationOf(DeviceId{row}) >= 0 &&
        StartsInTime(device.ts_ns[row])) {
      ++kept_numbers_[CorrelationOf(DeviceId{row})];
    }
  }
}

bool HtaFrame::Keeps(HostId id) const {
  return !filter_ || StartsInTime(trace().host().ts_ns[id.value]);
}

int64_t HtaFrame::Repeats(DeviceId id) const {
  if (!filter_) {
    return 1;
  }
  if (!IsDeviceSide(id)) {
    return StartsInTime(trace().device().ts_ns[id.value]) ? 1 : 0;
  }
  const auto found = kept_numbers_.find(CorrelationOf(id));
  return found == kept_numbers_.end() ? 0 : found->second;
}

}  // namespace borescope::internal
