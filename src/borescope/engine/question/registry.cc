#include "borescope/engine/question/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "borescope/engine/question/question.h"
#include "borescope/index/steps/steps.h"

namespace borescope::internal {
namespace {

using Choices = std::vector<std::string_view>;

// ---- where parameters apply ----

bool Always(const AnalysisSpec&) { return true; }
bool Selects(const AnalysisSpec& verb) { return verb.takes_selection; }
bool SelectsInSteps(const AnalysisSpec& verb) {
  return verb.takes_selection && !verb.is_about_whole_steps;
}
bool HasKeys(const AnalysisSpec& verb) { return !verb.by.empty(); }
bool HasOverlay(const AnalysisSpec& verb) { return verb.overlay != nullptr; }
bool HasSaved(const AnalysisSpec& verb) { return verb.saved != nullptr; }
bool TakesTwo(const AnalysisSpec& verb) { return verb.takes_two(); }
bool HasAll(const AnalysisSpec& verb) {
  return verb.takes_all || verb.ToolThatTakesAll() != nullptr;
}

Choices Keys(const AnalysisSpec& verb) { return {verb.by.begin(), verb.by.end()}; }

Choices Compats(const AnalysisSpec& verb) {
  Choices names;
  for (const CompatRow& tool : kCompats) {
    if (verb.FindPipeline(tool.id) != nullptr) {
      names.push_back(tool.name);
    }
  }
  return names;
}
bool HasCompat(const AnalysisSpec& verb) { return !Compats(verb).empty(); }

Choices StepRules(const AnalysisSpec&) { return {kStepRules.begin(), kStepRules.end()}; }

// ---- what texts mean ----

// For both runs of a comparison.
Result<void> ReadRank(const std::string& text, RunOptions& asked) {
  BS_ASSIGN(asked.ranks, ParseRanges("rank", text));
  asked.test.ranks = asked.ranks;
  return {};
}

Result<void> ReadStep(const std::string& text, RunOptions& asked) {
  BS_ASSIGN(asked.params.selection.steps, ParseRanges("step", text));
  asked.test.steps = asked.params.selection.steps;
  return {};
}

Result<void> ReadStepRule(const std::string& text, RunOptions& asked) {
  const auto found = std::find(kStepRules.begin(), kStepRules.end(), text);
  if (found == kStepRules.end()) {
    return UsageError(fmt::format("unknown rule '{}'", text),
                      fmt::format("rules are {}", fmt::join(kStepRules, ", ")), "step_rule");
  }
  asked.params.selection.step_rule = static_cast<StepRule>(found - kStepRules.begin());
  return {};
}

Result<void> ReadStepPattern(const std::string& text, RunOptions& asked) {
  asked.params.selection.step_pattern = text;
  BS_TRY(StepPattern::Parse(text));
  return {};
}

Result<void> ReadCompat(const std::string& text, RunOptions& asked) {
  std::vector<std::string_view> names;
  for (const CompatRow& tool : kCompats) {
    if (tool.name == text) {
      asked.params.compat = tool.id;
      return {};
    }
    names.push_back(tool.name);
  }
  return UsageError(fmt::format("unknown tool '{}'", text),
                    fmt::format("tools are {}", fmt::join(names, ", ")), "compat");
}

Result<void> ReadTop(const std::string& text, RunOptions& asked) {
  constexpr int kMostRows = 1'000'000'000;
  if (text == "all") {
    asked.top = kMostRows;
    return {};
  }
  BS_ASSIGN(const int top, ParseCount("top", text, kMostRows));
  asked.top = static_cast<size_t>(top);
  return {};
}

Result<void> ReadTimeline(const std::string& text, RunOptions& asked) {
  const std::string_view words[] = {"window", "full", "off"};
  if (std::find(std::begin(words), std::end(words), text) == std::end(words)) {
    return UsageError(fmt::format("'{}' is not one of window, full, off", text), {}, "timeline");
  }
  asked.timeline = text;
  return {};
}

std::string TextOf(const NumberRanges& numbers) {
  std::string text;
  for (const auto& [first, last] : numbers.ranges) {
    text += text.empty() ? "" : ",";
    text += first == last ? fmt::format("{}", first) : fmt::format("{}..{}", first, last);
  }
  return text;
}

// ---- the parameters that verbs share ----

constexpr ParameterRow kShared[] = {
    {.name = "rank",
     .type = "ranges",
     .placeholder = "LIST",
     .doc = "only these ranks: 0 or 0,3 or 2..5",
     .group = "selection",
     .tasks = "report check link query postmortem",
     .applies = Always,
     .read = ReadRank,
     .text = [](const Params&, const NumberRanges& ranks) { return TextOf(ranks); }},
    {.name = "step",
     .type = "ranges",
     .placeholder = "LIST",
     .doc = "only these steps (the N of ProfilerStep#N; others are counted from 0)",
     .group = "selection",
     .tasks = "report check convert",
     .applies = Selects,
     .read = ReadStep,
     .text = [](const Params& params,
                const NumberRanges&) { return TextOf(params.selection.steps); }},
    {.name = "step-rule",
     .type = "choice",
     .placeholder = "RULE",
     .doc = "what belongs to a step on a device, by launch (default) the work launched in it, by "
            "time what runs in its window on the host",
     .group = "selection",
     .tasks = "report check",
     .applies = Selects,
     .choices = StepRules,
     .read = ReadStepRule,
     .text =
         [](const Params& params, const NumberRanges&) {
           return std::string(kStepRules[static_cast<size_t>(params.selection.step_rule)]);
         }},
    {.name = "step-pattern",
     .type = "text",
     .placeholder = "TEXT",
     .doc = "steps are the annotations whose name matches this regular expression, instead of "
            "ProfilerStep#N",
     .group = "selection",
     .tasks = "report check",
     .applies = Selects,
     .read = ReadStepPattern,
     .text = [](const Params& params,
                const NumberRanges&) { return params.selection.step_pattern; }},
    {.name = "gpu",
     .type = "ranges",
     .placeholder = "LIST",
     .doc = "only these devices",
     .group = "selection",
     .tasks = "report check",
     .applies = SelectsInSteps,
     .read = [](const std::string& text, RunOptions& asked) -> Result<void> {
       BS_ASSIGN(asked.params.selection.gpus, ParseRanges("gpu", text));
       return {};
     },
     .text = [](const Params& params,
                const NumberRanges&) { return TextOf(params.selection.gpus); }},
    {.name = "stream",
     .type = "ranges",
     .placeholder = "LIST",
     .doc = "only these device streams",
     .group = "selection",
     .tasks = "report check",
     .applies = SelectsInSteps,
     .read = [](const std::string& text, RunOptions& asked) -> Result<void> {
       BS_ASSIGN(asked.params.selection.streams, ParseRanges("stream", text));
       return {};
     },
     .text = [](const Params& params,
                const NumberRanges&) { return TextOf(params.selection.streams); }},
    {.name = "annotation",
     .type = "text",
     .placeholder = "NAME",
     .doc = "only inside the host annotation of this name",
     .group = "selection",
     .tasks = "report check",
     .applies = SelectsInSteps,
     .read = [](const std::string& text, RunOptions& asked) -> Result<void> {
       asked.params.selection.annotation = text;
       return {};
     },
     .text = [](const Params& params, const NumberRanges&) { return params.selection.annotation; }},
    {.name = "instance",
     .type = "ranges",
     .placeholder = "LIST",
     .doc = "which of its occurrences, counted from 0: 0 or 0,3 or 2..5",
     .group = "selection",
     .tasks = "report check",
     .applies = SelectsInSteps,
     .read = [](const std::string& text, RunOptions& asked) -> Result<void> {
       BS_ASSIGN(asked.params.selection.instances, ParseRanges("instance", text));
       return {};
     },
     .text = [](const Params& params,
                const NumberRanges&) { return TextOf(params.selection.instances); }},
    {.name = "base-rank",
     .type = "ranges",
     .placeholder = "LIST",
     .doc = "of the first input, instead of --rank",
     .group = "selection",
     .applies = TakesTwo,
     .read = [](const std::string& text, RunOptions& asked) -> Result<void> {
       BS_ASSIGN(asked.ranks, ParseRanges("base-rank", text));
       return {};
     }},
    {.name = "test-rank",
     .type = "ranges",
     .placeholder = "LIST",
     .doc = "of the second input, instead of --rank",
     .group = "selection",
     .applies = TakesTwo,
     .read = [](const std::string& text, RunOptions& asked) -> Result<void> {
       BS_ASSIGN(asked.test.ranks, ParseRanges("test-rank", text));
       return {};
     }},
    {.name = "base-step",
     .type = "ranges",
     .placeholder = "LIST",
     .doc = "of the first input, instead of --step",
     .group = "selection",
     .applies = TakesTwo,
     .read = [](const std::string& text, RunOptions& asked) -> Result<void> {
       BS_ASSIGN(asked.params.selection.steps, ParseRanges("base-step", text));
       return {};
     }},
    {.name = "test-step",
     .type = "ranges",
     .placeholder = "LIST",
     .doc = "of the second input, instead of --step",
     .group = "selection",
     .applies = TakesTwo,
     .read = [](const std::string& text, RunOptions& asked) -> Result<void> {
       BS_ASSIGN(asked.test.steps, ParseRanges("test-step", text));
       return {};
     }},
    {.name = "begin",
     .type = "time",
     .placeholder = "TIME",
     .doc = "only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or part "
            "of the name of a kernel, the first of which starts there",
     .group = "selection",
     .tasks = "report check convert",
     .applies = SelectsInSteps,
     .read = [](const std::string& text, RunOptions& asked) -> Result<void> {
       BS_ASSIGN(asked.params.selection.range.begin, TimePoint::Parse("begin", text));
       return {};
     },
     .text = [](const Params& params,
                const NumberRanges&) { return params.selection.range.begin.text; }},
    {.name = "end",
     .type = "time",
     .placeholder = "TIME",
     .doc = "only up to here, as --begin",
     .group = "selection",
     .tasks = "report check convert",
     .applies = SelectsInSteps,
     .read = [](const std::string& text, RunOptions& asked) -> Result<void> {
       BS_ASSIGN(asked.params.selection.range.end, TimePoint::Parse("end", text));
       return {};
     },
     .text = [](const Params& params,
                const NumberRanges&) { return params.selection.range.end.text; }},
    {.name = "by",
     .type = "list",
     .placeholder = "KEYS",
     .doc = "group by these, too",
     .applies = HasKeys,
     .choices = Keys,
     .read = [](const std::string& text, RunOptions& asked) -> Result<void> {
       asked.params.by = SplitList(text);
       return {};
     },
     .text = [](const Params& params,
                const NumberRanges&) { return fmt::format("{}", fmt::join(params.by, ",")); }},
    {.name = "compat",
     .type = "choice",
     .placeholder = "TOOL",
     .doc = "rows, units and rounding of this tool",
     .applies = HasCompat,
     .choices = Compats,
     .read = ReadCompat,
     .text = [](const Params& params,
                const NumberRanges&) { return std::string(CompatName(params.compat)); }},
    {.name = "all",
     .type = "flag",
     .placeholder = "",
     .doc = "also copies and memsets; ops --compat key_averages: also kernels and runtime calls",
     .applies = HasAll,
     .read = [](const std::string&, RunOptions& asked) -> Result<void> {
       asked.params.all = true;
       return {};
     },
     .text = [](const Params& params,
                const NumberRanges&) { return std::string(params.all ? "true" : ""); }},
    {.name = "sort",
     .type = "text",
     .placeholder = "COLUMN",
     .doc = "sort rows by this column, numbers from large to small",
     .group = "output",
     .tasks = "reduce postmortem",
     .applies = Always,
     .read = [](const std::string& text, RunOptions& asked) -> Result<void> {
       asked.sort = text;
       return {};
     }},
    {.name = "top",
     .type = "count",
     .placeholder = "N",
     .doc = "show the first N rows of each table; all: every row of every table, of which text "
            "shows what "
            "fits two screens",
     .group = "output",
     .tasks = "report reduce postmortem",
     .applies = Always,
     .read = ReadTop},
    {.name = "overlay",
     .type = "file",
     .placeholder = "FILE",
     .doc = "also write the whole trace with what was selected drawn into it; into a folder under "
            "its own name, several traces so only; .gz compresses. It copies all that the source "
            "holds, but for what --scrub leaves out",
     .group = "output",
     .applies = HasOverlay,
     .read = [](const std::string& text, RunOptions& asked) -> Result<void> {
       asked.overlay = text;
       return {};
     }},
    {.name = "save",
     .type = "file",
     .placeholder = "FILE",
     .doc = "also write what the answer follows from, for --load; into a folder as NAME.graph, "
            "several traces so only; .gz compresses",
     .group = "output",
     .applies = HasSaved,
     .read = [](const std::string& text, RunOptions& asked) -> Result<void> {
       asked.save = text;
       return {};
     }},
};

// ---- tasks, and the parameters of each ----

constexpr ParameterRow kHost{"host", "file", "FILE",
                             "execution trace of PyTorch (ExecutionTraceObserver)", "selection"};
constexpr ParameterRow kDevice{"device", "file", "FILE",
                               "trace of PyTorch's profiler, recorded at the same time",
                               "selection"};
constexpr ParameterRow kAsChakra{.name = "compat",
                                 .type = "choice",
                                 .placeholder = "TOOL",
                                 .doc = "rows, units and rounding of this tool",
                                 .choice = "chakra"};

constexpr ParameterRow kPlainStep{
    "plain-step", "times", "TIME",
    "what a step takes without the profiler, as you measured it; or A,B: between which it lies"};

constexpr ParameterRow kReport[] = {
    {"against", "file", "INPUT", "compare every section with the run INPUT, and show what changed"},
    {.name = "timeline",
     .type = "choice",
     .placeholder = "WHAT",
     .doc =
         "events of the timeline as recorded: as many as fit, first those that findings lead to; "
         "all, however large the page; or no timeline",
     .default_text = "window",
     .choice = "window|full|off",
     .read = ReadTimeline},
    kPlainStep,
    {"card", "file", "FILE", "write a picture for chats and slides, .svg or .png", "output"},
    {"markdown", "file", "FILE", "write a short text for pull requests", "output"}};

constexpr ParameterRow kCheck[] = {
    {"budget", "file", "FILE", "budgets to keep, in TOML"},
    {"baseline", "text", "RUN...",
     "runs to compare with: recordings, what --save-baseline wrote, or a folder of that"},
    {"history", "text", "RUN...",
     "runs of one unchanged program, which say how much runs differ, where there are too few"},
    {"fail", "share", "SHARE", "a change that matters", "question", "3%"},
    {"all", "flag", "", "every class and kernel decides, not the time of the step alone"},
    {"force", "flag", "", "compare runs on other devices, or with another amount of work"},
    {"strict", "flag", "", "exit status 3 where nothing can be said"},
    kPlainStep,
    {"save-baseline", "file", "FILE", "write the values of INPUT, for --baseline and --history",
     "output"},
    {"junit", "file", "FILE", "also write a JUnit report", "output"},
    {"sarif", "file", "FILE", "also write SARIF 2.1.0, which code reviews show", "output"},
    {"markdown", "file", "FILE", "also write a summary in Markdown", "output"},
    {"html", "file", "FILE", "also write a page with charts, for a browser", "output"}};

constexpr ParameterRow kConvert[] = {
    {"to", "choice", "FORMAT", "what to write (default: what the ending of OUT says)", "output"},
    {"overlay", "list", "VERB[,VERB...]",
     "draw what these verbs find (critical-path, bandwidth, queue, sequences) into a copy of one "
     "JSON trace",
     "output"},
    {.name = "align",
     .type = "choice",
     .placeholder = "BY",
     .doc = "several files: put the clocks of ranks in line by what they did together, as waits "
            "does (default: as recorded)",
     .choice = "collectives"},
    {"no-context", "flag", "",
     "of a part: only what starts in it, not what verbs need to answer as of the whole"}};

constexpr ParameterRow kLink[] = {kHost, kDevice, kAsChakra};

constexpr ParameterRow kChakra[] = {
    kHost,
    kDevice,
    kAsChakra,
    {"linked", "file", "FILE", "check: the linked trace the .et was made from"},
    {"order", "flag", "", "check: also the order in which a simulator starts the nodes"},
    {"num-npus", "count", "N", "devices: of a workload (1), generate (64), timeline"},
    {"num-passes", "count", "N", "convert: passes over the layers of a workload", "question", "1"},
    {"npu-frequency", "count", "MHZ", "timeline: clock whose cycles the log counts"},
    {"default-runtime", "count", "US", "generate: of computation", "question", "5"},
    {"default-tensor-size", "count", "BYTES", "generate: of memory, send and receive", "question",
     "1024"},
    {"default-comm-size", "count", "BYTES", "generate: of collectives", "question", "65536"}};

constexpr ParameterRow kQuery[] = {
    {"schema", "flag", "", "show the tables, columns and functions there are"},
    {"row-limit", "count", "N",
     "give the first N rows; without it more than a million are an error", "question", ""},
    {"time-limit", "number", "SECONDS", "stop a statement that works longer"},
    {"temp-limit", "text", "SIZE", "stop a statement whose temporary files grow beyond it",
     "question", "4G"}};

constexpr ParameterRow kMap[] = {
    {"budget", "file", "FILE", "map check: also what these budgets are about"},
    {"shard", "text", "I/N", "only part I of N of the files, from 0/N on, for N processes"},
    {"force", "flag", "", "-o DIR/: also where the part is there", "output"}};

constexpr ParameterRow kReduce[] = {
    {"expect", "count", "N", "how many traces the run has; fewer are reported"},
    {"strict", "flag", "", "exit status 1 where parts or traces are missing"},
    {"partial", "file", "FILE", "write one part of them all instead of the answer", "output"}};

constexpr ParameterRow kRecord[] = {
    {"paused", "flag", "",
     "record from the first start on: of borescope record start, or the program"},
    {"no-nvtx", "flag", "", "without ranges and marks of NVTX"},
    {"no-roctx", "flag", "", "without ranges and marks of ROCTX"},
    {"no-cuda", "flag", "", "without calls and device work of CUDA"},
    {"rocm", "flag", "", "also those of AMD, by rocprofiler-sdk or roctracer; experimental"},
    {"api", "text", "WHICH",
     "of calls of CUDA, HIP and RCCL: all, launch (those that launch device work), none"},
    {"api-skip", "text", "NAME[,NAME...]",
     "without calls of these functions of CUDA, HIP and RCCL"},
    {"no-children", "flag", "", "without programs that the program starts"},
    {"attach", "text", "PID[,PID...]", "instead of a program: PyTorch processes that run"},
    {"iterations", "text", "N", "with --attach: this many steps of the optimizer"},
    {"start", "text", "WHEN",
     "when recording starts: now, paused (as --paused), after:10s, range:TEXT (when a range or "
     "mark of the name begins), step:N, api (at cudaProfilerStart or hipProfilerStart)"},
    {"stop", "text", "WHEN",
     "when it stops: after:5s (as --for), range (the end of the range that started), range:TEXT "
     "(the end of one), step:N (before it), api"},
    {"repeat", "text", "N",
     "start again at each range or step: --repeat without limit, --repeat=3 three times in a "
     "process"},
    {"for", "text", "TIME", "stop recording so long after its first start; with --attach, 2s"},
    {"children", "text", "WHICH",
     "of what the program starts: all, none (as --no-children), match:PATTERN (programs of such a "
     "name, as match:python*)"},
    {"rank-only", "text", "N[,N...]", "only these ranks of a distributed job"},
    {"memory", "flag", "", "also allocations of device memory"},
    {"sync", "flag", "", "also what synchronisation waits for"},
    {"counters", "text", "NAME[,NAME...]",
     "also these hardware counters of kernels, which are replayed for it (CUDA 12.6 or later; "
     "`borescope counters --help` has names); experimental"},
    {"counters-kernels", "text", "PATTERN",
     "with --counters: of kernels with such a mangled name alone, as *gemm*"},
    {"counters-skip", "count", "N", "with --counters: only after so many launches of them"},
    {"counters-count", "count", "N", "with --counters: of so many launches in each process",
     "question", "100"},
    {"warm", "flag", "",
     "collect device work of CUDA once at its start, so that a later start of recording is quick"},
    {"graph-nodes", "flag", "", "a kernel per node of a CUDA graph, not a row per graph; slower"},
    {"max-bytes", "text", "SIZE", "stop the log of a process at this size, e.g. 4G"},
    {"ops", "text", "HOW",
     "also operators of PyTorch, modules and autograd: --ops is --ops=nvtx; --ops=profile has "
     "types and values, but loses the last steps in a crash"},
    {"shapes", "flag", "", "--ops=nvtx: also shapes of inputs; slower"},
    {"ops-steps", "count", "N", "--ops=profile: steps kept in memory", "question", "20"},
    {"python", "text", "WHAT", "also functions of Python: --python is --python=calls"},
    {"rpd-compat", "flag", "",
     "rpdTracerControl and librpd_tracer.so record here; RPDT_FILENAME, RPDT_AUTOSTART are read"},
    {"postmortem", "flag", "",
     "PyTorch leaves dumps and error files beside the recording; if the program dies, the verdict "
     "on them is printed"},
    {"ring", "text", "TIME", "keep the last part of each log alone, e.g. 30s"},
    {"flush", "text", "TIME", "fetch device records this often (100ms)"},
    {"sample", "text", "TIME", "measure GPUs, processes and the system this often, e.g. 100ms"},
    {"spool", "text", "FOLDER", "keep logs here, as in /dev/shm, until the program ends", "output"},
    {"force", "flag", "", "replace libraries that other tools have injected", "output"},
    {"replace", "flag", "", "replace an earlier recording of the name", "output"},
};

constexpr ParameterRow kPostmortem[] = {
    {"world", "count", "N", "ranks of the job, where no file says so"},
    {"skip-frames", "text", "RE",
     "files of this regular expression are never the line of the program, beside those of "
     "libraries"},
    {"limit", "text", "SIZE",
     "memory that the process may reserve, 1.58GiB, 1.7G or bytes, where no file says so"},
    {"fix-time", "count", "SECONDS", "time for replays of what would have helped", "question",
     "20"},
    {.name = "fail-on",
     .type = "choice",
     .placeholder = "WHAT",
     .doc = "exit status 1 if a cause was found, or if it is unclear",
     .choice = "found|unclear"},
    {"html", "file", "FILE", "also write a page with charts, for a browser", "output"}};

constexpr ParameterRow kBench[] = {
    {"trace", "file", "INPUT", "also the times of the kernel in this recording"},
    {"python", "file", "PROGRAM", "the Python to run it with", "question", "python3"},
    {"timeout", "count", "SECONDS", "give up after this time", "question", "300"}};

constexpr TaskRow kTasks[] = {
    {"report", "one HTML page with every answer, charts and tables; opens without a network",
     "borescope report run/ -o report.html", kReport},
    {"check", "whether a run keeps its budgets, and is slower than a baseline; exit status 0 or 1",
     "borescope check run/ --budget budget.toml", kCheck},
    {"convert", "traces in another format: .json[.gz], .pftrace, .rpd, .csv",
     "borescope convert rank-0.json.gz rank-0.rpd --begin 10% --end 20%", kConvert},
    {"link", "an execution trace of PyTorch with the times and kernels of its device trace",
     "borescope link --host et.json --device kineto.json.gz -o linked.json", kLink},
    {"chakra", "Chakra execution traces (.et): convert, check, dump, generate, draw, timeline",
     "borescope chakra convert linked.json rank.0.et", kChakra},
    {"query", "answers of SQL over what was recorded",
     "borescope query \"SELECT * FROM top LIMIT 10\" trace.json.gz", kQuery},
    {"map", "one part of an answer, of the files that are here, for reduce",
     "borescope map summary rank-0.json.gz -o rank-0.part", kMap},
    {"reduce", "the answer of all parts that map wrote", "borescope reduce parts/ --top 10",
     kReduce},
    {"record", "runs a program and records it: NVTX, ROCTX, CUDA, ranges of your own",
     "borescope record -o train -- python train.py", kRecord},
    {"postmortem", "why a job hung, died or ran out of memory, from what it left",
     "borescope postmortem dumps/", kPostmortem},
    {"bench-kernel", "runs the benchmark of a kernel that TorchInductor generated",
     "borescope bench-kernel k.py --trace trace.json.gz", kBench},
};

bool HasWord(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) {
      return true;
    }
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

}  // namespace

std::span<const ParameterRow> SharedParameters() { return kShared; }

const ParameterRow* FindShared(std::string_view name) {
  const auto* row = std::find_if(std::begin(kShared), std::end(kShared),
                                 [&](const ParameterRow& each) { return each.name == name; });
  return row == std::end(kShared) ? nullptr : row;
}

std::vector<std::string> NamesOfSelection() {
  std::vector<std::string> names;
  for (const ParameterRow& row : kShared) {
    if (row.group == "selection" && row.applies != Always && row.applies != TakesTwo) {
      names.push_back("`" + ParameterName(row.name) + "`");
    }
  }
  return names;
}

std::span<const TaskRow> TaskRows() { return kTasks; }

const TaskRow* FindTask(std::string_view name) {
  const auto* row = std::find_if(std::begin(kTasks), std::end(kTasks),
                                 [&](const TaskRow& each) { return each.name == name; });
  return row == std::end(kTasks) ? nullptr : row;
}

std::vector<const ParameterRow*> ParametersOf(const TaskRow& task) {
  std::vector<const ParameterRow*> rows;
  for (const ParameterRow& shared : kShared) {
    if (HasWord(shared.tasks, task.name)) {
      rows.push_back(&shared);
    }
  }
  for (const ParameterRow& own : task.own) {
    rows.push_back(&own);
  }
  return rows;
}

}  // namespace borescope::internal
