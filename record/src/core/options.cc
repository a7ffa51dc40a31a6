// The options of BORESCOPE_RECORD_OPTIONS, "name" or "name=value", separated by semicolons:
//
//   max-bytes=N      the log of a process grows to at most N bytes, then recording ends (no limit)
//   ring-ms=N        chunks of the log are used again once they are older than this (never)
//   no-nvtx          ranges and marks of NVTX are not recorded
//   no-roctx         those of ROCTX are not
//   no-cuda          CUPTI is left alone
//   rocm             rocprofiler-sdk or roctracer is asked for AMD's calls and device work
//   rocm-gpus=N:T:U:W,...  AMD's GPUs in order: node, number of the target, compute units, warp
//   children=none    programs that this one starts, and its forks, are not recorded
//   children-match=PATTERN  of those, programs of such a name are recorded
//   ranks=N,N,...    processes of other ranks, or of none, are not recorded
//   flush-ms=N       how often device records are fetched, 1 to 60000 (100)
//   api=all|launch|none  calls of CUDA: all, those that launch device work, none (all)
//   api-skip=NAME,NAME,...  calls of HIP and RCCL that are not recorded
//   skip-runtime=N,N,... skip-driver=N,N,...  calls of CUDA that are not, by CUPTI's numbers
//   warm             device work is collected once at the start, also where recording starts later
//   graphs=node|graph    kernels of CUDA graphs one by one, or a record for a graph's run (graph)
//   memory           allocations and frees of device memory
//   sync             synchronisation
//   counters=NAME,NAME,...  metrics that CUPTI's range profiler measures of chosen kernels
//   counters-kernels=PATTERN  of kernels of such a mangled name (all)
//   counters-skip=N counters-count=N  from the launch N of them on (0), so many (100)
//   env              variables NCCL_* and RCCL_* with their values in the description of a process
//   start-range=NAME, start-step=N, start-calls  where recording starts, in a run that is paused
//   stop-range=NAME, stop-own-range, stop-step=N, stop-calls  where it stops
//   repeat=N         how often ranges and steps start it in a process; 0: no limit (1)
//
// In a NAME or PATTERN, "%3b" is the byte 0x3b.
#include "core/options.h"

#include <cstring>

#include "core/text.h"

namespace borescope::inject {

namespace {

struct Option {
  const char* text;
  size_t length;

  bool Is(const char* name) const {
    return length == strlen(name) && memcmp(text, name, length) == 0;
  }

  // The text after "name=", or a null pointer.
  const char* Value(const char* name) const {
    const size_t count = strlen(name);
    const bool has_value = length > count && memcmp(text, name, count) == 0 && text[count] == '=';
    return has_value ? text + count + 1 : nullptr;
  }
};

void ApplyName(const Option& option, const char* name, RuleKind* kind, NameRule* rule) {
  const char* value = option.Value(name);
  if (value == nullptr) return;
  *rule = ParseNameRule(value, option.length - static_cast<size_t>(value - option.text));
  if (rule->is_set()) *kind = RuleKind::kRange;
}

void ApplyStep(const Option& option, const char* name, RuleKind* kind, uint64_t* step) {
  const char* value = option.Value(name);
  if (value != nullptr && ParseNumber(value, step)) *kind = RuleKind::kStep;
}

void ApplyRules(const Option& option, RuleOptions* rules) {
  ApplyName(option, "start-range", &rules->start, &rules->start_name);
  ApplyName(option, "stop-range", &rules->stop, &rules->stop_name);
  ApplyStep(option, "start-step", &rules->start, &rules->start_step);
  ApplyStep(option, "stop-step", &rules->stop, &rules->stop_step);
  if (option.Is("start-calls")) rules->start = RuleKind::kCall;
  if (option.Is("stop-calls")) rules->stop = RuleKind::kCall;
  if (option.Is("stop-own-range")) rules->stop = RuleKind::kOwnRange;
  uint64_t most = 0;
  const char* repeat = option.Value("repeat");
  if (repeat != nullptr && ParseNumber(repeat, &most) && most <= 0xffffff) {
    rules->most_starts = static_cast<uint32_t>(most);
  }
}

void ApplyChildren(const Option& option, Options* options) {
  if (option.Is("children=none")) options->children = Children::kNone;
  const char* pattern = option.Value("children-match");
  if (pattern == nullptr) return;
  const size_t length = option.length - static_cast<size_t>(pattern - option.text);
  NameRule& rule = options->children_pattern;
  rule.length = static_cast<uint32_t>(DecodePercent(pattern, length, rule.text, sizeof(rule.text)));
  if (rule.is_set()) options->children = Children::kMatching;
}

// Those beyond the most are left out.
void ApplyRanks(const char* list, Options* options) {
  uint64_t rank = 0;
  while (options->rank_count < kMostRanks && ParseNumber(list, &rank) && rank <= 0x7fffffff) {
    options->ranks[options->rank_count++] = static_cast<int32_t>(rank);
    list += strspn(list, "0123456789");
    if (*list != ',') break;
    ++list;
  }
}

// Numbers that are too large are left out.
void ApplySkipped(const char* list, uint64_t (&numbers)[SkippedCalls::kMostNumbers / 64]) {
  uint64_t number = 0;
  while (ParseNumber(list, &number)) {
    if (number < SkippedCalls::kMostNumbers) numbers[number / 64] |= uint64_t{1} << number % 64;
    list += strspn(list, "0123456789");
    if (*list != ',') break;
    ++list;
  }
}

void ApplyCalls(const Option& option, Options* options) {
  SkippedCalls& skipped = options->skipped;
  if (const char* list = option.Value("skip-runtime")) ApplySkipped(list, skipped.runtime);
  if (const char* list = option.Value("skip-driver")) ApplySkipped(list, skipped.driver);
  const char* names = option.Value("api-skip");
  if (names == nullptr) return;
  TextBuilder builder(skipped.names, sizeof(skipped.names));
  builder.Add(",").Add(names, option.length - static_cast<size_t>(names - option.text)).Add(",");
}

// The numbers of a GPU, which colons separate, and how many characters they take; 0: they are not
// all there.
size_t ReadGpu(const char* text, RocmGpu* gpu) {
  uint32_t* const fields[] = {&gpu->node, &gpu->target, &gpu->compute_units, &gpu->warp};
  const char* at = text;
  for (size_t i = 0; i < 4; ++i) {
    if (i > 0 && *at++ != ':') return 0;
    uint64_t number = 0;
    if (!ParseNumber(at, &number) || number > 0x7fffffff) return 0;
    *fields[i] = static_cast<uint32_t>(number);
    at += strspn(at, "0123456789");
  }
  return static_cast<size_t>(at - text);
}

// Those beyond the most are left out.
void ApplyGpus(const char* list, Options* options) {
  while (options->gpu_count < kMostGpus) {
    const size_t length = ReadGpu(list, &options->gpus[options->gpu_count]);
    if (length == 0) return;
    ++options->gpu_count;
    if (list[length] != ',') return;
    list += length + 1;
  }
}

void ApplyCounters(const Option& option, Options* options) {
  const auto rest = [&](const char* value) {
    return option.length - static_cast<size_t>(value - option.text);
  };
  const char* names = option.Value("counters");
  if (names != nullptr) {
    TextBuilder(options->counters, sizeof(options->counters)).Add(names, rest(names));
  }
  const char* pattern = option.Value("counters-kernels");
  if (pattern != nullptr) {
    DecodePercent(pattern, rest(pattern), options->counters_pattern,
                  sizeof(options->counters_pattern));
  }
  uint64_t number = 0;
  const char* skip = option.Value("counters-skip");
  if (skip != nullptr && ParseNumber(skip, &number)) options->counters_skip = number;
  const char* count = option.Value("counters-count");
  if (count != nullptr && ParseNumber(count, &number) && number >= 1 &&
      number <= kMostCountedLaunches) {
    options->counters_count = static_cast<uint32_t>(number);
  }
}

void ApplyNumbers(const Option& option, Options* options) {
  uint64_t number = 0;
  const char* bytes = option.Value("max-bytes");
  if (bytes != nullptr && ParseNumber(bytes, &number)) options->most_bytes = number;
  const char* window = option.Value("ring-ms");
  if (window != nullptr && ParseNumber(window, &number) && number >= 1 && number <= 86'400'000) {
    options->ring_ns = number * 1'000'000;
  }
  const char* period = option.Value("flush-ms");
  if (period != nullptr && ParseNumber(period, &number) && number >= 1 && number <= 60'000) {
    options->flush_ms = static_cast<uint32_t>(number);
  }
}

void Apply(const Option& option, Options* options) {
  if (option.Is("no-nvtx")) options->has_nvtx = false;
  if (option.Is("no-roctx")) options->has_roctx = false;
  if (option.Is("no-cuda")) options->has_cuda = false;
  if (option.Is("rocm")) options->has_rocm = true;
  ApplyChildren(option, options);
  ApplyRules(option, &options->rules);
  if (option.Is("api=all")) options->api = ApiCalls::kAll;
  if (option.Is("api=launch")) options->api = ApiCalls::kLaunch;
  if (option.Is("api=none")) options->api = ApiCalls::kNone;
  if (option.Is("graphs=node")) options->has_graph_nodes = true;
  if (option.Is("graphs=graph")) options->has_graph_nodes = false;
  if (option.Is("memory")) options->has_memory = true;
  if (option.Is("sync")) options->has_sync = true;
  if (option.Is("warm")) options->is_warm = true;
  if (option.Is("env")) options->keeps_environment = true;
  const char* ranks = option.Value("ranks");
  if (ranks != nullptr) ApplyRanks(ranks, options);
  const char* gpus = option.Value("rocm-gpus");
  if (gpus != nullptr) ApplyGpus(gpus, options);
  ApplyNumbers(option, options);
  ApplyCounters(option, options);
  ApplyCalls(option, options);
}

}  // namespace

void ReadOptions(const char* text, Options* options) {
  while (text != nullptr && *text != '\0') {
    const size_t length = strcspn(text, ";");
    Apply({text, length}, options);
    text += length + (text[length] == ';' ? 1 : 0);
  }
}

Options ParseOptions(const char* text) {
  Options options;
  ReadOptions(text, &options);
  return options;
}

bool SkippedCalls::HasName(const char* name) const {
  const size_t length = strlen(name);
  for (const char* at = strstr(names, name); at != nullptr; at = strstr(at + 1, name)) {
    if (at[-1] == ',' && at[length] == ',') return true;
  }
  return false;
}

bool IsWantedRank(const Options& options, int32_t rank) {
  if (options.rank_count == 0) return true;
  for (uint32_t i = 0; i < options.rank_count; ++i) {
    if (options.ranks[i] == rank) return true;
  }
  return false;
}

}  // namespace borescope::inject
