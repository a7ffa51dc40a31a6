# cmake -D PROGRAM=... -D ARGUMENTS=...;... -D OUTPUT=... -P write_output.cmake
# What a program prints becomes a file, or nothing does.
execute_process(
  COMMAND "${PROGRAM}" ${ARGUMENTS}
  OUTPUT_VARIABLE printed
  RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} ${ARGUMENTS} failed: ${status}")
endif()
file(WRITE "${OUTPUT}" "${printed}")
