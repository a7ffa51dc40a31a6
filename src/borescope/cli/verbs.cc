#include "borescope/cli/verbs.h"

#include <algorithm>
#include <iterator>

#include "borescope/cli/commands/verb_commands.h"

namespace borescope::cli {

namespace {

bool IsNamed(const ParameterInfo& parameter, std::string_view option) {
  return std::equal(
      parameter.name.begin(), parameter.name.end(), option.begin(), option.end(),
      [](char written, char typed) { return (written == '_' ? '-' : written) == typed; });
}

const ParameterInfo* FindNamed(const std::vector<ParameterInfo>& parameters,
                               std::string_view name) {
  const auto found =
      std::find_if(parameters.begin(), parameters.end(),
                   [&](const ParameterInfo& parameter) { return IsNamed(parameter, name); });
  return found == parameters.end() ? nullptr : &*found;
}

}  // namespace

const VerbInfo* FindVerb(std::string_view name) {
  const std::vector<VerbInfo>& verbs = Describe().verbs;
  const auto found = std::find_if(verbs.begin(), verbs.end(),
                                  [&](const VerbInfo& verb) { return verb.name == name; });
  return found == verbs.end() ? nullptr : &*found;
}

const TaskInfo* FindTask(std::string_view name) {
  const std::vector<TaskInfo>& tasks = Describe().tasks;
  const auto found = std::find_if(tasks.begin(), tasks.end(),
                                  [&](const TaskInfo& task) { return task.name == name; });
  return found == tasks.end() ? nullptr : &*found;
}

const ParameterInfo* FindParameter(const VerbInfo& verb, std::string_view name) {
  return FindNamed(verb.parameters, name);
}

const ParameterInfo* FindParameter(const TaskInfo& task, std::string_view name) {
  return FindNamed(task.parameters, name);
}

const ParameterInfo* FindParameter(Verbs verbs, std::string_view name) {
  for (const VerbInfo* verb : verbs) {
    if (const ParameterInfo* parameter = FindParameter(*verb, name); parameter != nullptr) {
      return parameter;
    }
  }
  return nullptr;
}

std::string OptionName(const ParameterInfo& parameter) {
  std::string name = parameter.name;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::vector<std::string_view> NamesOf(Verbs verbs) {
  std::vector<std::string_view> names;
  names.reserve(verbs.size());
  for (const VerbInfo* verb : verbs) {
    names.push_back(verb->name);
  }
  return names;
}

namespace {

constexpr std::string_view kConvertOptions[] = {"scrub",   "scrub-key",    "scrub-map",
                                                "threads", "memory-limit", "no-progress"};

constexpr std::string_view kLinkOptions[] = {
    "chakra-host-trace", "pytorch-et-file", "chakra-device-trace", "kineto-file",
    "output-file",       "threads",         "memory-limit",        "no-progress"};

// Copies without secrets are made first, of every file that is read.
constexpr InsteadRow kScrubFirst[] = {
    {"scrub", "borescope convert --scrub for each file, and name the copies here"}};

constexpr std::string_view kQueryOptions[] = {
    "captures",   "counters",    "counters-anyway", "threads", "memory-limit", "cache",
    "cache-size", "no-progress", "verbose",         "scrub",   "scrub-key",    "scrub-map"};

// Statements select and order by themselves. `step`, `gpu` and `stream` mean the same as the
// options; `ts_ns` is the start, by which --begin and --end select, too.
constexpr InsteadRow kQueryInstead[] = {
    {"step", "WHERE step = N in the statement"},
    {"gpu", "WHERE gpu = N in the statement"},
    {"stream", "WHERE stream = N in the statement"},
    {"begin", "WHERE ts_ns BETWEEN A AND B in the statement, on the clock of the file"},
    {"end", "WHERE ts_ns BETWEEN A AND B in the statement, on the clock of the file"},
    {"by", "GROUP BY in the statement"},
    {"sort", "ORDER BY in the statement"},
    {"top", "LIMIT N in the statement"}};

constexpr std::string_view kRecordDetails =
    "-o NAME is the folder NAME.bsr, which every verb reads. NAME.rpd, NAME.json.gz\n"
    "or NAME.pftrace converts it, too. %h is the host, %p the process, %r the rank,\n"
    "%q{VARIABLE} a variable.\n"
    "The exit status is that of the program.\n"
    "  borescope record --attach PID[,PID...] [--for 2s | --iterations N] [-o FOLDER]\n"
    "    a profile of PyTorch processes that run, started with KINETO_USE_DAEMON=1\n"
    "  borescope record start|stop NAME.bsr   all processes of a run, while they run\n"
    "  borescope record mark NAME.bsr TEXT    a moment, from outside of the programs\n"
    "  borescope record flush NAME.bsr        fetches what devices did until now;\n"
    "                                         with -o COPY also copies all there is\n"
    "  borescope record status NAME.bsr       its processes and their logs\n";

constexpr std::string_view kReduceOptions[] = {"verbose"};

constexpr std::string_view kMapDetails =
    "The options are those of the verbs, without --format, --sort, --top, --overlay\n"
    "and --save: borescope map VERB --help. Parts of one question are joined by\n"
    "borescope reduce, on any machine, in any order; those of `map report` by\n"
    "borescope report, and those of `map check` by borescope check.\n"
    "-o DIR/ names the part by its --shard, and keeps one that is there and holds the\n"
    "answer, so that a job that was interrupted makes only what is missing.\n";

constexpr WordsRow kMapWords[] = {
    {"budget", "FILE", "map check: also what the budgets of this file are about"}};

constexpr std::string_view kReduceDetails =
    "Of a folder, files that are no parts are passed over.\n"
    "--partial joins parts without reducing them: for a tree of several machines.\n";

constexpr std::string_view kEngines[] = {"slurm", "k8s"};
constexpr std::string_view kLaunchOptions[] = {"shards",    "nodes",   "cpus",  "mem",    "name",
                                               "partition", "account", "time",  "sbatch", "image",
                                               "volume",    "user",    "force", "sort",   "top"};

constexpr std::string_view kLaunchDetails =
    "ENGINE is slurm (a shell script) or k8s (YAML). What is written to standard\n"
    "output starts map for every shard, and reduce once all have ended: parts, logs\n"
    "and the answer go to DIR. Run again, it makes what is missing. Nothing is\n"
    "started here. The options of the verbs are those of map; --format, --sort and\n"
    "--top say how the answer is shown; `launch ENGINE report` makes the page.\n"
    "  borescope launch slurm summary run -o parts | sh\n"
    "  borescope launch k8s summary /data/run -o /data/parts --shards 64 \\\n"
    "    --image IMAGE --volume CLAIM:/data | kubectl apply -f -\n";

constexpr WordsRow kLaunchWords[] = {{"output", "DIR", "the folder for parts, logs and the answer"},
                                     {"force", "", "map also where the part is there already"}};

constexpr std::string_view kChakraOptions[] = {"memory-limit"};

constexpr std::string_view kChakraDetails =
    "TASK is one of:\n"
    "  convert IN OUT    a linked PyTorch trace (borescope link), or a workload of\n"
    "                    ASTRA-sim 1.0, as .et; with --host and --device links first\n"
    "  check ET...       whether simulators can trust it; exit status 1 where not\n"
    "  dump ET [OUT]     as JSON\n"
    "  generate [FOLDER] small .et files to try a simulator with\n"
    "  draw ET [OUT]     dependencies as .dot or .graphml\n"
    "  timeline LOG [OUT]\n"
    "                    log of a simulator as Chrome trace\n"
    "--compat chakra: as the tools of MLCommons Chakra, byte for byte.\n";

// Options of the tools of MLCommons Chakra.
constexpr AliasRow kChakraAliases[] = {
    {"--input", AliasRow::Use::kInput},
    {"--input-filename", AliasRow::Use::kInput},
    {"--output-filename", AliasRow::Use::kRename, "--output"},
    {"--num-npus", AliasRow::Use::kRename, "--num-npus"},
    {"--num-passes", AliasRow::Use::kRename, "--num-passes"},
    {"--npu-frequency", AliasRow::Use::kRename, "--npu-frequency"},
    {"--default-runtime", AliasRow::Use::kRename, "--default-runtime"},
    {"--default-tensor-size", AliasRow::Use::kRename, "--default-tensor-size"},
    {"--default-comm-size", AliasRow::Use::kRename, "--default-comm-size"},
    {"--log-filename", AliasRow::Use::kIgnore},
    {"--input-type", AliasRow::Use::kIgnore},
    {"--num-dims", AliasRow::Use::kIgnore},
    {"--simulate", AliasRow::Use::kIgnoreFlag},
};
constexpr std::string_view kReportOptions[] = {
    "captures",   "counters",    "counters-anyway", "threads", "memory-limit", "cache",
    "cache-size", "no-progress", "verbose",         "scrub",   "scrub-key",    "scrub-map"};
constexpr std::string_view kReportDetails =
    "PART is what borescope map report wrote, of any number of machines.\n"
    "--card and --markdown write no page unless -o names one; `--markdown -` writes\n"
    "to standard output.\n";
constexpr std::string_view kCheckOptions[] = {"captures", "threads", "memory-limit", "no-progress",
                                              "verbose"};
constexpr std::string_view kCheckDetails =
    "Each INPUT is one execution of the program: a file, or a folder of its ranks.\n"
    "Steps of one run share its level, so that runs are compared, not steps: 3 v 3 or\n"
    "more, or fewer with --history. One run a side cannot tell a change from chance.\n"
    "  borescope check run1/ run2/ run3/ --baseline main1/ main2/ main3/\n"
    "  borescope check run/ --save-baseline store/1234.json\n"
    "PART is what borescope map check wrote; the folder of all parts is best.\n"
    "Exit status: 0 kept, 1 broken, 2 an error, or recordings not as good as the\n"
    "budget file asks, 3 cannot tell, under --strict (else 0).\n";
constexpr std::string_view kPostmortemOptions[] = {"threads", "memory-limit", "no-progress",
                                                   "scrub", "scrub-key"};
constexpr std::string_view kPostmortemDetails =
    "A folder holds what one job left: dumps of PyTorch's flight recorder and\n"
    "memory snapshots, a file a rank, as pickle or JSON; error files; logs. They\n"
    "may be compressed. Folders in it are searched, too.\n"
    "Exit status: 0 done, 1 --fail-on, 2 usage, nothing readable, or a file that\n"
    "should have been readable was not.\n";
constexpr std::string_view kOpenOptions[] = {
    "report",       "as",          "port",    "no-browser", "timeout",   "captures", "threads",
    "memory-limit", "no-progress", "verbose", "scrub",      "scrub-key", "scrub-map"};

constexpr std::string_view kOpenDetails =
    "The trace is served to programs of this machine only, and opened in Perfetto's\n"
    "page (https://ui.perfetto.dev), which reads it from here: nothing is uploaded.\n"
    "It is converted to Perfetto's protobuf first; several inputs become one trace.\n"
    "Without a browser the address is printed. Ends once the page has the trace, or\n"
    "when nobody began to fetch it by the end of --timeout. With --report of a folder\n"
    "it stays and follows ranks that arrive, until Ctrl-C, or until no page has asked\n"
    "for the length of --timeout.\n"
    "Selections other than --step, --begin and --end are those of --report.\n";

constexpr std::string_view kListOptions[] = {"schema"};

constexpr std::string_view kListDetails =
    "--schema: also their parameters with types and defaults, and their tables with\n"
    "the units and meanings of all columns, for programs.\n";

constexpr WordsRow kListWords[] = {
    {"schema", "", "also the parameters of verbs, and the columns of their tables"}};

constexpr std::string_view kCompletionDetails =
    "The example's line in ~/.bashrc, or with zsh behind compinit in ~/.zshrc, is for\n"
    "every shell. fish reads ~/.config/fish/completions/borescope.fish.\n";

// Verbs without tables have no format for them, nor colours; some write no file.
constexpr std::string_view kOfTables[] = {"format", "color", "csv-safe"};
constexpr std::string_view kOfFiles[] = {"format", "color", "csv-safe", "output"};

constexpr std::string_view kNoColours[] = {"color"};

// Rows without a summary and an example have those of the library's task of the name.
constexpr VerbRow kRows[] = {
    {.name = "report",
     .usage = "[OPTIONS] INPUT...|PART...",
     .run = RunReportVerb,
     .options = kReportOptions,
     .details = kReportDetails,
     .pointless = kOfTables},
    {.name = "check",
     .usage = "[OPTIONS] INPUT...|PART... [--baseline RUN...]",
     .run = RunCheckVerb,
     .options = kCheckOptions,
     .details = kCheckDetails,
     .instead = kScrubFirst},
    {.name = "open",
     .usage = "[OPTIONS] INPUT...",
     .run = RunOpenVerb,
     .summary = "a trace on Perfetto's timeline, or the report, in your browser",
     .example = "borescope open rank-0.json.gz",
     .options = kOpenOptions,
     .like = "report",
     .details = kOpenDetails,
     .pointless = kOfFiles},
    {.name = "convert",
     .usage = "IN... OUT [OPTIONS]",
     .run = RunConvertVerb,
     .options = kConvertOptions,
     .pointless = kOfTables},
    {.name = "link",
     .usage = "--host ET --device TRACE -o LINKED [OPTIONS]",
     .run = RunLinkVerb,
     .options = kLinkOptions,
     .instead = kScrubFirst},
    {.name = "chakra",
     .usage = "TASK [OPTIONS] [FILE]...",
     .run = RunChakraVerb,
     .options = kChakraOptions,
     .details = kChakraDetails,
     .aliases = kChakraAliases,
     .instead = kScrubFirst},
    {.name = "query",
     .usage = "[OPTIONS] [STATEMENT] INPUT...",
     .run = RunQueryVerb,
     .options = kQueryOptions,
     .instead = kQueryInstead},
    {.name = "map",
     .usage = "VERB[,VERB...] [OPTIONS] INPUT... -o PART|DIR/",
     .run = RunMapVerb,
     .details = kMapDetails,
     .pointless = kOfTables,
     .words = kMapWords,
     .takes_verbs = true},
    {.name = "reduce",
     .usage = "[OPTIONS] PART...",
     .run = RunReduceVerb,
     .options = kReduceOptions,
     .details = kReduceDetails},
    {.name = "launch",
     .usage = "ENGINE VERB[,VERB...] [OPTIONS] INPUT... -o DIR",
     .run = RunLaunchVerb,
     .summary = "jobs that map and reduce a run: a script for Slurm, YAML for Kubernetes",
     .example = "borescope launch slurm summary run -o parts --shards 4",
     .options = kLaunchOptions,
     .details = kLaunchDetails,
     .pointless = kNoColours,
     .words = kLaunchWords,
     .takes_verbs = true,
     .tasks = kEngines},
    {.name = "record",
     .usage = "[OPTIONS] -- PROGRAM [ARGUMENT]...",
     .run = RunRecordVerb,
     .details = kRecordDetails,
     .takes_program = true},
    {.name = "postmortem",
     .usage = "[OPTIONS] FOLDER|FILE...",
     .run = RunPostmortemVerb,
     .options = kPostmortemOptions,
     .details = kPostmortemDetails},
    {.name = "bench-kernel", .usage = "[OPTIONS] KERNEL.py", .run = RunBenchVerb},
    {.name = "list",
     .usage = "[OPTIONS]",
     .run = RunListVerb,
     .summary = "every verb, input format and output format",
     .example = "borescope list -f json",
     .options = kListOptions,
     .details = kListDetails,
     .words = kListWords},
    {.name = "completion",
     .usage = "bash|zsh|fish",
     .run = RunCompletionVerb,
     .summary = "a completion script for the shell",
     .example = "eval \"$(borescope completion bash)\"",
     .details = kCompletionDetails,
     .pointless = kOfFiles},
};

std::vector<VerbRow> WithTexts() {
  std::vector<VerbRow> rows(std::begin(kRows), std::end(kRows));
  for (VerbRow& row : rows) {
    if (const TaskInfo* const task = FindTask(row.name); task != nullptr) {
      row.summary = task->summary;
      row.example = task->example;
    }
  }
  return rows;
}

}  // namespace

std::span<const VerbRow> OtherVerbs() {
  static const std::vector<VerbRow> rows = WithTexts();
  return rows;
}

std::vector<std::string_view> VerbNames() {
  std::vector<std::string_view> names;
  for (const VerbInfo& verb : Describe().verbs) {
    names.push_back(verb.name);
  }
  for (const VerbRow& row : kRows) {
    names.push_back(row.name);
  }
  return names;
}

}  // namespace borescope::cli
