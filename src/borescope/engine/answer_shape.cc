#include "borescope/engine/answer_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/measures/counter_join/counter_join.h"
#include "borescope/analysis/measures/time/rank_groups.h"
#include "borescope/engine/check_request.h"
#include "borescope/engine/map_run.h"
#include "borescope/engine/run_analyses.h"
#include "borescope/index/trace_index.h"
#include "borescope/ingest/load.h"
#include "borescope/table/table_ops.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {

namespace {

bool IsLike(const Column& column, const Column& shape) {
  return column.name == shape.name && column.unit == shape.unit && column.role == shape.role &&
         column.values.index() == shape.values.index();
}

bool IsAddition(const Column& column) {
  return column.role == Role::kDerived && std::holds_alternative<FloatValues>(column.values);
}

std::string MismatchOf(const Table& table, const Table& shape, bool adds_columns) {
  if (table.name != shape.name) {
    return fmt::format("a table \"{}\" stands where \"{}\" should", table.name, shape.name);
  }
  const size_t known = shape.columns.size();
  for (size_t i = 0; i < known; ++i) {
    if (i >= table.columns.size() || !IsLike(table.columns[i], shape.columns[i])) {
      return fmt::format("table \"{}\" has no column \"{}\" of its kind", table.name,
                         shape.columns[i].name);
    }
  }
  for (size_t i = known; i < table.columns.size(); ++i) {
    if (!adds_columns || !IsAddition(table.columns[i])) {
      return fmt::format("table \"{}\" has a column \"{}\" too many", table.name,
                         table.columns[i].name);
    }
  }
  return {};
}

}  // namespace

Params WithoutNames(const AnalysisSpec& verb, Params params) {
  params.selection = {};
  std::erase_if(params.values, [&](const ParamValue& value) {
    return std::any_of(verb.params.begin(), verb.params.end(), [&](const ParamSpec* param) {
      return param->names_events && param->name == value.name;
    });
  });
  return params;
}

Result<Tables> ShapeOf(const AnalysisSpec& verb, const Params& params, bool reads_files) {
  const Trace trace = TraceBuilder().Finish({}, 0, 1);
  const TraceIndex index = BuildIndex(trace, 1);
  const RankView view{0, trace, index};
  const Params asked = WithoutNames(verb, params);
  const Pipeline& pipeline = verb.PipelineFor(asked);
  BS_ASSIGN(Tables tables, pipeline.map(view, asked));
  return pipeline.read_files == nullptr || !reads_files
             ? std::move(tables)
             : pipeline.read_files(std::move(tables), asked);
}

std::string MismatchOf(const Tables& tables, const Tables& shape, bool adds_columns) {
  if (tables.size() != shape.size()) {
    return fmt::format("it has {} tables, and should have {}", tables.size(), shape.size());
  }
  for (size_t i = 0; i < tables.size(); ++i) {
    if (std::string found = MismatchOf(tables[i], shape[i], adds_columns); !found.empty()) {
      return found;
    }
  }
  return {};
}

namespace {

constexpr std::string_view kAfterRank = R"json(, "world_size": 2},
"deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85899345920}],
"traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 0, "dur": 400},
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#2", "pid": 1, "tid": 1, "ts": 400, "dur": 300},
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 1, "tid": 1, "ts": 700, "dur": 100},
{"ph": "X", "cat": "user_annotation", "name": "execute_context_0(0)_generation_2(2)", "pid": 1, "tid": 1, "ts": 0,
 "dur": 100},
{"ph": "X", "cat": "user_annotation", "name": "execute_context_1(8)_generation_2(2)", "pid": 1, "tid": 1, "ts": 180,
 "dur": 100},
{"ph": "X", "cat": "user_annotation", "name": "execute_context_0(0)_generation_3(3)", "pid": 1, "tid": 1, "ts": 400,
 "dur": 100},
{"ph": "X", "cat": "kernel", "name": "launched before", "pid": 0, "tid": 7, "ts": 2, "dur": 3,
 "args": {"device": 0, "stream": 7}},
{"ph": "X", "cat": "python_function", "name": "nn.Module: Linear_0", "pid": 1, "tid": 1, "ts": 1, "dur": 390,
 "args": {"Python id": 1, "Python module id": 0}},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": 50,
 "args": {"External id": 1, "Input Dims": [[8, 8], [8, 8]], "Input type": ["float", "float"]}},
{"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": 15,
 "args": {"Total Reserved": 4000, "Total Allocated": 3000, "Bytes": 1000, "Addr": 512, "Device Id": 0,
  "Device Type": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 20, "dur": 5,
 "args": {"correlation": 1, "External id": 1}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 30, "dur": 40,
 "args": {"device": 0, "stream": 7, "correlation": 1, "External id": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 1, "tid": 1, "ts": 70, "dur": 5,
 "args": {"correlation": 2}},
{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)",
                           "pid" : 0, "tid" : 7, "ts" : 80, "dur" : 20,
                           "args" : {"device" : 0, "stream" : 7, "correlation" : 2, "bytes" : 4096}
},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 1, "tid": 1, "ts": 110, "dur": 5,
 "args": {"correlation": 3}},
{"ph": "X", "cat": "kernel", "name": "triton_poi_fused_add_0", "pid": 0, "tid": 7, "ts": 120, "dur": 20,
 "args": {"device": 0, "stream": 7, "correlation": 3, "graph node id": 5}},
{"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 1, "tid": 1, "ts": 190, "dur": 30,
 "args": {"External id": 2}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 200, "dur": 5,
 "args": {"correlation": 4, "External id": 2}},
{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "pid": 0, "tid": 20, "ts": 210,
 "dur": 60, "args": {"device": 0, "stream": 20, "correlation": 4, "External id": 2,
  "Collective name": "allreduce", "In msg nelems": 1024, "Out msg nelems": 1024, "Group size": 2,
  "dtype": "Float", "Process Group Name": "0", "Process Group Ranks": "[0, 1]"}},
{"ph": "X", "cat": "cpu_op", "name": "aten::softmax", "pid": 1, "tid": 1, "ts": 240, "dur": 40, "args": {"External id": 3}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 242, "dur": 5,
 "args": {"correlation": 5, "External id": 3}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 250, "dur": 5,
 "args": {"correlation": 6, "External id": 3}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 260, "dur": 5,
 "args": {"correlation": 7, "External id": 3}},
{"ph": "X", "cat": "kernel", "name": "maximum", "pid": 0, "tid": 7, "ts": 250, "dur": 5,
 "args": {"device": 0, "stream": 7, "correlation": 5, "External id": 3}},
{"ph": "X", "cat": "kernel", "name": "exponent", "pid": 0, "tid": 7, "ts": 260, "dur": 5,
 "args": {"device": 0, "stream": 7, "correlation": 6, "External id": 3}},
{"ph": "X", "cat": "kernel", "name": "divide", "pid": 0, "tid": 7, "ts": 270, "dur": 5,
 "args": {"device": 0, "stream": 7, "correlation": 7, "External id": 3}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 285, "dur": 5,
 "args": {"correlation": 8}},
{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_SendRecv", "pid": 0, "tid": 20, "ts": 290,
 "dur": 5, "args": {"device": 0, "stream": 20, "correlation": 8, "Collective name": "all_to_allv",
  "In msg nelems": 64, "Out msg nelems": 128, "Group size": 2, "dtype": "Float", "Process Group Name": "0",
  "Process Group Ranks": "[0, 1]"}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 90, "dur": 5,
 "args": {"correlation": 9}},
{"ph": "X", "cat": "kernel", "name": "on another device", "pid": 1, "tid": 7, "ts": 100, "dur": 5,
 "args": {"device": 1, "stream": 7, "correlation": 9}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaDeviceSynchronize", "pid": 1, "tid": 1, "ts": 300, "dur": 50,
 "args": {}}
]})json";

// A profiler range, as PyTorch recorded them up to CUDA 12.6.
constexpr std::string_view kRange = R"json(, {"ph": "X", "cat": "cuda_profiler_range",
"name": "gemm", "pid": 0, "tid": 0, "ts": 30, "dur": 40, "args": {}})json";

}  // namespace

std::string SpecimenText(int64_t rank) {
  std::string text = R"({"distributedInfo": {"rank": )" + std::to_string(rank);
  text += kAfterRank;
  if (rank != 0) text.insert(text.rfind("]}"), kRange);
  return text;
}

namespace {

// Counters that another run measured for a kernel of the specimen.
GivenReports SpecimenReports() {
  auto report = std::make_shared<CounterReport>();
  report->file = "specimen";
  report->metrics = {{"sm__throughput.avg.pct_of_peak_sustained_elapsed", "%"},
                     {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "%"}};
  CountedKernel& kernel = report->kernels.emplace_back();
  kernel.name = "gemm";
  kernel.grid = kernel.block = {-1, -1, -1};  // not recorded
  kernel.values = {{.metric = 0, .value = 50}, {.metric = 1, .value = 50}};
  kernel.advice = {{.rule = "SOLBottleneck", .text = "This kernel has low throughput."}};
  GivenReports given;
  given.reports.push_back(std::move(report));
  return given;
}

// The first rank has counters of a report, all others have recorded ranges.
Result<Tables> MapSpecimen(const AnalysisSpec& verb, const Params& params, int64_t rank) {
  BS_ASSIGN(const Trace trace, LoadBytes(SpecimenText(rank), "specimen", {}));
  const TraceIndex index = BuildIndex(trace, 1);
  SharedMeasures shared;
  if (rank == 0) GiveReports(shared, SpecimenReports());
  RankView view{rank, trace, index};
  view.shared = &shared;
  return verb.PipelineFor(params).map(view, params);
}

// Takes out columns that are named by what was recorded.
Result<void> DropAdditions(const AnalysisSpec& verb, const Params& params, Tables& tables) {
  if (!verb.PipelineFor(params).adds_columns) return {};
  BS_ASSIGN(const Tables known, ShapeOf(verb, params, false));
  for (Table& table : tables) {
    const auto shape = std::find_if(known.begin(), known.end(),
                                    [&](const Table& one) { return one.name == table.name; });
    if (shape == known.end()) continue;
    std::erase_if(table.columns, [&](const Column& column) {
      return IsAddition(column) && shape->Find(column.name) == nullptr;
    });
  }
  return {};
}

// The tables that a job of many ranks has beside those of a small one, each after the table that it
// follows.
void AddTablesOfMany(const Tables& of_many, Tables& tables) {
  for (size_t i = 0; i < of_many.size(); ++i) {
    const auto find = [&](const Table& wanted) {
      return std::find_if(tables.begin(), tables.end(),
                          [&](const Table& table) { return table.name == wanted.name; });
    };
    if (find(of_many[i]) == tables.end()) {
      tables.insert(i == 0 ? tables.begin() : find(of_many[i - 1]) + 1, of_many[i]);
    }
  }
}

// Finishes the tables of two ranks, and of many, all of which but the first do the same.
Result<Tables> FinishSpecimens(const AnalysisSpec& verb, const Params& params) {
  const Pipeline& pipeline = verb.PipelineFor(params);
  std::vector<Tables> mapped(2);
  BS_ASSIGN(mapped[0], MapSpecimen(verb, params, 0));
  BS_ASSIGN(mapped[1], MapSpecimen(verb, params, 1));
  BS_ASSIGN(Tables tables, ReduceAndFinish(pipeline, params, mapped));
  while (mapped.size() < kManyRanks) {
    mapped.push_back(mapped[1]);
    SetRank(mapped.back(), static_cast<int64_t>(mapped.size() - 1));
  }
  BS_ASSIGN(const Tables of_many, ReduceAndFinish(pipeline, params, mapped));
  AddTablesOfMany(of_many, tables);
  return tables;
}

}  // namespace

Result<Tables> AnswerShape(const AnalysisSpec& verb, const Params& given) {
  BS_TRY(CheckOptions(verb, given));
  Params params = WithoutNames(verb, given);
  params.keeps_empty = true;
  BS_ASSIGN(Tables tables, FinishSpecimens(verb, params));
  BS_TRY(DropAdditions(verb, params, tables));
  if (verb.takes_two()) {
    BS_ASSIGN(tables, verb.PipelineFor(params).compare(tables, tables, params));
  }
  for (Table& table : tables) {
    table = Head(table, 0);
  }
  return tables;
}

}  // namespace borescope::internal
