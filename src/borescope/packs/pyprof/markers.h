// The texts of the NVTX ranges that PyProf pushes around every call of PyTorch, and of the ranges
// users push for it. (Ranges of PyTorch itself, "conv2d, seq = 5", are operators of the trace.)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/packs/pyprof/python_literal.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

struct PyProfArg {
  enum class Kind : uint8_t { kTensor, kValue };

  std::string name = {};  // of a keyword argument; empty: positional
  Kind kind = Kind::kValue;
  std::vector<int64_t> shape = {};  // of a tensor; none negative
  std::string dtype = {};           // of a tensor: "float16"
  std::string type = {};            // of a value: "int", "NoneType", "tuple", ...
  PythonValue value = {};

  bool is_tensor() const { return kind == Kind::kTensor; }
};

// A call of a function of Python: an argument marker.
struct PyProfCall {
  std::string mod = {};  // "torch.nn.functional"
  std::string op = {};   // "conv2d"
  std::vector<PyProfArg> args = {};
};

enum class MarkerKind : uint8_t {
  kArguments,  // {'mod': .., 'op': .., 'args': [..]}
  kLayer,      // layer:NAME
  kTrace,      // {'traceMarker': ['file:line', ..]}
  kModule,     // {'mod': .., 'strRepr': ..}
  kOther,
  kBad,  // begins like a marker of PyProf, but is cut or damaged
};

struct PyProfMarker {
  MarkerKind kind = MarkerKind::kOther;
  PyProfCall call = {};                  // kArguments
  std::string layer = {};                // kLayer
  std::vector<std::string> frames = {};  // kTrace: outermost first, without those of the framework
};

PyProfMarker ParsePyProfMarker(std::string_view text);

// Whether a frame belongs to PyTorch, APEX or PyProf itself, not to the user.
bool IsFrameworkFrame(std::string_view frame);

// The markers of a trace, each distinct text read once. Not for several threads at once.
class PyProfMarkers {
 public:
  explicit PyProfMarkers(const Trace& trace) : trace_(trace) {}

  // REQUIRES: the row is an annotation. The reference stays valid.
  const PyProfMarker& Of(HostId annotation);

 private:
  const Trace& trace_;
  HashMap<uint32_t, PyProfMarker> by_name_;
};

}  // namespace borescope::internal
