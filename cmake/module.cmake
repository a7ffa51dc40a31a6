# borescope_module(<folder>
#   [LIBS <target>...]      third-party targets that it includes, see dependencies.cmake
#   [EXCLUDE <file>...]     sources that are added elsewhere, relative to the folder
#   [TEST_LIBS <target>...] what only its tests need
# )
# Compiles src/borescope/<folder> with all folders below it: `*.cc` become the objects of the target
# borescope_<folder>, which the library is linked from (library.cmake); `*_test.cc` become one
# program, borescope_<folder>_tests. A new file needs no line anywhere. Includes are
# written from src/: "borescope/base/id.h"; tools/check_layers.py checks which are allowed.
function(borescope_module folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBS;EXCLUDE;TEST_LIBS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "borescope_module(${folder}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()

  file(
    GLOB_RECURSE sources CONFIGURE_DEPENDS
    RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}"
    "${folder}/*.cc" "${folder}/*.h")
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(TRANSFORM arg_EXCLUDE PREPEND "${folder}/")
  if(arg_EXCLUDE)
    list(REMOVE_ITEM sources ${arg_EXCLUDE})
  endif()

  set(objects borescope_${folder})
  add_library(${objects} OBJECT ${sources})
  set_target_properties(${objects} PROPERTIES LINKER_LANGUAGE CXX POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${objects} PUBLIC "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include")
  target_link_libraries(
    ${objects}
    PUBLIC ${arg_LIBS}
    PRIVATE borescope_warnings)
  borescope_precompile_library(${objects})
  borescope_unity(${objects})
  set_property(GLOBAL APPEND PROPERTY BORESCOPE_MODULES ${objects})
  set_property(GLOBAL APPEND PROPERTY BORESCOPE_MODULE_LIBS ${arg_LIBS})

  if(BORESCOPE_TESTS AND tests)
    borescope_gtest(
      borescope_${folder}_tests
      LABEL unit
      PREFIX ${folder}.
      SOURCES ${tests}
      LIBS borescope_testing ${arg_TEST_LIBS})
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
