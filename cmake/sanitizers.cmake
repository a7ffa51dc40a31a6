# Sanitizers and coverage change code generation, so they apply to the whole build, not to single
# targets: mixing instrumented and plain objects gives false reports.

set(borescope_instrument "")

if(BORESCOPE_SANITIZE STREQUAL "address")
  list(APPEND borescope_instrument -fsanitize=address,undefined -fno-sanitize-recover=all)
elseif(BORESCOPE_SANITIZE STREQUAL "thread")
  list(APPEND borescope_instrument -fsanitize=thread)
elseif(NOT BORESCOPE_SANITIZE STREQUAL "")
  message(FATAL_ERROR "BORESCOPE_SANITIZE is '${BORESCOPE_SANITIZE}'; use address, thread or nothing")
endif()

if(BORESCOPE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "BORESCOPE_FUZZ needs clang: libFuzzer comes with it (preset 'fuzz')")
  endif()
  # Coverage feedback everywhere; only the fuzz targets themselves link libFuzzer's main().
  list(APPEND borescope_instrument -fsanitize=fuzzer-no-link)
  if(BORESCOPE_SANITIZE STREQUAL "")
    # For many executions (preset 'fuzz-fast'): no comparison is followed, and what reaches beyond a
    # container ends the program. What such a build finds, the one with sanitizers runs, too.
    list(APPEND borescope_instrument -fno-sanitize-coverage=trace-cmp,indirect-calls
         -D_GLIBCXX_ASSERTIONS)
  endif()
endif()

if(BORESCOPE_COVERAGE)
  list(APPEND borescope_instrument --coverage)
endif()

if(borescope_instrument)
  add_compile_options(${borescope_instrument} -fno-omit-frame-pointer)
  add_link_options(${borescope_instrument})
endif()
