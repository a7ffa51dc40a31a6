#include "core/process.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "borescope/recording/job_variables.h"
#include "core/clock.h"
#include "core/files.h"

extern char** environ;

namespace borescope::inject {

namespace {

using recording::LogHeader;

// Of the environment, only this is kept: the rank of the process, and the devices that it may see.
const char* const kKeptVariables[] = {"RANK",
                                      "LOCAL_RANK",
                                      "WORLD_SIZE",
                                      "LOCAL_WORLD_SIZE",
                                      "GROUP_RANK",
                                      "NODE_RANK",
                                      "SLURM_PROCID",
                                      "SLURM_LOCALID",
                                      "SLURM_NTASKS",
                                      "SLURM_NODEID",
                                      "SLURM_JOB_ID",
                                      "SLURM_STEP_ID",
                                      "OMPI_COMM_WORLD_RANK",
                                      "OMPI_COMM_WORLD_LOCAL_RANK",
                                      "OMPI_COMM_WORLD_SIZE",
                                      "PMI_RANK",
                                      "PMI_SIZE",
                                      "PMIX_RANK",
                                      "TORCHELASTIC_RUN_ID",
                                      "CUDA_VISIBLE_DEVICES",
                                      "HIP_VISIBLE_DEVICES",
                                      "ROCR_VISIBLE_DEVICES"};

// For the files of /proc, one after the other. Whoever opens the log reads them, which is one
// thread at a time; its stack may be a small one.
char scratch[4096];

// The value of the first variable that holds a number.
template <size_t N>
int32_t FirstNumber(const char* const (&names)[N], int32_t none) {
  for (const char* name : names) {
    uint64_t number = 0;
    const char* value = getenv(name);
    if (value != nullptr && ParseNumber(value, &number) && number <= 0x7fffffff) {
      return static_cast<int32_t>(number);
    }
  }
  return none;
}

uint64_t HashOf(const void* bytes, size_t length, uint64_t hash) {
  const auto* byte = static_cast<const unsigned char*>(bytes);
  for (size_t i = 0; i < length; ++i) hash = (hash ^ byte[i]) * 0x100000001b3U;
  return hash;
}

uint32_t HexDigit(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<uint32_t>(digit - '0');
  if (digit >= 'a' && digit <= 'f') return static_cast<uint32_t>(digit - 'a') + 10;
  return 16;
}

void ReadBootId(uint8_t (&id)[16]) {
  char text[64];
  ReadFile("/proc/sys/kernel/random/boot_id", text, sizeof(text));
  size_t digits = 0;
  for (const char* at = text; *at != '\0' && digits < 32; ++at) {
    const uint32_t digit = HexDigit(*at);
    if (digit > 15) continue;
    id[digits / 2] = static_cast<uint8_t>(uint32_t{id[digits / 2]} << 4U | digit);
    ++digits;
  }
}

// The process id in the outermost namespace: known where this is it, or where /proc is of another.
uint32_t OuterPid() {
  char link[64] = "";
  const ssize_t length = readlink("/proc/self/ns/pid", link, sizeof(link) - 1);
  if (length > 0 && strcmp(link, "pid:[4026531836]") == 0) return static_cast<uint32_t>(getpid());
  ReadFile("/proc/self/status", scratch, sizeof(scratch));
  const char* text = scratch;
  const char* line = strstr(text, "\nNSpid:\t");
  uint64_t first = 0;
  if (line == nullptr || !ParseNumber(line + 8, &first)) return 0;
  const size_t digits = strspn(line + 8, "0123456789");
  return line[8 + digits] == '\t' ? static_cast<uint32_t>(first) : 0;
}

// The longest run of 64 hexadecimal digits in the control group: how container engines name it.
void AddContainer(TextBuilder* json) {
  ReadFile("/proc/self/cgroup", scratch, sizeof(scratch));
  const char* text = scratch;
  size_t run = 0;
  for (const char* at = text; *at != '\0'; ++at) {
    run = HexDigit(*at) < 16 ? run + 1 : 0;
    if (run == 64 && HexDigit(at[1]) > 15) {
      json->Add(",\"container\":").AddJson(at - 63, 64);
      return;
    }
  }
}

// Space that is left for what comes after the arguments.
constexpr size_t kAfterArguments = 3500;

// An argument, or as much of it as there is space for.
void AddArgument(const char* text, size_t size, TextBuilder* json) {
  while (size > 0 && TextBuilder::JsonBytes(text, size) + kAfterArguments > json->left()) {
    size = CutLength(text, size / 2);
  }
  json->AddJson(text, size);
}

// The arguments as they were given, each ended by a zero byte. Of a long command line, the first.
void AddArguments(TextBuilder* json) {
  const size_t length = ReadFile("/proc/self/cmdline", scratch, sizeof(scratch));
  const char* text = scratch;
  json->Add("\"argv\":[");
  for (size_t begin = 0; begin < length && json->left() > kAfterArguments;) {
    const size_t size = strlen(text + begin);
    if (begin > 0) json->Add(",");
    AddArgument(text + begin, size, json);
    begin += size + 1;
  }
  json->Add("]");
}

bool IsKept(const char* variable, size_t name_length, const Options& options) {
  for (const char* name : kKeptVariables) {
    if (strlen(name) == name_length && memcmp(name, variable, name_length) == 0) return true;
  }
  return options.keeps_environment &&
         (strncmp(variable, "NCCL_", 5) == 0 || strncmp(variable, "RCCL_", 5) == 0);
}

void AddEnvironment(const Options& options, TextBuilder* json) {
  json->Add(",\"env\":{");
  bool is_first = true;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const size_t length = strcspn(*variable, "=");
    const char* value = *variable + length + 1;
    if ((*variable)[length] != '=' || !IsKept(*variable, length, options)) continue;
    // The object stays whole: what has no room is left out.
    const size_t bytes = TextBuilder::JsonBytes(*variable, length) +
                         TextBuilder::JsonBytes(value, strnlen(value, 1024));
    if (json->left() < bytes + 64) continue;
    if (!is_first) json->Add(",");
    json->AddJson(*variable, length).Add(":").AddJson(value, strnlen(value, 1024));
    is_first = false;
  }
  json->Add("}");
}

Anchor ReadOnce() {
  const uint64_t before = Now();
  const uint64_t real = Nanoseconds(CLOCK_REALTIME);
  const uint64_t boot = Nanoseconds(CLOCK_BOOTTIME);
  const uint64_t after = Now();
  const uint64_t half = (after - before) / 2;
  return {before + half, real, boot, half + 1};
}

}  // namespace

int32_t ReadRank() { return FirstNumber(recording::kRankVariables, -1); }

// The second field, the name, may hold blanks and parentheses.
uint64_t ReadStartTime() {
  char text[384];  // more than the first 22 fields
  ReadFile("/proc/self/stat", text, sizeof(text));
  const char* at = strrchr(text, ')');
  uint64_t number = 0;
  for (int field = 2; at != nullptr && field < 22; ++field) {
    at = strchr(at + 1, ' ');
  }
  if (at != nullptr) ParseNumber(at + 1, &number);
  return number;
}

Anchor ReadAnchor() {
  Anchor best = ReadOnce();
  for (int i = 0; i < 15; ++i) {
    const Anchor anchor = ReadOnce();
    if (anchor.half_width_ns < best.half_width_ns) best = anchor;
  }
  return best;
}

void AddHostName(TextBuilder* name) {
  char host[65] = "";
  if (gethostname(host, sizeof(host) - 1) != 0 || host[0] == '\0') memcpy(host, "host", 5);
  for (char* at = host; *at != '\0'; ++at) {
    const bool is_letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');
    if (!is_letter && !(*at >= '0' && *at <= '9') && *at != '-') *at = '_';
  }
  name->Add(host);
}

void DescribeHeader(LogHeader* header) {
  char host[65] = "";
  gethostname(host, sizeof(host) - 1);
  ReadBootId(header->boot_id);
  const Anchor anchor = ReadAnchor();
  header->version = recording::kLogVersion;
  header->pid = static_cast<uint32_t>(getpid());
  header->ppid = static_cast<uint32_t>(getppid());
  header->start_time = ReadStartTime();
  header->host_hash = HashOf(header->boot_id, sizeof(header->boot_id), 0xcbf29ce484222325U);
  header->host_hash = HashOf(host, strlen(host), header->host_hash);
  header->mono_ns = anchor.mono_ns;
  header->real_ns = anchor.real_ns;
  header->boot_ns = anchor.boot_ns;
  header->outer_pid = OuterPid();
  header->rank = ReadRank();
  header->local_rank = FirstNumber(recording::kLocalRankVariables, -1);
  header->world_size = FirstNumber(recording::kWorldVariables, 0);
}

void DescribeProcess(const Options& options, TextBuilder* json) {
  char host[65] = "";
  gethostname(host, sizeof(host) - 1);
  constexpr size_t kMostProgram = 500;
  json->Add("{");
  AddArguments(json);
  const ssize_t length = readlink("/proc/self/exe", scratch, kMostProgram);
  json->Add(",\"exe\":").AddJson(scratch, length > 0 ? static_cast<size_t>(length) : 0);
  json->Add(",\"host\":").AddJson(host, strlen(host));
  AddContainer(json);
  AddEnvironment(options, json);
  json->Add("}");
}

}  // namespace borescope::inject
