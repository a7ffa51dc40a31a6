#include "tests/support/model/scenario_pieces.h"

#include <fmt/format.h>

#include <string_view>

namespace borescope::scenario {
namespace {

constexpr Depth kEvent = Depth::kEvent;
constexpr Depth kArgs = Depth::kArgs;

std::string Quoted(std::string_view text) { return fmt::format("\"{}\"", text); }

}  // namespace

std::string RankList(int world_size) {
  std::string out = "[";
  const bool is_long = world_size > 30;
  for (int rank = 0; rank < (is_long ? 29 : world_size); ++rank) {
    out += fmt::format("{}{}", rank == 0 ? "" : ", ", rank);
  }
  if (is_long) out += fmt::format(", ..., {}", world_size - 1);
  return out + "]";
}

TextPieces::TextPieces(const ScenarioConfig& config, const KernelCatalog& catalog,
                       const RankInfo& info)
    : layout(config.layout) {
  MakeRows(info);
  MakeHeads(config);
  MakeHostArgs(config);
  MakeDeviceArgs(config, catalog, info);
  MakeApis(config);
  MakeCollectiveArgs(config);
  MakeFlows();
  MakeMemory();
}

std::string TextPieces::Joined(const std::vector<StaticArg>& members) const {
  std::string out;
  for (const StaticArg& arg : members) {
    out += layout.Key(kArgs, arg.is_wide ? Gap::kWide : Gap::kSame, arg.key);
    out += layout.Value(arg.value, kArgs);
  }
  return out;
}

void TextPieces::MakeRows(const RankInfo& info) {
  const auto make = [this](int64_t pid, int64_t tid) {
    Row row{.after_name = {},
            .after_flow_id = {},
            .pid = fmt::to_string(pid),
            .tid = fmt::to_string(tid)};
    const std::string place = layout.Key(kEvent, Gap::kSame, "pid") + row.pid +
                              layout.Key(kEvent, Gap::kSame, "tid") + row.tid;
    row.after_name = "\"" + place + layout.Key(kEvent, Gap::kLine, "ts");
    row.after_flow_id = place + layout.Key(kEvent, Gap::kSame, "ts");
    return row;
  };
  for (size_t i = 0; i < kThreads; ++i) threads[i] = make(info.pid, info.tids[i]);
  for (size_t i = 0; i < kStreams; ++i) streams[i] = make(info.gpu, info.streams[i]);
  device = make(info.gpu, -1);
}

void TextPieces::MakeHeads(const ScenarioConfig& config) {
  const auto head = [this](std::string_view category) {
    return std::string(layout.event_begin()) + layout.Key(kEvent, Gap::kFirst, "ph") + "\"X\"" +
           layout.Key(kEvent, Gap::kSame, "cat") + Quoted(category) +
           layout.Key(kEvent, Gap::kSame, "name") + "\"";
  };
  cpu_op = head("cpu_op");
  user_annotation = head("user_annotation");
  python_function = head("python_function");
  kernel = head("kernel");
  gpu_memcpy = head("gpu_memcpy");
  gpu_memset = head("gpu_memset");
  cuda_sync = head("cuda_sync");
  gpu_user_annotation = head("gpu_user_annotation");
  for (size_t i = 0; i < static_cast<size_t>(Api::kCount); ++i) {
    const ApiInfo& api = GetApi(config.vendor, static_cast<Api>(i));
    apis.push_back(head(api.category) + std::string(api.name));
  }
  dur = layout.Key(kEvent, Gap::kSame, "dur");
  args = layout.Key(kEvent, Gap::kLine, "args") + std::string(layout.args_begin());
  event_end = layout.event_end();
  args_end = std::string(layout.args_end()) + event_end;
}

void TextPieces::MakeHostArgs(const ScenarioConfig& config) {
  external_id = layout.Key(kArgs, Gap::kFirst, "External id");
  record_id = layout.Key(kArgs, Gap::kTight, "Record function id");
  sequence = layout.Key(kArgs, Gap::kSame, "Sequence number");
  forward_thread = layout.Key(kArgs, Gap::kSame, "Fwd thread id");
  event_index = layout.Key(kArgs, Gap::kSame, "Ev Idx");
  python_id = layout.Key(kArgs, Gap::kFirst, "Python id");
  python_parent = layout.Key(kArgs, Gap::kSame, "Python parent id");
  python_module = layout.Key(kArgs, Gap::kSame, "Python module id");
  shapes.resize(static_cast<size_t>(HostName::kCount));
  if (!config.with_shapes) return;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const HostNameInfo& name = GetHostName(static_cast<HostName>(i));
    if (*name.dims == '\0') continue;
    std::vector<StaticArg> recorded = {{"Concrete Inputs", name.concrete},
                                       {"Input type", name.types},
                                       {"Input Strides", name.strides},
                                       {"Input Dims", name.dims}};
    // Old profilers knew neither values nor strides.
    if (config.era == Era::kIntUs) recorded = {recorded[1], recorded[3]};
    shapes[i] = Joined(recorded);
  }
}

void TextPieces::MakeDeviceArgs(const ScenarioConfig& config, const KernelCatalog& catalog,
                                const RankInfo& info) {
  const bool is_cuda = config.vendor == Vendor::kNvidia;
  const std::string gpu = fmt::to_string(info.gpu);
  for (size_t i = 0; i < kStreams; ++i) {
    const std::string stream = fmt::to_string(info.streams[i]);
    const auto make = [&](bool queued, Gap first) {
      std::string out;
      Gap gap = first;
      const auto add = [&](Gap own, std::string_view key, std::string_view value) {
        out += layout.Key(kArgs, gap == Gap::kFirst ? gap : own, key) + std::string(value);
        gap = Gap::kSame;
      };
      if (queued) add(Gap::kWide, "queued", "0");
      add(queued ? Gap::kSame : Gap::kWide, "device", gpu);
      if (is_cuda) add(Gap::kSame, "context", "1");
      add(is_cuda ? Gap::kWide : Gap::kSame, "stream", stream);
      add(is_cuda ? Gap::kSame : Gap::kWide, "correlation", "");
      return out;
    };
    kernel_args[i] = {make(is_cuda, Gap::kWide), make(is_cuda, Gap::kFirst)};
    copy_args[i] = {make(false, Gap::kWide), make(false, Gap::kFirst)};
  }
  bytes = layout.Key(kArgs, Gap::kWide, "bytes");
  bandwidth = layout.Key(kArgs, Gap::kSame, "memory bandwidth (GB/s)");
  for (size_t i = 0; i < static_cast<size_t>(Kernel::kCount); ++i) {
    const KernelInfo& kernel_info = catalog.Get(static_cast<Kernel>(i));
    device_args.push_back(Joined(kernel_info.device_args));
    host_args.push_back(Joined(kernel_info.host_args));
  }
}

void TextPieces::MakeApis(const ScenarioConfig& config) {
  const std::string_view key = config.vendor == Vendor::kNvidia ? "cbid" : "cid";
  for (size_t i = 0; i < static_cast<size_t>(Api::kCount); ++i) {
    const std::string number = fmt::to_string(GetApi(config.vendor, static_cast<Api>(i)).number) +
                               layout.Key(kArgs, Gap::kSame, "correlation");
    api_numbers.push_back(layout.Key(kArgs, Gap::kWide, key) + number);
    api_numbers_without_id.push_back(layout.Key(kArgs, Gap::kFirst, key) + number);
  }
}

void TextPieces::MakeCollectiveArgs(const ScenarioConfig& config) {
  collective_args[0] = Joined({{"Collective name", "\"allreduce\""}}) +
                       layout.Key(kArgs, Gap::kSame, "In msg nelems");
  out_elements = layout.Key(kArgs, Gap::kSame, "Out msg nelems");
  collective_args[1] = Joined({{"Group size", fmt::to_string(config.world_size)},
                               {"dtype", "\"Float\""},
                               {"In split size", "\"[]\""},
                               {"Out split size", "\"[]\""},
                               {"Process Group Name", "\"0\""},
                               {"Process Group Description", "\"default_pg\""},
                               {"Process Group Ranks", Quoted(RankList(config.world_size))}}) +
                       layout.Key(kArgs, Gap::kSame, "Seq");
}

void TextPieces::MakeFlows() {
  const auto head = [this](std::string_view phase) {
    return std::string(layout.event_begin()) + layout.Key(kEvent, Gap::kFirst, "ph") +
           Quoted(phase) + layout.Key(kEvent, Gap::kSame, "id");
  };
  const auto tail = [this](std::string_view name, bool is_end) {
    return layout.Key(kEvent, Gap::kLine, "cat") + Quoted(name) +
           layout.Key(kEvent, Gap::kSame, "name") + Quoted(name) +
           (is_end ? layout.Key(kEvent, Gap::kSame, "bp") + "\"e\"" : "") + event_end;
  };
  flow_start = head("s");
  flow_end = head("f");
  launch_start_tail = tail("ac2g", false);
  launch_end_tail = tail("ac2g", true);
  forward_start_tail = tail("fwdbwd", false);
  forward_end_tail = tail("fwdbwd", true);
}

void TextPieces::MakeMemory() {
  memory_head = std::string(layout.event_begin()) + layout.Key(kEvent, Gap::kFirst, "ph") +
                "\"i\"" + layout.Key(kEvent, Gap::kSame, "cat") + "\"cpu_instant_event\"" +
                layout.Key(kEvent, Gap::kSame, "s") + "\"t\"" +
                layout.Key(kEvent, Gap::kSame, "name") + "\"[memory]";
  constexpr std::string_view kKeys[] = {"Total Reserved", "Total Allocated", "Bytes",
                                        "Addr",           "Device Id",       "Device Type"};
  for (size_t i = 0; i < memory_args.size(); ++i) {
    memory_args[i] = layout.Key(kArgs, i == 0 ? Gap::kFirst : Gap::kSame, kKeys[i]);
  }
}

}  // namespace borescope::scenario
