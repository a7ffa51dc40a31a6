#include "borescope/api/tasks/task_rows.h"

namespace borescope {
namespace {

constexpr TaskParameterRow kHost{
    "host", "file", "FILE", "execution trace of PyTorch (ExecutionTraceObserver)", "selection"};
constexpr TaskParameterRow kDevice{"device", "file", "FILE",
                                   "trace of PyTorch's profiler, recorded at the same time",
                                   "selection"};
constexpr TaskParameterRow kAsChakra{.name = "compat",
                                     .type = "choice",
                                     .placeholder = "TOOL",
                                     .doc = "rows, units and rounding of this tool",
                                     .choice = "chakra"};

constexpr TaskParameterRow kPlainStep{
    "plain-step", "times", "TIME",
    "what a step takes without the profiler, as you measured it; or A,B: between which it lies"};

constexpr std::string_view kReportShared[] = {"rank",  "step",   "step-rule",  "step-pattern",
                                              "gpu",   "stream", "annotation", "instance",
                                              "begin", "end",    "top"};
constexpr TaskParameterRow kReport[] = {
    {"against", "file", "INPUT", "compare every section with the run INPUT, and show what changed"},
    {.name = "timeline",
     .type = "choice",
     .placeholder = "WHAT",
     .doc = "events of the timeline as recorded: those of the slowest step, or of the stretch with "
            "the most work; all, however large the page; or no timeline",
     .default_text = "window",
     .choice = "window|full|off"},
    kPlainStep,
    {"card", "file", "FILE", "write a picture for chats and slides, .svg or .png", "output"},
    {"markdown", "file", "FILE", "write a short text for pull requests", "output"}};

constexpr TaskParameterRow kCheck[] = {
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

constexpr std::string_view kCheckShared[] = {"rank",  "step",   "step-rule",  "step-pattern",
                                             "gpu",   "stream", "annotation", "instance",
                                             "begin", "end"};

constexpr std::string_view kConvertShared[] = {"step", "begin", "end"};
constexpr TaskParameterRow kConvert[] = {
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

constexpr std::string_view kRankShared[] = {"rank"};
constexpr TaskParameterRow kLink[] = {kHost, kDevice, kAsChakra};

constexpr TaskParameterRow kChakra[] = {
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

constexpr TaskParameterRow kQuery[] = {
    {"schema", "flag", "", "show the tables, columns and functions there are"},
    {"row-limit", "count", "N",
     "give the first N rows; without it more than a million are an error", "question", ""},
    {"time-limit", "number", "SECONDS", "stop a statement that works longer"},
    {"temp-limit", "text", "SIZE", "stop a statement whose temporary files grow beyond it",
     "question", "4G"}};

constexpr TaskParameterRow kMap[] = {
    {"budget", "file", "FILE", "map check: also what these budgets are about"},
    {"shard", "text", "I/N", "only part I of N of the files, from 0/N on, for N processes"},
    {"force", "flag", "", "-o DIR/: also where the part is there", "output"}};

constexpr std::string_view kReduceShared[] = {"sort", "top"};
constexpr TaskParameterRow kReduce[] = {
    {"expect", "count", "N", "how many traces the run has; fewer are reported"},
    {"strict", "flag", "", "exit status 1 where parts or traces are missing"},
    {"partial", "file", "FILE", "write one part of them all instead of the answer", "output"}};

constexpr TaskParameterRow kRecord[] = {
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
     "mark "
     "of the name begins), step:N, api (at cudaProfilerStart or hipProfilerStart)"},
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
    {"ring", "text", "TIME", "keep the last part of each log alone, e.g. 30s"},
    {"flush", "text", "TIME", "fetch device records this often (100ms)"},
    {"sample", "text", "TIME", "measure GPUs, processes and the system this often, e.g. 100ms"},
    {"spool", "text", "FOLDER", "keep logs here, as in /dev/shm, until the program ends", "output"},
    {"force", "flag", "", "replace libraries that other tools have injected", "output"},
    {"replace", "flag", "", "replace an earlier recording of the name", "output"},
};

constexpr TaskParameterRow kBench[] = {
    {"trace", "file", "INPUT", "also the times of the kernel in this recording"},
    {"python", "file", "PROGRAM", "the Python to run it with", "question", "python3"},
    {"timeout", "count", "SECONDS", "give up after this time", "question", "300"}};

constexpr TaskRow kTasks[] = {
    {"report", "one HTML page with every answer, charts and tables; opens without a network",
     "borescope report run/ -o report.html", kReportShared, kReport},
    {"check", "whether a run keeps its budgets, and is slower than a baseline; exit status 0 or 1",
     "borescope check run/ --budget budget.toml", kCheckShared, kCheck},
    {"convert", "traces in another format: .json[.gz], .pftrace, .rpd, .csv",
     "borescope convert rank-0.json.gz rank-0.rpd --begin 10% --end 20%", kConvertShared, kConvert},
    {"link", "an execution trace of PyTorch with the times and kernels of its device trace",
     "borescope link --host et.json --device kineto.json.gz -o linked.json", kRankShared, kLink},
    {"chakra",
     "Chakra execution traces (.et): convert, check, dump, generate, draw, timeline",
     "borescope chakra convert linked.json rank.0.et",
     {},
     kChakra},
    {"query", "answers of SQL over what was recorded",
     "borescope query \"SELECT * FROM top LIMIT 10\" trace.json.gz", kRankShared, kQuery},
    {"map",
     "one part of an answer, of the files that are here, for reduce",
     "borescope map summary rank-0.json.gz -o rank-0.part",
     {},
     kMap},
    {"reduce", "the answer of all parts that map wrote", "borescope reduce parts/ --top 10",
     kReduceShared, kReduce},
    {"record",
     "runs a program and records it: NVTX, ROCTX, CUDA, ranges of your own",
     "borescope record -o train -- python train.py",
     {},
     kRecord},
    {"bench-kernel",
     "runs the benchmark of a kernel that TorchInductor generated",
     "borescope bench-kernel k.py --trace trace.json.gz",
     {},
     kBench},
};

}  // namespace

std::span<const TaskRow> TaskRows() { return kTasks; }

}  // namespace borescope
