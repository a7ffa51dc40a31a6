// What a roofline shows: points of operators and the peaks of their device. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "borescope/table/display/view.h"
#include "borescope/table/table.h"

namespace borescope::internal {

struct RooflinePoint {
  double intensity = 0;  // FLOP per byte, above zero
  double rate = 0;       // TFLOP/s, above zero
  double weight = 0;     // time, 1 for the largest
  std::string name;
  std::string tip;
};

struct Roof {
  std::string name;  // data types with this peak: "fp16, bf16"
  double tflops = 0;
};

struct Roofline {
  std::vector<RooflinePoint> points;  // the largest first
  std::vector<Roof> roofs;            // one for each peak, of the first device
  double memory_gbps = 0;             // 0 when unknown
  std::string device;
};

// The peaks come from the table `roofs`, where there is one.
Roofline MakeRoofline(const Table& table, const ViewSpec& view, std::span<const Table> tables);

}  // namespace borescope::internal
