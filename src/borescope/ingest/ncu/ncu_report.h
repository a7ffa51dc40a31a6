// Reports of Nsight Compute (.ncu-rep, .ncu-repz): docs/formats/counters.md. They are read without
// NVIDIA's code. The code of devices in them, which is most of their bytes, is passed over.
#pragma once

#include <string>
#include <string_view>

#include "borescope/base/diagnostics.h"
#include "borescope/base/result.h"
#include "borescope/ingest/ncu/forward_bytes.h"
#include "borescope/trace/counter_report.h"

namespace borescope::internal {

// Whether the first bytes of a file, inflated, are those of a report.
bool IsNcuReport(std::string_view begin);

// Reads a report to its end. What is odd is counted in `diagnostics`; an Error if it is no report,
// has an unknown version and no kernel, or more names or metrics than any report has. `name` is the
// name of the file.
Result<CounterReport> ReadNcuReport(ForwardBytes& bytes, const std::string& name,
                                    Diagnostics& diagnostics);

// What all readers of counters end with: sorts the values of kernels by metric, keeps the first of
// each, takes durations from gpu__time_duration.sum, and counts the metrics that some kernels have
// no value of, with their names.
void FinishReport(CounterReport& report, Diagnostics& diagnostics);

}  // namespace borescope::internal
