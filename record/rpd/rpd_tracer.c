/* librpd_tracer.so for programs that use the interface of rocmProfileData's tracer: what they say
 * is recorded by the library of `borescope record`, where it is in the process, and else nothing
 * happens. */
#include <stddef.h>
#include <stdio.h>

#include "borescope_record.h"

#define RPD_API __attribute__((visibility("default")))
#define OPTIONAL(name) extern __typeof__(name) name __attribute__((weak))

OPTIONAL(borescope_record_start);
OPTIONAL(borescope_record_stop);
OPTIONAL(borescope_record_flush);
OPTIONAL(borescope_record_push);
OPTIONAL(borescope_record_pop);
OPTIONAL(borescope_record_mark);

enum { kMostText = 4097 };

/* "domain: name(arguments)"; of what is empty nothing. */
static const char* Describe(char* text, const char* domain, const char* name,
                            const char* arguments) {
  const int has_domain = domain != NULL && *domain != '\0';
  const int has_arguments = arguments != NULL && *arguments != '\0';
  snprintf(text, kMostText, "%s%s%s%s%s%s", has_domain ? domain : "", has_domain ? ": " : "",
           name == NULL ? "" : name, has_arguments ? "(" : "", has_arguments ? arguments : "",
           has_arguments ? ")" : "");
  return text;
}

RPD_API void rpdstart(void) {
  if (borescope_record_start != NULL) borescope_record_start();
}

RPD_API void rpdstop(void) {
  if (borescope_record_stop != NULL) borescope_record_stop();
}

RPD_API void rpdflush(void) {
  if (borescope_record_flush != NULL) borescope_record_flush();
}

RPD_API void rpd_rangePush(const char* domain, const char* name, const char* arguments) {
  char text[kMostText];
  if (borescope_record_push != NULL) {
    borescope_record_push(Describe(text, domain, name, arguments));
  }
}

RPD_API void rpd_rangePop(void) {
  if (borescope_record_pop != NULL) borescope_record_pop();
}

RPD_API void rpd_mark(const char* domain, const char* name, const char* arguments) {
  char text[kMostText];
  if (borescope_record_mark != NULL) {
    borescope_record_mark(Describe(text, domain, name, arguments));
  }
}
