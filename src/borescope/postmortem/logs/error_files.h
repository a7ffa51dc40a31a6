// Small files of JSON beside the logs: error files of torch elastic (error.json, written by
// @record to TORCHELASTIC_ERROR_FILE), stacks of `py-spy dump --json`, and reports of NCCL's RAS
// service.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/postmortem/logs/log_scan.h"
#include "borescope/postmortem/program_line.h"

namespace borescope::internal {

enum class ErrorFileKind : uint8_t { kNone, kElastic, kPySpy, kRas };

// What the file may be, by its first bytes.
ErrorFileKind GuessErrorFile(std::string_view head);

// The event of an error file, or that of each process in a file of py-spy: its main thread, and
// whether it holds the interpreter's lock. Nothing where `text` is no such file. Local variables
// and command lines, which py-spy may record, are not kept.
std::optional<std::vector<LogEvent>> ReadErrorFile(ErrorFileKind kind, std::string_view text,
                                                   const LineFinder& lines);

// The number that the file's folder is named by: of ".../attempt_0/3/error.json" 3, the rank on
// its node.
std::optional<int32_t> RankOfFolder(std::string_view path);
// Of ".../attempt_1/3/error.json" 1: torchrun starts all ranks again after a failure.
std::optional<int32_t> AttemptOfFolder(std::string_view path);

}  // namespace borescope::internal
