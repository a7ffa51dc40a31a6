// How a command ends: an answer on standard output or in files, or an error; and the exit status.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "borescope/cli/options/arguments.h"

namespace borescope::internal::cli {

// One line; for slips of usage a second one says where help is. Which of several verbs it is about
// is in the line. Returns kFailed, as does Fail of commands.h.
int FailWith(const Error& error, const Command& command);

// Lets `write` write to standard output. A reader that has seen enough (`| head`) is no failure.
int WriteToOutput(const std::function<Result<void>(Sink&)>& write);

// A folder of traces may hold anything else; but if a rank is missing, it must show that a file was
// seen.
std::string SkippedLine(size_t skipped);

// What there is to say about the files; with -v sizes and times, and each that was passed over. A
// file that failed is always reported, whatever the format and -q: the answer is without it.
void ReportFiles(const std::vector<FileReport>& files, const RawOptions& raw);

// kFailed where a file could not be read, though others could: who asked for all of them must know.
int StatusOf(const std::vector<FileReport>& files);

int Print(const std::string& text);

// How far the input can be trusted, on standard error; nothing where there is nothing to say.
void ReportQuality(std::span<const DiagnosticRow> rows);

// Writes where and how the user wants it, but over no input; what carries no diagnostics has them
// on standard error.
int WriteDocument(const OutputOptions& output, const Document& document, const Command& command);

}  // namespace borescope::internal::cli
