# Run by CPack between installing into its folder and packing it: what Debian expects of a package beside
# the files that every installation has.
if(NOT CPACK_GENERATOR STREQUAL DEB)
  return()
endif()
set(root "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/runtime${CPACK_PACKAGING_INSTALL_PREFIX}")
set(doc "${root}/share/doc/borescope")

function(compress)
  execute_process(COMMAND gzip --best --no-name --force ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# The day as in RFC 2822, at midnight.
function(write_changelog)
  execute_process(
    COMMAND date --utc --rfc-email "--date=${CPACK_BORESCOPE_DATE}"
    OUTPUT_VARIABLE moment
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE "${doc}/changelog.Debian"
       "borescope (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n"
       "  * Version ${CPACK_PACKAGE_VERSION}; what is new is in changelog.gz.\n\n"
       " -- ${CPACK_PACKAGE_CONTACT}  ${moment}\n")
endfunction()

file(COPY "${CPACK_BORESCOPE_SOURCES}/cmake/debian/copyright" DESTINATION "${doc}")
configure_file("${CPACK_BORESCOPE_SOURCES}/CHANGELOG.md" "${doc}/changelog" COPYONLY)
write_changelog()
file(GLOB pages "${root}/share/man/man1/*.1")
compress("${doc}/changelog" "${doc}/changelog.Debian" ${pages})

# zsh of Debian looks for the functions of packages elsewhere than zsh itself does.
if(EXISTS "${root}/share/zsh/site-functions")
  file(RENAME "${root}/share/zsh/site-functions" "${root}/share/zsh/vendor-completions")
endif()
