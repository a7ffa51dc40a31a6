// Reports of Nsight Compute (.ncu-rep, .ncu-repz): docs/formats/counters.md. They are read without
// NVIDIA's code. The code of devices in them, which is most of their bytes, is passed over.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "borescope/base/diagnostics.h"
#include "borescope/base/io/byte_source.h"
#include "borescope/base/io/stored_bytes.h"
#include "borescope/base/result.h"
#include "borescope/trace/counter_report.h"

namespace borescope::internal {

// Whether the first bytes of a file, inflated, are those of a report.
bool IsNcuReport(std::string_view begin);

// Bytes in their order, of which many are passed over. Used by one thread.
class ForwardBytes {
 public:
  virtual ~ForwardBytes() = default;

  // The next `count` bytes, valid until the next call; nothing if there are not as many, or reading
  // failed.
  virtual std::optional<std::string_view> Take(uint64_t count) = 0;
  // Passes over `count` bytes; false if there are not as many.
  virtual bool Skip(uint64_t count) = 0;
  // Whether all bytes were taken or passed over.
  virtual bool AtEnd() = 0;
  // A failure of reading, which is no end.
  virtual std::optional<Error> error() const { return std::nullopt; }
};

// Of an ordinary file or of memory: what is passed over is never read.
std::unique_ptr<ForwardBytes> OpenForward(StoredBytes bytes);
// Of a compressed file or a pipe, which is read to its end. The source must outlive it.
std::unique_ptr<ForwardBytes> OpenForward(ByteSource& source);

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
