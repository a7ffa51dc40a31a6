// The sizes of each kind of program.
#include "tests/support/simulation/draws.h"
#include "tests/support/simulation/shapes.h"

namespace borescope::simulation {
namespace {

class Sizes {
 public:
  explicit Sizes(uint64_t seed) : seed_(seed) {}

  int64_t Between(int64_t low, int64_t high) {
    const double share = Uniform({.seed = seed_, .draw = Draw::kShape, .item = next_++});
    return low + static_cast<int64_t>(share * static_cast<double>(high - low + 1));
  }
  int32_t Count(int32_t low, int32_t high) { return static_cast<int32_t>(Between(low, high)); }
  bool OneIn(int64_t n) { return Between(1, n) == 1; }

 private:
  uint64_t seed_;
  int32_t next_ = 0;
};

void SetHostBound(Sizes& sizes, Shape* shape) {
  shape->layers = sizes.Count(3, 6);
  shape->kernel_ns = sizes.Between(2'000, 4'000);
  shape->host_ns = sizes.Between(12'000, 20'000);
  shape->reads_loss = sizes.OneIn(2);
}

// The launch queue is full after about three of the steps.
void SetDeviceBound(Sizes& sizes, Shape* shape) {
  shape->layers = sizes.Count(12, 16);
  shape->blocks = 3;
  shape->kernel_ns = sizes.Between(12'000, 20'000);
  shape->host_ns = sizes.Between(3'000, 6'000);
  shape->call_ns = sizes.Between(3'000, 4'500);
}

void SetDataBound(Sizes& sizes, Shape* shape) {
  shape->data_ns = sizes.Between(3'000'000, 6'000'000);
  shape->has_loader = sizes.OneIn(2);
  shape->kernel_ns = sizes.Between(8'000, 16'000);
  shape->reads_loss = sizes.OneIn(2);
}

void SetInference(Sizes& sizes, Shape* shape) {
  shape->has_backward = false;
  shape->layers = 0;
  shape->tokens = sizes.Count(4, 10);
  shape->graph_kernels = sizes.Count(30, 120);
  shape->kernel_ns = sizes.Between(2'000, 6'000);
}

void SetDdp(Sizes& sizes, Shape* shape) {
  shape->ranks = 4;
  shape->layers = sizes.Count(4, 8);
  shape->kernel_ns = sizes.Between(12'000, 24'000);
  shape->bucket_bytes = sizes.Between(4'000'000, 30'000'000);
  if (sizes.OneIn(3)) {
    shape->blocking_bytes = sizes.Between(1'000'000, 8'000'000);
  } else if (sizes.OneIn(2)) {
    shape->inline_bytes = sizes.Between(1'000'000, 8'000'000);
  }
  shape->waits_for_step = sizes.OneIn(2);
  if (sizes.OneIn(3)) shape->broadcast_bytes = 100'000;
}

void SetStreams(Sizes& sizes, Shape* shape) {
  shape->has_side_stream = true;
  shape->kernel_ns = sizes.Between(15'000, 30'000);
  shape->lanes = 1;
}

void SetCopies(Sizes& sizes, Shape* shape) {
  shape->reads_per_step = sizes.Count(2, 4);
  shape->pageable_bytes = sizes.Between(200'000, 2'000'000);
  shape->copies_wait = true;
  shape->reads_pageable = true;
  shape->kernel_ns = sizes.Between(6'000, 20'000);
  shape->reads_loss = true;
}

void SetRandom(Sizes& sizes, Shape* shape) {
  if (sizes.OneIn(6)) return SetDeviceBound(sizes, shape);
  shape->layers = sizes.Count(2, 8);
  shape->blocks = sizes.Count(1, 2);
  shape->kernel_ns = sizes.Between(3'000, 30'000);
  shape->host_ns = sizes.Between(4'000, 20'000);
  shape->call_ns = sizes.Between(3'000, 6'000);
  shape->data_ns = sizes.OneIn(3) ? sizes.Between(1'000'000, 4'000'000) : 200'000;
  shape->has_loader = sizes.OneIn(3);
  shape->reads_loss = sizes.OneIn(3);
  shape->waits_for_step = sizes.OneIn(4);
  shape->has_side_stream = sizes.OneIn(4);
  if (sizes.OneIn(4)) shape->reads_per_step = sizes.Count(1, 3);
  shape->reads_pageable = sizes.OneIn(3);
  shape->copies_wait = sizes.OneIn(6);
  if (sizes.OneIn(4)) shape->pageable_bytes = sizes.Between(200'000, 1'000'000);
  if (sizes.OneIn(4)) {
    shape->tokens = sizes.Count(1, 3);
    shape->graph_kernels = sizes.Count(20, 60);
  }
  if (sizes.OneIn(4)) {
    shape->ranks = sizes.Count(1, 2);
    shape->bucket_bytes = sizes.Between(4'000'000, 20'000'000);
    if (sizes.OneIn(3)) shape->blocking_bytes = sizes.Between(500'000, 4'000'000);
    if (sizes.OneIn(3)) shape->inline_bytes = sizes.Between(500'000, 4'000'000);
  }
}

}  // namespace

Shape MakeShape(const SimulationConfig& config) {
  Sizes sizes(config.seed);
  Shape shape;
  switch (config.program) {
    case ProgramKind::kHostBound:
      SetHostBound(sizes, &shape);
      break;
    case ProgramKind::kDeviceBound:
      SetDeviceBound(sizes, &shape);
      break;
    case ProgramKind::kDataBound:
      SetDataBound(sizes, &shape);
      break;
    case ProgramKind::kInference:
      SetInference(sizes, &shape);
      break;
    case ProgramKind::kDdp:
      SetDdp(sizes, &shape);
      break;
    case ProgramKind::kStreams:
      SetStreams(sizes, &shape);
      break;
    case ProgramKind::kCopies:
      SetCopies(sizes, &shape);
      break;
    case ProgramKind::kRandom:
    case ProgramKind::kCount:
      SetRandom(sizes, &shape);
      break;
  }
  shape.steps = config.steps;
  if (config.ranks > 0) shape.ranks = config.ranks;
  return shape;
}

}  // namespace borescope::simulation
