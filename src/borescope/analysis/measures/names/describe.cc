#include "borescope/analysis/measures/names/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "borescope/analysis/core/selection/device_time.h"

namespace borescope::internal {

std::string DeviceName(const DeviceInfo& device, Vendor vendor) {
  if (!device.name.empty()) {
    return device.name;
  }
  const bool amd = vendor == Vendor::kAmd;
  std::string details;
  if (device.multiprocessors != kMissing) {
    details += fmt::format(", {} {}", device.multiprocessors, amd ? "CUs" : "SMs");
  }
  if (device.compute_major != kMissing && device.compute_minor != kMissing) {
    details +=
        fmt::format(", {}{}.{}", amd ? "gfx" : "sm", device.compute_major, device.compute_minor);
  }
  return "(unnamed" + details + ")";
}

std::string ShortenedName(std::string_view name, size_t longest) {
  if (name.size() <= longest) {
    return std::string(name);
  }
  const auto is_inside_letter = [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
  };
  size_t end = longest;
  while (end > 0 && is_inside_letter(name[end])) {
    --end;
  }
  return std::string(name.substr(0, end)) + "...";
}

std::string DescribeUsedDevices(const Trace& trace) {
  const Tracks& tracks = trace.tracks();
  std::set<int64_t> used;
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] == TrackKind::kDevice && HasDeviceWork(trace, track)) {
      used.insert(tracks.pid[track]);
    }
  }
  Meta meta;
  meta.vendor = trace.meta().vendor;
  std::copy_if(trace.meta().devices.begin(), trace.meta().devices.end(),
               std::back_inserter(meta.devices),
               [&](const DeviceInfo& device) { return used.contains(device.id); });
  return DescribeDevices(meta.devices.empty() ? trace.meta() : meta);
}

std::string DescribeDevices(const Meta& meta) {
  std::vector<std::pair<std::string, int>> kinds;
  for (const DeviceInfo& device : meta.devices) {
    const std::string name = DeviceName(device, meta.vendor);
    const auto found = std::find_if(kinds.begin(), kinds.end(),
                                    [&](const auto& kind) { return kind.first == name; });
    found == kinds.end() ? void(kinds.emplace_back(name, 1)) : void(++found->second);
  }
  std::string text;
  for (const auto& [name, count] : kinds) {
    text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", count, name);
  }
  return text;
}

std::string FormatTimestamp(int64_t ts_ns) {
  // A double would round moments on the Unix clock to a quarter of a microsecond.
  return fmt::format("{}{}.{:03} us", ts_ns < 0 ? "-" : "", std::abs(ts_ns / 1000),
                     std::abs(ts_ns % 1000));
}

std::string FormatTime(int64_t ns) {
  constexpr std::pair<double, std::string_view> kUnits[] = {
      {1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1.0, "ns"}};
  const auto value = static_cast<double>(ns);
  for (const auto& [scale, unit] : kUnits) {
    if (std::abs(value) >= scale && scale > 1.0) {
      return fmt::format("{:.{}f} {}", value / scale, std::abs(value) >= 100 * scale ? 0 : 1, unit);
    }
  }
  return fmt::format("{} ns", ns);
}

std::string FormatShare(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string FormatCount(int64_t count) {
  std::string digits = fmt::format("{}", count);
  for (size_t i = digits.size(); i > (count < 0 ? 4u : 3u); i -= 3) {
    digits.insert(i - 3, 1, ',');
  }
  return digits;
}

std::string FormatCount(int64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", FormatCount(count), count == 1 ? one : many);
}

}  // namespace borescope::internal
