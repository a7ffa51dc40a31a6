// What is said about the process in its log.
#pragma once

#include <cstddef>
#include <cstdint>

#include "borescope/recording/log_format.h"
#include "core/options.h"
#include "core/text.h"

namespace borescope::inject {

// Fills in what does not depend on the file: process, machine, clocks and rank.
void DescribeHeader(recording::LogHeader* header);

// The rank of this process in a distributed job, by its variables; -1: none.
int32_t ReadRank();

// When this process began, in clock ticks since boot: field 22 of /proc/self/stat.
uint64_t ReadStartTime();

// A JSON object: argv, exe, host, the rank's variables, the container.
void DescribeProcess(const Options& options, TextBuilder* json);

// The name of the machine, with nothing that a file name cannot hold.
void AddHostName(TextBuilder* name);

struct Anchor {
  uint64_t mono_ns;
  uint64_t real_ns;
  uint64_t boot_ns;
  uint64_t half_width_ns;
};

// The same moment by three clocks: the tightest of some readings.
Anchor ReadAnchor();

}  // namespace borescope::inject
