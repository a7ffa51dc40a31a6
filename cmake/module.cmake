# borescope_module(<name>
#   [DEPS <module>...]      modules this one may include (tools/check_layers.py checks the same)
#   [LIBS <target>...]      third-party targets, see dependencies.cmake
#   [SOURCES <file>...]     headers too, so that editors list them
#   [TESTS <file>...]       foo_test.cc files, all in one executable borescope_<name>_tests
#   [TEST_LIBS <target>...] what only the tests need
# )
# Makes the static library borescope_<name>, alias borescope::<name>. Paths are relative to the
# calling CMakeLists.txt; includes are written from src/: "borescope/base/id.h".
function(borescope_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPS;LIBS;SOURCES;TESTS;TEST_LIBS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "borescope_module(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()

  set(library borescope_${name})
  add_library(${library} STATIC ${arg_SOURCES})
  add_library(borescope::${name} ALIAS ${library})
  # For a module of headers only, whose language CMake could not tell from a .cc file.
  set_target_properties(${library} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(${library} PUBLIC "${PROJECT_SOURCE_DIR}/src")
  list(TRANSFORM arg_DEPS PREPEND "borescope::")
  target_link_libraries(
    ${library}
    PUBLIC ${arg_DEPS} ${arg_LIBS}
    PRIVATE borescope_warnings)
  borescope_precompile_library(${library})

  if(BORESCOPE_TESTS AND arg_TESTS)
    borescope_gtest(
      borescope_${name}_tests
      LABEL unit
      PREFIX ${name}.
      SOURCES ${arg_TESTS}
      LIBS borescope::${name} ${arg_TEST_LIBS})
  endif()
endfunction()

# borescope_gtest(<target> LABEL <label> PREFIX <prefix> SOURCES <file>... LIBS <target>...)
# One GoogleTest executable; every TEST becomes a ctest entry with the label. Tests whose name
# contains "Threads" get the label <label>-threads instead: `ctest -L unit` runs both kinds,
# `ctest -L threads` only the ones worth running under ThreadSanitizer. (Labels are regular
# expressions; a list of labels does not survive gtest_discover_tests.)
function(borescope_gtest target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL;PREFIX" "SOURCES;LIBS")
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE ${arg_LIBS} GTest::gtest_main borescope_warnings)
  if(arg_LABEL STREQUAL "unit")
    # Optimising what runs once costs more than it gains.
    set(option $<$<CONFIG:Debug>:-O0>)
    target_compile_options(${target} PRIVATE ${option})
    borescope_precompile_unit_tests(${target} ${option})
  endif()
  # PRE_TEST: tests are listed when ctest runs, so that building never runs instrumented code.
  gtest_discover_tests(
    ${target}
    DISCOVERY_MODE PRE_TEST
    TEST_FILTER "-*Threads*"
    TEST_PREFIX "${arg_PREFIX}"
    TEST_LIST ${target}_plain
    PROPERTIES LABELS ${arg_LABEL})
  gtest_discover_tests(
    ${target}
    DISCOVERY_MODE PRE_TEST
    TEST_FILTER "*Threads*"
    TEST_PREFIX "${arg_PREFIX}"
    TEST_LIST ${target}_threads
    PROPERTIES LABELS ${arg_LABEL}-threads)
endfunction()
