# The page of the report as sdists carry it, bundled in advance, so that building them needs neither node nor npm:
# web/prebuilt/report_template.cc, whose first line says which sources it was made from. It counts only for these.
#   cmake -D WEB=<web> -D PAGE=<report_template.cc of a build> -P prebuilt_page.cmake    writes it

# Sets `hash` to one over all that the page is made from.
function(borescope_page_sources web hash)
  file(GLOB_RECURSE sources "${web}/src/*")
  list(APPEND sources "${web}/package.json" "${web}/package-lock.json" "${web}/build.mjs")
  list(SORT sources)
  set(hashes "")
  foreach(source IN LISTS sources)
    file(SHA256 "${source}" one)
    string(APPEND hashes "${one}")
  endforeach()
  string(SHA256 all "${hashes}")
  set(${hash} "${all}" PARENT_SCOPE)
endfunction()

# Sets `page` to the page bundled in advance from these sources, or to nothing.
function(borescope_prebuilt_page web page)
  set(${page} "" PARENT_SCOPE)
  set(candidate "${web}/prebuilt/report_template.cc")
  if(EXISTS "${candidate}")
    borescope_page_sources("${web}" hash)
    file(STRINGS "${candidate}" first LIMIT_COUNT 1)
    if(first STREQUAL "// ${hash}")
      set(${page} "${candidate}" PARENT_SCOPE)
    endif()
  endif()
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  borescope_page_sources("${WEB}" hash)
  # Not by file(READ), for which brackets and semicolons mean something.
  file(MAKE_DIRECTORY "${WEB}/prebuilt")
  file(WRITE "${WEB}/prebuilt/head" "// ${hash}\n")
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -E cat "${WEB}/prebuilt/head" "${PAGE}"
    OUTPUT_FILE "${WEB}/prebuilt/report_template.cc" COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE "${WEB}/prebuilt/head")
endif()
