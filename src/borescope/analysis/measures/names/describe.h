// Short texts about events and devices, for people.
#pragma once

#include <string>
#include <string_view>

#include "borescope/trace/trace.h"

namespace borescope::internal {

// The model name, or for drivers that report none a description: "(unnamed, 304 CUs, gfx9.4)".
std::string DeviceName(const DeviceInfo& device, Vendor vendor);

// All visible devices, equal ones counted: "8 x NVIDIA A100-SXM4-80GB".
std::string DescribeDevices(const Meta& meta);
// The same for the devices with work, or for all if none has.
std::string DescribeUsedDevices(const Trace& trace);

// At most `longest` bytes of a name, cut between letters; "..." replaces the rest.
std::string ShortenedName(std::string_view name, size_t longest);

// "1682725898094192.250 us": a timestamp on the file's clock, exactly.
std::string FormatTimestamp(int64_t ts_ns);

// "12.3 ms", "45.6 %", "1,234".
std::string FormatTime(int64_t ns);
std::string FormatShare(double share);
std::string FormatCount(int64_t count);
// "1 launch", "2,000 launches".
std::string FormatCount(int64_t count, std::string_view one, std::string_view many);

// The name of a C++ function without return type and without the arguments of templates and
// functions, so that all instances of a template have the same name.
// "void at::native::f<4, int>(int, char*)" becomes "at::native::f". Names that are not functions
// ("Memcpy HtoD (Pageable -> Device)", "train.py(12): main", "my step (1)") stay as they are, and
// so does "(anonymous namespace)".
std::string ShortName(std::string_view name);

}  // namespace borescope::internal
