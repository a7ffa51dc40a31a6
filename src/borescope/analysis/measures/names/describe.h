// Short texts about events and devices, for people.
#pragma once

#include <string>
#include <string_view>

#include "borescope/trace/trace.h"

namespace borescope::internal {

// The model name; for drivers that report none what is known instead: "(unnamed, 304 CUs, gfx9.4)".
std::string DeviceName(const DeviceInfo& device, Vendor vendor);

// All visible devices, equal ones counted: "8 x NVIDIA A100-SXM4-80GB".
std::string DescribeDevices(const Meta& meta);
// The same of those that worked; of all where none did.
std::string DescribeUsedDevices(const Trace& trace);

// At most `longest` bytes of a name, whole letters only; "..." stands for the rest.
std::string ShortenedName(std::string_view name, size_t longest);

// "1682725898094192.250 us": a moment on the file's clock, exactly.
std::string FormatTimestamp(int64_t ts_ns);

// "12.3 ms", "45.6 %", "1,234".
std::string FormatTime(int64_t ns);
std::string FormatShare(double share);
std::string FormatCount(int64_t count);
// "1 launch", "2,000 launches".
std::string FormatCount(int64_t count, std::string_view one, std::string_view many);

// Names of C++ functions without what makes one function many: the arguments of templates and
// functions, and the return type.

// "void at::native::f<4, int>(int, char*)" is "at::native::f". Names that are no function ("Memcpy
// HtoD (Pageable -> Device)", "train.py(12): main", "my step (1)") stay as they are, and so does
// "(anonymous namespace)".
std::string ShortName(std::string_view name);

}  // namespace borescope::internal
