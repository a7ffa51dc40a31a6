# borescope_report_ui(<target>)
# Adds ReportTemplate() of output/html/html.h to the target: the page that web/ bundles with esbuild, or
# nothing, where node or its packages are not to be had; `borescope report` then writes plain tables.
# A page that was bundled in advance (cmake/prebuilt_page.cmake) comes first.
# The packages are those of web/package-lock.json, installed below the build folder without running
# any script of theirs. See cmake/build_report_ui.cmake for what runs when building.
include(prebuilt_page)

function(borescope_report_ui target)
  borescope_prebuilt_page("${PROJECT_SOURCE_DIR}/web" prebuilt)
  if(prebuilt AND NOT BORESCOPE_REPORT_UI STREQUAL "OFF")
    target_sources(${target} PRIVATE "${prebuilt}")
    set_source_files_properties("${prebuilt}" PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    return()
  endif()
  set(generated "${CMAKE_BINARY_DIR}/web/report_template.cc")
  find_program(BORESCOPE_NODE node)
  find_program(BORESCOPE_NPM npm)
  mark_as_advanced(BORESCOPE_NODE BORESCOPE_NPM)
  set(ui ${BORESCOPE_REPORT_UI})
  if(NOT ui STREQUAL "OFF" AND NOT (BORESCOPE_NODE AND BORESCOPE_NPM))
    if(ui STREQUAL "ON")
      message(FATAL_ERROR "BORESCOPE_REPORT_UI=ON needs node and npm")
    endif()
    message(STATUS "Report: plain tables, as node or npm is not found")
    set(ui OFF)
  endif()
  file(GLOB_RECURSE web_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/web/src/*")
  set(web_files ${web_sources})
  foreach(file IN ITEMS package.json package-lock.json .npmrc build.mjs)
    list(APPEND web_files "${PROJECT_SOURCE_DIR}/web/${file}")
  endforeach()
  add_custom_command(
    OUTPUT "${generated}"
    COMMAND
      "${CMAKE_COMMAND}" -D "UI=${ui}" -D "NODE=${BORESCOPE_NODE}" -D "NPM=${BORESCOPE_NPM}" -D
      "WEB=${PROJECT_SOURCE_DIR}/web" -D "BUILD=${CMAKE_BINARY_DIR}/web" -P
      "${PROJECT_SOURCE_DIR}/cmake/build_report_ui.cmake"
    DEPENDS ${web_files} "${PROJECT_SOURCE_DIR}/cmake/build_report_ui.cmake"
    COMMENT "Bundling the page of the HTML report"
    VERBATIM)
  target_sources(${target} PRIVATE "${generated}")
  set_source_files_properties("${generated}" PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()
