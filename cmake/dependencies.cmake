# Every third-party library, found on the system and never downloaded.
#
# Modules name these targets in LIBS:
#   simdjson::simdjson  fmt::fmt  CLI11::CLI11  ZLIB::ZLIB  SQLite::SQLite3  Threads::Threads
#   borescope_deps::zstd  borescope_deps::isal  borescope_deps::re2  borescope_deps::protozero
# All are imported targets, whose headers CMake treats as SYSTEM: no warnings from them.

find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(fmt REQUIRED CONFIG)
find_package(simdjson REQUIRED CONFIG)
find_package(CLI11 REQUIRED CONFIG)

# borescope_find_c_library(<target> HEADER <h> NAMES <lib>... PACKAGE <apt package>)
# For libraries whose CMake files differ between distributions or do not exist.
function(borescope_find_c_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "HEADER;PACKAGE" "NAMES")
  find_path(BORESCOPE_${target}_INCLUDE_DIR "${arg_HEADER}")
  find_library(BORESCOPE_${target}_LIBRARY NAMES ${arg_NAMES})
  mark_as_advanced(BORESCOPE_${target}_INCLUDE_DIR BORESCOPE_${target}_LIBRARY)
  if(NOT BORESCOPE_${target}_INCLUDE_DIR OR NOT BORESCOPE_${target}_LIBRARY)
    message(FATAL_ERROR "${target}: ${arg_HEADER} or its library not found (Debian: ${arg_PACKAGE})")
  endif()
  add_library(borescope_deps::${target} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(
    borescope_deps::${target}
    PROPERTIES IMPORTED_LOCATION "${BORESCOPE_${target}_LIBRARY}"
               INTERFACE_INCLUDE_DIRECTORIES "${BORESCOPE_${target}_INCLUDE_DIR}")
endfunction()

borescope_find_c_library(zstd HEADER zstd.h NAMES zstd PACKAGE libzstd-dev)
borescope_find_c_library(isal HEADER isa-l/igzip_lib.h NAMES isal PACKAGE libisal-dev)
borescope_find_c_library(re2 HEADER re2/re2.h NAMES re2 PACKAGE libre2-dev)

# Headers only.
find_path(BORESCOPE_protozero_INCLUDE_DIR protozero/pbf_writer.hpp)
mark_as_advanced(BORESCOPE_protozero_INCLUDE_DIR)
if(NOT BORESCOPE_protozero_INCLUDE_DIR)
  message(FATAL_ERROR "protozero: protozero/pbf_writer.hpp not found (Debian: libprotozero-dev)")
endif()
add_library(borescope_deps::protozero INTERFACE IMPORTED GLOBAL)
set_target_properties(
  borescope_deps::protozero PROPERTIES INTERFACE_INCLUDE_DIRECTORIES
                                       "${BORESCOPE_protozero_INCLUDE_DIR}")

if(BORESCOPE_TESTS)
  find_package(GTest REQUIRED CONFIG)
endif()
