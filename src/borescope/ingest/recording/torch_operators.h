// Operators of PyTorch that its NVTX observer wrote as ranges: which texts are operators rather
// than ranges of the program, and which operators run backward, for whom.
//
// The texts do not hold the thread of the forward pass, so it is found: it is that of the last
// operator before with the same sequence number. Numbers count per thread, so in a process whose
// threads train at the same time it can be another thread's.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/ingest/cupti/nvtx_text.h"
#include "borescope/ingest/recording/recording_trace.h"

namespace borescope::internal {

class TorchOperators {
 public:
  explicit TorchOperators(RecordingTrace& trace) : trace_(trace) {}

  // Whether a text with the number of a call is an operator: all but ranges of the program that
  // PyTorch numbers, too (record_function). `around` is the name of the range that it is in.
  static bool IsOperator(const OperatorText& op, std::string_view around);

  // The range that something is in: its name and, if it is an operator, its detail.
  struct Around {
    std::string_view name;
    uint32_t detail = kNoDetail;
  };

  // An operator that begins now, on the thread `tid`. The engine's call of a node of the backward
  // pass gets the number of that node, which its own text does not say.
  void Add(const OperatorText& op, uint32_t detail, int64_t ts_ns, uint32_t tid,
           const Around& around);

  // Once all are known: backward operators get the thread of their forward pass.
  void Finish();

 private:
  struct Numbered {
    int64_t sequence;
    int64_t ts_ns;
    uint32_t tid;
    uint32_t detail;
    bool is_backward;
  };

  RecordingTrace& trace_;
  std::vector<Numbered> operators_;
};

}  // namespace borescope::internal
