// How a command ends: an answer on standard output or in files, or an error; and the exit status.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "borescope/answer.h"
#include "borescope/cli/options/arguments.h"
#include "borescope/output.h"
#include "borescope/partial.h"

namespace borescope::cli {

// One line; for slips of usage a second one says where help is. Which of several verbs it is about
// is in the line. Returns kFailed, as does Fail of commands.h.
int FailWith(const Error& error, const Command& command);

// Lets `write` write to standard output. A reader that has seen enough (`| head`) is no failure.
Result<void> WriteToOutput(const std::function<Result<void>(const Output&)>& write);

// A folder of traces may hold anything else; but if a rank is missing, it must show that a file was
// seen.
std::string SkippedLine(size_t skipped);

// That files of a folder are no parts.
void ReportPassedOver(const FoundParts& found, const RawOptions& raw);

// What there is to say about the files; with -v sizes and times, and each that was passed over. A
// file that failed is always reported, whatever the format and -q: the answer is without it.
void ReportFiles(const std::vector<FileInfo>& files, const RawOptions& raw);

// kFailed where a file could not be read, though others could: who asked for all of them must know.
int StatusOf(const std::vector<FileInfo>& files);

int Print(const std::string& text);

// How far the input can be trusted, on standard error; nothing where there is nothing to say.
void ReportQuality(std::span<const Diagnostic> diagnostics);

// Writes where and how the user wants it, but over no input; what carries no diagnostics has them
// on standard error.
Result<void> WriteAnswer(const OutputOptions& output, const Answer& answer, const Command& command);

}  // namespace borescope::cli
