// Facts about processes and the machine, from /proc.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace borescope::internal {

// The clocks of a recording.

// Nanoseconds of CLOCK_MONOTONIC, by which all records of a machine are timed.
uint64_t MonotonicNow();

// One instant by three clocks; off by at most `half_width_ns`.
struct ClockReading {
  uint64_t mono_ns = 0;
  uint64_t real_ns = 0;
  uint64_t boot_ns = 0;
  uint64_t half_width_ns = 0;
};
ClockReading ReadClocks();

// The machine since its last start; all zeros if unknown.
std::array<uint8_t, 16> BootId();

std::string HostName();

// The name of the host as it may be part of a file's name.
std::string HostFileName();

// The machine since its last start (by BootId) and its name: LogHeader::host_hash.
uint64_t HostHash(const std::array<uint8_t, 16>& boot);

// The text of a file of the system, such as those of /proc; empty if it cannot be read, as where
// its process ended meanwhile. Any thread.
std::string SystemText(const std::string& path);

// When a process began, in clock ticks since boot: field 22 of /proc/PID/stat; nothing for a
// process that has ended.
std::optional<uint64_t> StartTimeOf(int64_t pid);

// Whether the process that began then still runs. Where either is not known (a start time of 0, or
// /proc hides the process, is not mounted, or no descriptors are left), any process of that number
// counts as the one: of what is alive nothing may be removed. Any thread.
bool StillRuns(int64_t pid, uint64_t start_time);

}  // namespace borescope::internal
