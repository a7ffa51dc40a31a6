// The texts of the NVTX ranges that PyProf pushes around every call of PyTorch, and of the ranges
// that users push for it. (Ranges of PyTorch itself, "conv2d, seq = 5", are operators of the
// trace.)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// Literals of Python as repr() writes them, in which PyProf's markers are written. Nothing is
// evaluated.

struct PythonValue {
  enum class Kind : uint8_t { kNone, kBool, kInt, kFloat, kString, kList, kTuple, kDict };

  Kind kind = Kind::kNone;
  int64_t number = 0;                   // kInt; kBool: 0 or 1
  std::string text = {};                // kString: its content; kInt, kFloat: as written
  std::vector<PythonValue> items = {};  // of a list or tuple; of a dict: keys and values by turns

  bool IsSequence() const { return kind == Kind::kList || kind == Kind::kTuple; }
  // The value of a key of a dict; nullptr if there is none.
  const PythonValue* Find(std::string_view key) const;
};

// The value of the whole text; none if it is not a literal, is cut, or is nested deeper than any
// marker. Integers beyond 64 bits are kFloat.
std::optional<PythonValue> ParsePythonLiteral(std::string_view text);

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

// The markers of a trace; each distinct text is parsed once. Not thread-safe.
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
