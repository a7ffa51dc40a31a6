#include "borescope/cli/commands/partial_commands.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "borescope/base/io/byte_source.h"
#include "borescope/cli/answers.h"
#include "borescope/cli/commands.h"
#include "borescope/cli/options/output_options.h"
#include "borescope/cli/options/understand.h"
#include "borescope/cli/terminal/terminal.h"
#include "borescope/engine/partial/partial_bytes.h"
#include "borescope/engine/partial/run_partials.h"
#include "borescope/engine/targets/targets.h"

namespace borescope::internal::cli {
namespace {

Result<RunOptions> UnderstandMap(const Command& command) {
  if (command.analyses.empty()) {
    return UsageError("map needs verbs and an INPUT; name them: borescope map summary RUN -o PART");
  }
  if (command.raw.output.empty()) {
    return UsageError("map writes a file for reduce; name it with -o");
  }
  if (!command.raw.format.empty() || !command.raw.sort.empty() || !command.raw.top.empty()) {
    return UsageError("map shows nothing; give --format, --sort and --top to reduce");
  }
  BS_ASSIGN(RunOptions options, Understand(command.analyses, command.raw));
  BS_TRY(CheckNoInput(InputPaths(options), command.raw.output, "--output"));
  return options;
}

Result<PartialData> MapWithProgress(const Command& command, RunOptions& options) {
  ProgressBar bar(command.raw);
  options.progress = bar.OfRun();
  return MapPartial(command.analyses, options);
}

// Files that fail where all others do, too, are a part all the same: the answer says so.
Result<void> WritePart(const std::string& path, const PartialData& partial) {
  BS_ASSIGN(const std::string bytes, SerializePartial(partial));
  return WriteFile(path, [&](Sink& sink) { return sink.Write(bytes); });
}

// The whole of a file, which ParsePartial bounds.
Result<std::string> ReadWhole(const std::string& path) {
  constexpr size_t kPiece = size_t{1} << 20;
  BS_ASSIGN(const std::unique_ptr<ByteSource> source, OpenFile(path));
  std::string bytes;
  for (size_t size = 0;; bytes.resize(size)) {
    size = bytes.size();
    bytes.resize(size + kPiece);
    BS_ASSIGN(const size_t read, About(path, ReadFully(*source, bytes.data() + size, kPiece)));
    size += read;
    if (read < kPiece) {
      bytes.resize(size);
      return bytes;
    }
  }
}

Result<std::vector<PartialData>> ReadParts(const std::vector<std::string>& inputs) {
  BS_ASSIGN(const std::vector<InputFile> files, ExpandInputs(inputs));
  std::vector<PartialData> parts;
  for (const InputFile& file : files) {
    BS_ASSIGN(const std::string bytes, ReadWhole(file.path));
    BS_ASSIGN(PartialData part, ParsePartial(bytes, file.path));
    parts.push_back(std::move(part));
  }
  return parts;
}

Result<RunOptions> UnderstandReduce(const RawOptions& raw) {
  if (raw.inputs.empty()) {
    return UsageError("no PART; name the files that map wrote, or their folder");
  }
  RunOptions shown;
  shown.sort = raw.sort;
  if (!raw.top.empty()) {
    BS_ASSIGN(const int top, ParseCount("top", raw.top, 1'000'000'000));
    shown.top = static_cast<size_t>(top);
  }
  return shown;
}

Result<Answer> Reduce(const RawOptions& raw, OutputOptions& output) {
  BS_ASSIGN(RunOptions shown, UnderstandReduce(raw));
  BS_TRY(ProtectInputs(PathsBehind(raw.inputs), output));
  BS_ASSIGN(std::vector<PartialData> parts, ReadParts(raw.inputs));
  return ReducePartials(std::move(parts), shown);
}

}  // namespace

int RunMapVerb(const Command& command) {
  Result<RunOptions> options = UnderstandMap(command);
  if (!options.ok()) {
    return FailWith(options.error(), command);
  }
  const Result<PartialData> partial = MapWithProgress(command, *options);
  if (!partial.ok()) {
    return FailWith(partial.error(), command);
  }
  const Result<void> written = WritePart(command.raw.output, *partial);
  if (!written.ok()) {
    return Fail(written.error().message);
  }
  if (!command.raw.quiet) {
    const size_t files = partial->files.size();
    WriteMessageLine(fmt::format("borescope: wrote {}: {} file{}", command.raw.output, files,
                                 files == 1 ? "" : "s"));
  }
  return kDone;
}

int RunReduceVerb(const Command& command) {
  Result<OutputOptions> output = UnderstandOutput(command.raw);
  if (!output.ok()) {
    return FailWith(output.error(), command);
  }
  const Result<Answer> answer = Reduce(command.raw, *output);
  if (!answer.ok()) {
    return FailWith(answer.error(), command);
  }
  ReportFiles(answer->files, command.raw);
  return std::max(StatusOf(answer->files), WriteDocument(*output, answer->document, command));
}

}  // namespace borescope::internal::cli
