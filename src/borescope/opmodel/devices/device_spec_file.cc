#include "borescope/opmodel/devices/device_spec_file.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "borescope/json/json_document.h"

namespace borescope::internal {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

constexpr double kMostPositive = 1e12;

// Reads one file; its members only say where an error is.
class Reader {
 public:
  explicit Reader(std::string_view file) : file_(file) {}

  Error Wrong(std::string_view key, std::string_view expected) const {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("\"{}\" must be {}", key, expected),
                 {},
                 std::string(file_)};
  }

  Result<double> Positive(std::string_view key, element value) const {
    double number = 0;
    if (value.get(number) != simdjson::SUCCESS || !(number > 0 && number <= kMostPositive)) {
      return Wrong(key, "a number above 0");
    }
    return number;
  }

  Result<std::string> Text(std::string_view key, element value) const {
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS || text.empty()) {
      return Wrong(key, "a text");
    }
    return std::string(text);
  }

  Result<object> Object(std::string_view key, element value) const {
    object members;
    if (value.get(members) != simdjson::SUCCESS) {
      return Wrong(key, "an object");
    }
    return members;
  }

  Error Unknown(std::string_view key, std::string_view known) const {
    return Error{ErrorCode::kInvalidArgument, fmt::format("unknown key \"{}\"", key),
                 fmt::format("use one of {}", known), std::string(file_)};
  }

  std::string_view file() const { return file_; }

 private:
  std::string_view file_;
};

std::optional<Peak> PeakOfKey(std::string_view key) {
  for (size_t i = 0; i < kPeakCount; ++i) {
    if (PeakName(static_cast<Peak>(i)) == key) {
      return static_cast<Peak>(i);
    }
  }
  return std::nullopt;
}

std::string KnownPeaks() {
  std::string known;
  for (size_t i = 0; i < kPeakCount; ++i) {
    known += (i == 0 ? "" : ", ");
    known += PeakName(static_cast<Peak>(i));
  }
  return known;
}

Result<void> ReadPeaks(const Reader& reader, element value, Ceilings& ceilings) {
  BS_ASSIGN(const object members, reader.Object("tflops", value));
  for (const auto& [key, number] : members) {
    const std::optional<Peak> peak = PeakOfKey(key);
    if (!peak.has_value()) {
      return reader.Unknown(key, KnownPeaks());
    }
    BS_ASSIGN(ceilings.tflops[static_cast<size_t>(*peak)], reader.Positive(key, number));
  }
  return {};
}

// True when the key is one of a set of ceilings, which was read.
Result<bool> ReadCeiling(const Reader& reader, std::string_view key, element value,
                         Ceilings& ceilings) {
  if (key == "tflops") {
    BS_TRY(ReadPeaks(reader, value, ceilings));
    return true;
  }
  if (key == "memory_gbps") {
    BS_ASSIGN(ceilings.memory_gbps, reader.Positive(key, value));
    return true;
  }
  return false;
}

Result<void> ReadMeasured(const Reader& reader, element value, Ceilings& ceilings) {
  BS_ASSIGN(const object members, reader.Object("measured", value));
  for (const auto& [key, member] : members) {
    BS_ASSIGN(const bool known, ReadCeiling(reader, key, member, ceilings));
    if (!known) {
      return reader.Unknown(key, "tflops, memory_gbps");
    }
  }
  return {};
}

Result<void> ReadMember(const Reader& reader, std::string_view key, element value,
                        DeviceSpec& spec) {
  BS_ASSIGN(const bool is_ceiling, ReadCeiling(reader, key, value, spec.peak));
  if (is_ceiling) {
    return {};
  }
  if (key == "name") {
    BS_ASSIGN(spec.name, reader.Text(key, value));
  } else if (key == "source") {
    BS_ASSIGN(spec.source, reader.Text(key, value));
  } else if (key == "memory_gb") {
    BS_ASSIGN(spec.memory_gb, reader.Positive(key, value));
  } else if (key == "sparsity") {
    BS_ASSIGN(spec.sparsity, reader.Positive(key, value));
  } else if (key == "measured") {
    return ReadMeasured(reader, value, spec.measured);
  } else {
    return reader.Unknown(key, "name, source, tflops, memory_gbps, memory_gb, sparsity, measured");
  }
  return {};
}

}  // namespace

Result<DeviceSpec> ParseDeviceSpec(std::string_view json, std::string_view file) {
  const Reader reader(file);
  simdjson::dom::parser parser;
  element document;
  object members;
  if (ParseDocument(parser, json, document) != simdjson::SUCCESS ||
      document.get(members) != simdjson::SUCCESS) {
    return Error{ErrorCode::kInvalidArgument,
                 "not a JSON object with the peaks of a device",
                 {},
                 std::string(file)};
  }
  DeviceSpec spec;
  spec.source = std::string(file);
  for (const auto& [key, value] : members) {
    BS_TRY(ReadMember(reader, key, value, spec));
  }
  if (spec.name.empty()) {
    return Error{ErrorCode::kInvalidArgument, "the key \"name\" is missing",
                 "give the device a name", std::string(file)};
  }
  return spec;
}

}  // namespace borescope::internal
