/* leaves HOW FOLDER [first]: ranges (none with first), then the program leaves where its log is, then many more ranges.
 *
 * HOW: stay, chroot, setuid, rename (FOLDER, to FOLDER.new), remove (the files of FOLDER),
 * remove-logs (all but its page), filter (the system refuses all calls but those of an end, with an error), close (all descriptors from 3 on, and others of /dev/null in their
 * places), close-chroot, forks (a child of a child and so on, each of which records, and the last one has as
 * many descriptors as the first). */
#define _GNU_SOURCE
#include <borescope_record.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kBefore = 10, kAfter = 50000, kDescriptors = 300 };

static void record(int count) {
  for (int i = 0; i < count; ++i) {
    borescope_record_push("a range");
    borescope_record_pop();
  }
}

static int remove_files(const char* folder, const char* kept) {
  DIR* files = opendir(folder);
  if (files == NULL || chdir(folder) != 0) return 1;
  for (struct dirent* file = readdir(files); file != NULL; file = readdir(files)) {
    if (file->d_name[0] != '.' && strcmp(file->d_name, kept) != 0 && unlink(file->d_name) != 0) return 1;
  }
  return closedir(files);
}

static int rename_folder(const char* folder) {
  char name[4096];
  snprintf(name, sizeof(name), "%s.new", folder);
  return rename(folder, name);
}

/* What the program opens then is its own: nothing is written into it. */
static int close_all(void) {
  for (int file = 3; file < kDescriptors; ++file) close(file);
  for (int file = 3; file < kDescriptors; ++file) {
    if (open("/dev/null", O_RDWR | O_CLOEXEC) != file) return 1;
  }
  return 0;
}

static int open_descriptors(void) {
  int count = 0;
  for (int file = 0; file < kDescriptors; ++file) count += fcntl(file, F_GETFD) >= 0;
  return count;
}

static int fork_down(void) {
  const int before = open_descriptors();
  for (int depth = 0; depth < 20; ++depth) {
    const pid_t child = fork();
    if (child != 0) {
      int status = 1;
      waitpid(child, &status, 0);
      if (depth > 0) _exit(WEXITSTATUS(status));
      return WEXITSTATUS(status);
    }
    record(kBefore);
  }
  _exit(open_descriptors() == before ? 0 : 1);
}

/* What a sandbox does that answers with errors. */
static int filter_calls(void) {
  struct sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof(rules) / sizeof(rules[0]), rules};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0;
}

static int leave(const char* how, const char* folder) {
  if (strcmp(how, "stay") == 0) return 0;
  if (strcmp(how, "chroot") == 0) return chroot("/proc/self/fdinfo") != 0 || chdir("/") != 0;
  if (strcmp(how, "setuid") == 0) return setgid(65534) != 0 || setuid(65534) != 0;
  if (strcmp(how, "rename") == 0) return rename_folder(folder);
  if (strcmp(how, "remove") == 0) return remove_files(folder, "");
  if (strcmp(how, "remove-logs") == 0) return remove_files(folder, "control");
  if (strcmp(how, "forks") == 0) return fork_down();
  if (strcmp(how, "close") == 0) return close_all();
  if (strcmp(how, "filter") == 0) return filter_calls();
  if (strcmp(how, "close-chroot") == 0) return close_all() || leave("chroot", folder);
  return 1;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int first = dup(0);
  if (argc == 3) record(kBefore);
  /* What programs open gets the numbers that it would get without us. */
  if (dup(0) != first + 1) return 3;
  if (leave(argv[1], argv[2]) != 0) return 4;
  record(kAfter);
  return 7;
}
