# borescope_manual(<program>): pages for man(1) and completion for shells, from what the program says of
# itself; installed with the component "runtime", and with the Python package below share/ of its
# environment, where man(1) and the completion of bash look for them. The target `manual` belongs to `all`. The pages need
# Python: without it they are left out, as the program itself does not need it.
include(GNUInstallDirs)

# Sets `date` to the day the pages carry: the same sources give the same bytes.
function(borescope_source_date date)
  if(DEFINED ENV{SOURCE_DATE_EPOCH})
    # TIMESTAMP reads the variable.
    string(TIMESTAMP day "%Y-%m-%d" UTC)
  else()
    execute_process(
      COMMAND git log -1 --format=%cs
      WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
      OUTPUT_VARIABLE day
      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(NOT day)
      file(TIMESTAMP "${PROJECT_SOURCE_DIR}/CHANGELOG.md" day "%Y-%m-%d" UTC)
    endif()
  endif()
  set(${date} "${day}" PARENT_SCOPE)
endfunction()

function(borescope_man_pages program)
  find_package(Python3 3.10 COMPONENTS Interpreter QUIET)
  if(NOT Python3_Interpreter_FOUND)
    message(STATUS "Manual pages: none, as Python 3.10 is not found")
    return()
  endif()
  borescope_source_date(date)
  set(pages "${PROJECT_BINARY_DIR}/share/man/man1")
  set(script "${PROJECT_SOURCE_DIR}/tools/gen_man.py")
  add_custom_command(
    OUTPUT "${pages}/stamp"
    COMMAND Python3::Interpreter "${script}" $<TARGET_FILE:${program}> "${pages}" --date "${date}"
    COMMAND "${CMAKE_COMMAND}" -E touch "${pages}/stamp"
    DEPENDS ${program} "${script}"
    COMMENT "Writing manual pages"
    VERBATIM)
  # Optional: who builds nothing but the program may install it.
  install(
    DIRECTORY "${pages}"
    DESTINATION "${CMAKE_INSTALL_MANDIR}"
    COMPONENT runtime
    OPTIONAL
    FILES_MATCHING PATTERN "*.1")
  if(SKBUILD)
    install(DIRECTORY "${pages}" DESTINATION "${SKBUILD_DATA_DIR}/share/man" COMPONENT python
            FILES_MATCHING PATTERN "*.1")
  endif()
  set_property(GLOBAL APPEND PROPERTY BORESCOPE_MANUAL "${pages}/stamp")
endfunction()

# borescope_completion(<program> <shell> <folder> <file>): for one shell, where it looks below share/.
function(borescope_completion program shell folder file)
  set(script "${PROJECT_BINARY_DIR}/share/${folder}/${file}")
  add_custom_command(
    OUTPUT "${script}"
    COMMAND
      "${CMAKE_COMMAND}" -D "PROGRAM=$<TARGET_FILE:${program}>" -D "ARGUMENTS=completion;${shell}" -D
      "OUTPUT=${script}" -P "${PROJECT_SOURCE_DIR}/cmake/write_output.cmake"
    DEPENDS ${program} "${PROJECT_SOURCE_DIR}/cmake/write_output.cmake"
    COMMENT "Writing completion for ${shell}"
    VERBATIM)
  install(
    FILES "${script}"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/${folder}"
    COMPONENT runtime
    OPTIONAL)
  if(SKBUILD)
    install(FILES "${script}" DESTINATION "${SKBUILD_DATA_DIR}/share/${folder}" COMPONENT python)
  endif()
  set_property(GLOBAL APPEND PROPERTY BORESCOPE_MANUAL "${script}")
endfunction()

function(borescope_manual program)
  borescope_man_pages(${program})
  borescope_completion(${program} bash bash-completion/completions borescope)
  borescope_completion(${program} zsh zsh/site-functions _borescope)
  borescope_completion(${program} fish fish/vendor_completions.d borescope.fish)
  get_property(files GLOBAL PROPERTY BORESCOPE_MANUAL)
  add_custom_target(manual ALL DEPENDS ${files})
endfunction()
