# With BORESCOPE_PCH, what nearly every file includes is parsed once. For builds from nothing:
# those of users and of continuous integration. A missing #include goes unseen there; clang-tidy and
# the builds without it find it.

if(BORESCOPE_PCH AND CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache$")
  # What ccache asks for before it caches anything that uses a precompiled header.
  # Not CMake itself: pip brings another one for each build, and with its path every command would change.
  set(borescope_ccache CCACHE_SLOPPINESS=pch_defines,time_macros)
  # What one build folder compiled is there for the next one: scripts/try and pip share it.
  if(NOT DEFINED ENV{CCACHE_BASEDIR})
    list(APPEND borescope_ccache "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}")
  endif()
  if(NOT DEFINED ENV{CCACHE_NOHASHDIR})
    list(APPEND borescope_ccache CCACHE_NOHASHDIR=1)
  endif()
  set(CMAKE_CXX_COMPILER_LAUNCHER env ${borescope_ccache} "${CMAKE_CXX_COMPILER_LAUNCHER}")
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  else()
    add_compile_options(-fpch-preprocess)
  endif()
endif()

set(BORESCOPE_STANDARD_HEADERS
    <algorithm>
    <array>
    <functional>
    <map>
    <memory>
    <optional>
    <span>
    <sstream>
    <string>
    <string_view>
    <unordered_map>
    <utility>
    <variant>
    <vector>)

# borescope_precompile_once(<owner> OPTIONS <option>... LIBS <target>... HEADERS <header>...)
# Makes <owner>, which nothing links, if there is none yet: it holds the precompiled headers of all
# targets of one kind, which would otherwise fill the disk with a copy each. Macros that only some of
# them have must not be among its own.
function(borescope_precompile_once owner)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "OPTIONS;LIBS;HEADERS")
  if(TARGET ${owner})
    return()
  endif()
  set(source "${PROJECT_BINARY_DIR}/${owner}.cc")
  file(CONFIGURE OUTPUT "${source}" CONTENT "// Compiled for its precompiled headers only.\n")
  add_library(${owner} OBJECT "${source}")
  target_compile_options(${owner} PRIVATE ${arg_OPTIONS})
  target_link_libraries(${owner} PRIVATE ${arg_LIBS} borescope_warnings)
  target_precompile_headers(${owner} PRIVATE ${BORESCOPE_STANDARD_HEADERS} ${arg_HEADERS})
endfunction()

function(borescope_precompile_library target)
  if(BORESCOPE_PCH)
    borescope_precompile_once(borescope_library_headers LIBS Threads::Threads)
    set_target_properties(borescope_library_headers PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_precompile_headers(${target} REUSE_FROM borescope_library_headers)
  endif()
endfunction()

# `option` as the target is compiled with.
function(borescope_precompile_unit_tests target option)
  if(BORESCOPE_PCH)
    borescope_precompile_once(
      borescope_test_headers
      OPTIONS ${option}
      LIBS GTest::gtest_main
      HEADERS <gtest/gtest.h>)
    target_precompile_headers(${target} REUSE_FROM borescope_test_headers)
  endif()
endfunction()
