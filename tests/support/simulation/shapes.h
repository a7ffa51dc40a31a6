// The kinds of program, made of a few parts whose sizes are drawn by the seed.
#pragma once

#include <cstdint>

#include "tests/support/simulation/config.h"
#include "tests/support/simulation/program.h"

namespace borescope::simulation {

// The sizes of a program. Times in ns; 0 or false: the program has no such part.
struct Shape {
  int32_t steps = 5;
  int32_t ranks = 1;
  int32_t layers = 4;
  int32_t blocks = 1;            // operators of each kind in a layer
  int64_t kernel_ns = 10'000;    // of a pointwise kernel; others are multiples
  int64_t host_ns = 12'000;      // of an operator, without the calls in it
  int64_t call_ns = 4'000;       // of a launch call
  int64_t data_ns = 200'000;     // to load a batch
  bool has_loader = false;       // in a process of its own, two batches ahead
  bool has_backward = true;      // in a thread of its own
  bool reads_loss = false;       // the host waits for a value at the end of each step
  bool waits_for_step = false;   // the host waits for the device at the end of each step
  int64_t bucket_bytes = 0;      // gradients summed over all ranks beside the backward pass
  int64_t blocking_bytes = 0;    // summed over pairs of ranks in each layer, work waits for it
  int64_t broadcast_bytes = 0;   // sent by rank 0 to all at the begin of each step
  int64_t inline_bytes = 0;      // likewise, on the stream of the work itself
  bool has_side_stream = false;  // half of each layer on a second stream
  int32_t reads_per_step = 0;    // values that the host reads back inside of the forward pass
  bool reads_pageable = false;   // by way of pageable memory, whose copies wait by themselves
  bool copies_wait = false;      // the batch is copied by a call that waits for the copy
  int64_t pageable_bytes = 0;    // copied to the device for each layer, from pageable memory
  int32_t tokens = 0;            // graph launches a step, each followed by a synchronisation
  int32_t graph_kernels = 0;
  int32_t lanes = 0;  // event synchronisation with the step before the last
};

// The sizes that a seed gives.
Shape MakeShape(const SimulationConfig& config);

// The program of these sizes.
Program MakeProgram(const Shape& shape);

}  // namespace borescope::simulation
