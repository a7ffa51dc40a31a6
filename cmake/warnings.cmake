# borescope_warnings: linked PRIVATE by every target of ours, so that our warnings never reach
# third-party code and never leak to whoever links us.

add_library(borescope_warnings INTERFACE)
target_compile_options(
  borescope_warnings
  INTERFACE -Wall
            -Wextra
            -Wpedantic
            -Wshadow
            -Wconversion
            -Wold-style-cast
            -Wnon-virtual-dtor
            -Wimplicit-fallthrough)

if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(borescope_warnings INTERFACE -Wreserved-identifier)
endif()

if(BORESCOPE_WERROR)
  target_compile_options(borescope_warnings INTERFACE -Werror)
endif()
