/* The interface of borescope_record.h, linked; prints whether anything is recorded. */
#include <borescope_record.h>
#include <stdio.h>
#include <string.h>

/* Ranges across a pause, in which one begins and one ends. */
static void across_a_pause(void) {
  borescope_record_push("outer");
  borescope_record_push("ends in the pause");
  const uint64_t id = borescope_record_range_start("ends in the pause, too");
  borescope_record_stop();
  borescope_record_range_end(id);
  borescope_record_pop();
  borescope_record_push("begins in the pause");
  borescope_record_start();
  borescope_record_push("inner");
  borescope_record_pop();
  borescope_record_pop();
  borescope_record_pop();
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "pause") == 0) {
    across_a_pause();
    return 0;
  }
  if (argc > 1 && strcmp(argv[1], "twice") == 0) borescope_record_start();
  printf("%d\n", borescope_record_is_recording());
  borescope_record_push("outer");
  borescope_record_mark("moment");
  borescope_record_pop();
  borescope_record_stop();
  borescope_record_mark("after a stop");
  borescope_record_stop();
  borescope_record_stop();
  borescope_record_mark("stopped");
  borescope_record_start();
  const uint64_t id = borescope_record_range_start("range");
  borescope_record_range_end(id);
  borescope_record_operator("aten::mm", 10, 20, 3, 0, 9, "[[1,2]]");
  borescope_record_operator("aten::mm", 30, 40, -1, 77, 10, NULL);
  const uint32_t code = borescope_record_code("function", "file.py", 12);
  borescope_record_call(code);
  borescope_record_return(code);
  borescope_record_flush();
  printf("%d %d\n", id != 0, code != 0);
  return 0;
}
