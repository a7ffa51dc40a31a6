# With BORESCOPE_PCH, what nearly every file includes is parsed once per target. For the builds of
# continuous integration, where parsing is a third to a half of the work: a missing #include goes
# unseen there; clang-tidy and the builds without it find it.

if(BORESCOPE_PCH AND CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache$")
  # What ccache asks for before it caches anything that uses a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
                                  CCACHE_SLOPPINESS=pch_defines,time_macros
                                  "${CMAKE_CXX_COMPILER_LAUNCHER}")
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  else()
    add_compile_options(-fpch-preprocess)
  endif()
endif()

# borescope_precompile(<target> [<header>...]): those beside the standard ones.
function(borescope_precompile target)
  if(BORESCOPE_PCH)
    target_precompile_headers(
      ${target}
      PRIVATE
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
      <vector>
      ${ARGN})
  endif()
endfunction()
