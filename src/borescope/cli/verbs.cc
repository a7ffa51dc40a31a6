#include "borescope/cli/verbs.h"

#include "borescope/cli/commands/verb_commands.h"
#include "borescope/schema.h"

namespace borescope::cli {
namespace {

constexpr std::string_view kConvertOptions[] = {"to", "begin", "end", "threads", "no-progress"};

constexpr std::string_view kLinkOptions[] = {"host",
                                             "device",
                                             "chakra-host-trace",
                                             "pytorch-et-file",
                                             "chakra-device-trace",
                                             "kineto-file",
                                             "output-file",
                                             "rank",
                                             "compat",
                                             "threads",
                                             "no-progress"};

constexpr std::string_view kQueryOptions[] = {"rank",    "schema",      "row-limit", "time-limit",
                                              "threads", "no-progress", "verbose"};

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

constexpr std::string_view kReduceOptions[] = {"sort", "top", "verbose"};

constexpr std::string_view kMapDetails =
    "The options are those of the verbs, without --format, --sort, --top, --overlay\n"
    "and --save: borescope map VERB --help. Parts of one question are joined by\n"
    "borescope reduce, on any machine, in any order.\n";

constexpr std::string_view kBenchOptions[] = {"trace", "python", "timeout"};
constexpr std::string_view kChakraOptions[] = {"host",
                                               "device",
                                               "compat",
                                               "linked",
                                               "order",
                                               "num-npus",
                                               "num-passes",
                                               "npu-frequency",
                                               "default-runtime",
                                               "default-tensor-size",
                                               "default-comm-size"};

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
    "rank",       "step",         "step-rule",   "step-pattern", "gpu", "stream",
    "annotation", "instance",     "begin",       "end",          "top", "against",
    "threads",    "memory-limit", "no-progress", "verbose"};
constexpr std::string_view kOpenOptions[] = {
    "report", "port",      "no-browser",   "timeout",      "begin",       "end",        "rank",
    "step",   "step-rule", "step-pattern", "gpu",          "stream",      "annotation", "instance",
    "top",    "against",   "threads",      "memory-limit", "no-progress", "verbose"};

constexpr std::string_view kOpenDetails =
    "The trace is served to programs of this machine only, and opened in Perfetto's\n"
    "page (https://ui.perfetto.dev), which reads it from here: nothing is uploaded.\n"
    "What the page cannot read is converted first; several inputs become one trace.\n"
    "Without a browser the address is printed. Ends once the page has the trace, or\n"
    "when nobody began to fetch it by the end of --timeout.\n"
    "Selections other than --begin and --end are those of --report.\n";

constexpr std::string_view kCompletionDetails =
    "The example's line in ~/.bashrc, or with zsh behind compinit in ~/.zshrc, is for\n"
    "every shell. fish reads ~/.config/fish/completions/borescope.fish.\n";

// Verbs without tables have no format for them, nor colours; some write no file.
constexpr std::string_view kOfTables[] = {"format", "color"};
constexpr std::string_view kOfFiles[] = {"format", "color", "output"};

constexpr VerbRow kOtherVerbs[] = {
    {.name = "report",
     .summary = "one HTML page with every answer, charts and tables; opens without a network",
     .usage = "[OPTIONS] INPUT...",
     .example = "borescope report run/ -o report.html",
     .run = RunReportVerb,
     .options = kReportOptions,
     .pointless = kOfTables},
    {.name = "open",
     .summary = "a trace on Perfetto's timeline, or the report, in your browser",
     .usage = "[OPTIONS] INPUT...",
     .example = "borescope open rank-0.json.gz",
     .run = RunOpenVerb,
     .options = kOpenOptions,
     .details = kOpenDetails,
     .pointless = kOfFiles},
    {.name = "convert",
     .summary = "traces in another format: .json[.gz], .pftrace, .rpd, .csv",
     .usage = "IN... OUT [OPTIONS]",
     .example = "borescope convert rank-0.json.gz rank-0.rpd --begin 10% --end 20%",
     .run = RunConvertVerb,
     .options = kConvertOptions,
     .pointless = kOfTables},
    {"link", "an execution trace of PyTorch with the times and kernels of its device trace",
     "--host ET --device TRACE -o LINKED [OPTIONS]",
     "borescope link --host et.json --device kineto.json.gz -o linked.json", RunLinkVerb,
     kLinkOptions},
    {"chakra", "Chakra execution traces (.et): convert, check, dump, generate, draw, timeline",
     "TASK [OPTIONS] [FILE]...", "borescope chakra convert linked.json rank.0.et", RunChakraVerb,
     kChakraOptions, kChakraDetails, kChakraAliases},
    {.name = "query",
     .summary = "answers of SQL over what was recorded",
     .usage = "[OPTIONS] [STATEMENT] INPUT...",
     .example = "borescope query \"SELECT * FROM top LIMIT 10\" trace.json.gz",
     .run = RunQueryVerb,
     .options = kQueryOptions,
     .instead = kQueryInstead},
    {.name = "map",
     .summary = "one part of an answer, of the files that are here, for reduce",
     .usage = "VERB[,VERB...] [OPTIONS] INPUT... -o PART",
     .example = "borescope map summary rank-0.json.gz -o rank-0.part",
     .run = RunMapVerb,
     .details = kMapDetails,
     .pointless = kOfTables,
     .takes_verbs = true},
    {.name = "reduce",
     .summary = "the answer of all parts that map wrote",
     .usage = "[OPTIONS] PART...",
     .example = "borescope reduce parts/ --top 10",
     .run = RunReduceVerb,
     .options = kReduceOptions},
    {"bench-kernel", "runs the benchmark of a kernel that TorchInductor generated",
     "[OPTIONS] KERNEL.py", "borescope bench-kernel k.py --trace trace.json.gz", RunBenchVerb,
     kBenchOptions},
    {"list", "every verb, input format and output format", "[OPTIONS]", "borescope list -f json",
     RunListVerb},
    {.name = "completion",
     .summary = "a completion script for the shell",
     .usage = "bash|zsh|fish",
     .example = "eval \"$(borescope completion bash)\"",
     .run = RunCompletionVerb,
     .details = kCompletionDetails,
     .pointless = kOfFiles},
};

}  // namespace

std::span<const VerbRow> OtherVerbs() { return kOtherVerbs; }

std::vector<std::string_view> VerbNames() {
  std::vector<std::string_view> names;
  for (const VerbInfo& verb : Describe().verbs) {
    names.push_back(verb.name);
  }
  for (const VerbRow& row : kOtherVerbs) {
    names.push_back(row.name);
  }
  return names;
}

}  // namespace borescope::cli
