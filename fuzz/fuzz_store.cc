// Whatever is written into a stored trace, it is refused, or it is a trace of which every analysis
// ends in an Error or an answer. Stored traces are those of one build alone, so that an input is no
// file but what is changed in one: places, each with the bytes to write there, whose checksums are
// then put right. The last byte of the input says which analysis is asked; in which of its modes
// follows from the bytes, so that one is asked in an execution.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/base/check.h"
#include "borescope/catalog/catalog.h"
#include "borescope/engine/analyse_bytes.h"
#include "borescope/engine/map_files.h"
#include "borescope/index/trace_index.h"
#include "borescope/ingest/load.h"
#include "borescope/store/stored_trace.h"
#include "input_number.h"

namespace {

using borescope::internal::AnalysisSpec;
using borescope::internal::ContentHash;
using borescope::internal::Params;
using borescope::internal::Result;
using borescope::internal::SecretHash;
using borescope::internal::StoredTrace;

// Something in most tables.
constexpr std::string_view kTrace = R"json({"schemaVersion": 1, "deviceProperties": [{"id": 0,
"name": "NVIDIA A100", "totalGlobalMem": 1000}], "distributedInfo": {"rank": 1, "world_size": 2},
"traceEvents": [
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#3","pid":1,"tid":1,"ts":1,"dur":900},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":10,"dur":100,"args":{
"External id":5,"Sequence number":7,"Input Dims":[[2,3],[3,4]],"Input type":["float","float"]}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":20,"dur":9,
"args":{"correlation":7,"External id":5}},
{"ph":"X","cat":"kernel","name":"sgemm","pid":0,"tid":7,"ts":60,"dur":80,"args":{"device":0,
"stream":7,"correlation":7,"External id":5,"grid":[4,1,1],"block":[128,1,1],
"registers per thread":32,"est. achieved occupancy %":50}},
{"ph":"X","cat":"cpu_op","name":"MmBackward0","pid":1,"tid":2,"ts":200,"dur":100,"args":{
"External id":9,"Sequence number":7,"Fwd thread id":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaMemcpyAsync","pid":1,"tid":2,"ts":220,"dur":9,
"args":{"correlation":8,"External id":9}},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD","pid":0,"tid":7,"ts":260,"dur":80,"args":{
"device":0,"stream":7,"correlation":8,"bytes":4096,"memory bandwidth (GB/s)" : 1.5
}
},
{"ph":"X","cat":"cuda_sync","name":"Stream Wait Event","pid":0,"tid":9,"ts":300,"dur":5,"args":{
"device":0,"stream":9,"wait_on_stream":7,"wait_on_cuda_event_record_corr_id":8}},
{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_f32_RING_LL","pid":0,"tid":9,"ts":350,
"dur":50,"args":{"device":0,"stream":9,"correlation":10,"Collective name":"allreduce",
"In msg nelems":64,"dtype":"Float","Group size":2}},
{"ph":"s","id":3,"cat":"fwdbwd","name":"fwdbwd","pid":1,"tid":1,"ts":10},
{"ph":"f","id":3,"cat":"fwdbwd","name":"fwdbwd","pid":1,"tid":2,"ts":200,"bp":"e"},
{"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":15,"s":"t","args":{
"Addr":4096,"Bytes":512,"Device Id":0,"Device Type":1,"Total Allocated":512,"Total Reserved":1024}},
{"ph":"X","cat":"python_function","name":"train.py(3): step","pid":1,"tid":1,"ts":5,"dur":800}]})json";

const SecretHash& Hash() {
  static const SecretHash hash({1, 2, 3, 4});
  return hash;
}

std::string MakeStored() {
  const Result<borescope::internal::Trace> trace =
      borescope::internal::LoadBytes(kTrace, "fuzz.json", {});
  BS_CHECK(trace.ok());
  std::string bytes;
  const Result<void> written = borescope::internal::WriteStoredTrace(
      *trace, borescope::internal::BuildIndex(*trace, 1), ContentHash(), Hash(), 1,
      [&](std::string_view piece) -> Result<void> {
        bytes += piece;
        return {};
      });
  BS_CHECK(written.ok());
  return bytes;
}

struct Mode {
  const AnalysisSpec* spec;
  Params params;
};

const Mode& AnyMode(size_t analysis, uint64_t mode) {
  static const std::vector<std::vector<Mode>> modes = [] {
    std::vector<std::vector<Mode>> all;
    for (const AnalysisSpec* spec : borescope::internal::Analyses()) {
      std::vector<Mode>& own = all.emplace_back();
      for (Params& params : borescope::internal::AllModes(*spec)) {
        own.push_back({spec, std::move(params)});
      }
    }
    return all;
  }();
  const std::vector<Mode>& own = modes[analysis % modes.size()];
  return own[mode % own.size()];
}

// Two bytes of a place in units of four bytes, one of how many bytes follow, up to eight.
void Change(std::string_view input, std::string& bytes) {
  constexpr size_t kHead = 3;
  while (input.size() > kHead) {
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(input[i]); };
    const size_t place = (byte(0) | size_t{byte(1)} << 8) * 4 % bytes.size();
    const size_t count =
        std::min({size_t{byte(2)} % 8 + 1, input.size() - kHead, bytes.size() - place});
    std::memcpy(bytes.data() + place, input.data() + kHead, count);
    input.remove_prefix(kHead + count);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string sound = MakeStored();
  std::string bytes = sound;
  Change({reinterpret_cast<const char*>(data), size}, bytes);
  borescope::internal::SealStoredTrace(Hash(), bytes);
  const Result<StoredTrace> stored = borescope::internal::ReadStoredTrace(
      bytes, nullptr, ContentHash(), {"fuzz.json", borescope::internal::RemedyOf}, Hash(), 1);
  if (!stored.ok()) {
    return 0;
  }
  const Mode& mode = AnyMode(size == 0 ? 0 : data[size - 1],
                             fuzz::NumberOf({reinterpret_cast<const char*>(data), size}));
  static_cast<void>(
      borescope::internal::MapTrace(*mode.spec, mode.params, {0, stored->trace, stored->index}));
  return 0;
}
