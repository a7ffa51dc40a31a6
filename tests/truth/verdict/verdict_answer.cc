#include "tests/truth/verdict/verdict_answer.h"

#include <memory>
#include <utility>

#include "borescope/analysis/core/row.h"
#include "borescope/base/check.h"
#include "borescope/catalog/catalog.h"
#include "borescope/ingest/database.h"
#include "borescope/testing/trace_maker.h"
#include "borescope/trace/columns.h"

namespace borescope::internal::testkit {
namespace {

using scenario::FrameKind;
using scenario::PlantedFrame;
using scenario::PlantedRank;
using scenario::PlantedRun;
using scenario::PlantedWork;
using scenario::Setting;

HostKind KindOf(FrameKind kind) {
  constexpr HostKind kKinds[] = {HostKind::kOp, HostKind::kAnnotation, HostKind::kPython,
                                 HostKind::kRuntime};
  return kKinds[static_cast<size_t>(kind)];
}

void AddFrame(const PlantedFrame& frame, TracePart& part) {
  uint32_t detail = kNoDetail;
  if (frame.kind == FrameKind::kOp) {
    detail = AddMissingRow(part.data.ops);
    part.data.ops.input_dims[detail] = part.Intern(frame.input_dims);
    part.data.ops.input_types[detail] = part.Intern(frame.input_types);
  } else if (frame.kind == FrameKind::kCall) {
    detail = AddMissingRow(part.data.runtime_calls);
    part.data.runtime_calls.correlation[detail] = frame.correlation;
  }
  AddHostRow(part.data.host, {.ts_ns = frame.begin_ns,
                              .dur_ns = frame.end_ns - frame.begin_ns,
                              .name = part.Intern(frame.name),
                              .track = part.Track(TrackKind::kHost, frame.pid, frame.tid),
                              .kind = KindOf(frame.kind),
                              .detail = detail});
}

void AddWork(const PlantedWork& work, TraceMaker& maker) {
  const uint32_t detail = work.is_copy ? AddMissingRow(maker.part().data.copies) : kNoDetail;
  maker.Device(
      work.is_copy ? DeviceKind::kMemcpy : DeviceKind::kKernel, work.name, work.gpu, work.stream,
      {work.begin_ns, work.end_ns - work.begin_ns},
      {.correlation = work.correlation == 0 ? kMissing : work.correlation, .detail = detail});
}

Trace TraceOf(const PlantedRank& rank) {
  TraceMaker maker;
  for (const PlantedFrame& frame : rank.frames) {
    AddFrame(frame, maker.part());
  }
  for (const PlantedWork& work : rank.work) {
    AddWork(work, maker);
  }
  Meta meta;
  meta.file = "planted.json";
  meta.vendor = Vendor::kNvidia;
  meta.devices.push_back({.id = 0,
                          .name = std::string(scenario::kPlantedDevice),
                          .compute_major = scenario::kPlantedComputeMajor});
  TraceBuilder builder;
  builder.Append(maker.TakePart());
  return builder.Finish(meta, 0, 1);
}

// Read from a database, as a profiler of whole processes writes it.
Trace TraceOfProcess(const PlantedRun& run, size_t rank) {
  SqlDatabase database = std::move(SqlDatabase::InMemory("planted.sqlite")).value();
  BS_CHECK(database.Run(PlantedSql(run, static_cast<int>(rank))).ok());
  return std::move(LoadDatabase(database, 0, {})).value();
}

Tables MapRank(const PlantedRun& run, size_t rank, Setting setting, const Params& params) {
  const Trace trace =
      setting == Setting::kWholeProcess ? TraceOfProcess(run, rank) : TraceOf(run.ranks[rank]);
  const TraceIndex index = BuildIndex(trace, 1);
  const RankView view{static_cast<int64_t>(rank), trace, index};
  return FindAnalysis("summary")->PipelineFor(params).map(view, params).value();
}

}  // namespace

std::vector<VerdictLine> VerdictOf(const PlantedRun& run, Setting setting) {
  const Params params;
  std::vector<Tables> mapped;
  for (size_t rank = 0; rank < run.ranks.size(); ++rank) {
    mapped.push_back(MapRank(run, rank, setting, params));
  }
  const auto& pipeline = FindAnalysis("summary")->PipelineFor(params);
  Tables tables =
      pipeline.finish(pipeline.reduce(std::move(mapped), params).value(), params).value();
  const Table& verdict = tables[0];
  std::vector<VerdictLine> lines;
  for (size_t row = 0; row < verdict.rows(); ++row) {
    lines.push_back({Texts(verdict, "finding")[row], Texts(verdict, "severity")[row],
                     Texts(verdict, "evidence")[row], Floats(verdict, "value")[row],
                     Texts(verdict, "help")[row]});
  }
  return lines;
}

}  // namespace borescope::internal::testkit
