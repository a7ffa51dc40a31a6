#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>
#include <sys/resource.h>

#include <csignal>
#include <string>
#include <vector>

#include "bindings.h"
#include "borescope/cli/commands.h"
#include "values.h"

namespace nb = nanobind;

namespace borescope::python {
namespace {

// The command line in this process. Signals are handled meanwhile as a program of its own handles
// them (main.cc).
int RunCommand(const std::vector<nb::bytes>& given) {
  std::vector<std::string> words;
  words.reserve(given.size());
  for (const nb::bytes& word : given) {
    words.push_back(RawText(word));
  }
  const nb::gil_scoped_release release;
  void (*const pipe)(int) = std::signal(SIGPIPE, SIG_IGN);
  void (*const size)(int) = std::signal(SIGXFSZ, SIG_IGN);
  void (*const child)(int) = std::signal(SIGCHLD, SIG_DFL);
  rlimit data{};  // --memory-limit lowers it for a process that ends; this one goes on
  getrlimit(RLIMIT_DATA, &data);
  const int status = cli::RunCommandLine(words);
  setrlimit(RLIMIT_DATA, &data);
  std::signal(SIGPIPE, pipe);
  std::signal(SIGXFSZ, size);
  std::signal(SIGCHLD, child);
  return status;
}

}  // namespace

void BindCommandLine(nb::module_& module) {
  module.def("command_line", RunCommand, nb::arg("words"));
}

}  // namespace borescope::python
