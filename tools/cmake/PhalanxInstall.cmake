# Installs the libraries, the public headers, and what find_package(phalanx) and pkg-config read. phx_module() has
# put each library into the export set phalanxTargets.
include(CMakePackageConfigHelpers)

set(phx_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/phalanx)
set(phx_templates ${PROJECT_SOURCE_DIR}/tools/cmake)

# What a game links: everything of the sim, under one name.
install(TARGETS phalanx_sim EXPORT phalanxTargets)

foreach(library sim replay net)
  if(library STREQUAL net AND NOT PHX_NET)
    continue()
  endif()
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${library}/include/phalanx DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          FILES_MATCHING PATTERN "*.h")
endforeach()

install(EXPORT phalanxTargets NAMESPACE phalanx:: DESTINATION ${phx_cmake_dir})
configure_package_config_file(${phx_templates}/phalanx-config.cmake.in ${PROJECT_BINARY_DIR}/phalanx-config.cmake
                              INSTALL_DESTINATION ${phx_cmake_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/phalanx-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/phalanx-config.cmake ${PROJECT_BINARY_DIR}/phalanx-config-version.cmake
        DESTINATION ${phx_cmake_dir})

# phx_link_chain(<target> <out>): the project's archives that a program needs for this one, each before what it uses
# (the reverse of the order in which a walk over the dependencies leaves them).
function(phx_link_chain target out)
  if(NOT TARGET ${target})
    message(FATAL_ERROR "${target} is named in a DEPENDS, and is no module")
  endif()
  set(chain ${${out}})
  get_target_property(deps ${target} INTERFACE_LINK_LIBRARIES)
  foreach(dep IN LISTS deps)
    string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" dep "${dep}")
    if(dep MATCHES "^phalanx_" AND NOT dep IN_LIST chain)
      phx_link_chain(${dep} chain)
    endif()
  endforeach()
  if(NOT target IN_LIST chain)
    list(PREPEND chain ${target})
  endif()
  set(${out} ${chain} PARENT_SCOPE)
endfunction()

# phx_pkg_config(<library> <description> [<pkg-config package it needs>])
#   The archives are static only, so that the whole chain stands in Libs and Requires: a plain `pkg-config --libs`
#   links.
function(phx_pkg_config library description)
  set(chain)
  phx_link_chain(phalanx_${library} chain)
  set(PC_LIBS)
  foreach(target IN LISTS chain)
    get_target_property(type ${target} TYPE)
    if(NOT type STREQUAL INTERFACE_LIBRARY)
      string(APPEND PC_LIBS " -l${target}")
    endif()
  endforeach()
  if("phalanx_jobs" IN_LIST chain)
    string(APPEND PC_LIBS " -pthread")
  endif()
  set(PC_CFLAGS)
  if(NOT FIXMATH_INCLUDE_DIR STREQUAL /usr/include)
    set(PC_CFLAGS " -I${FIXMATH_INCLUDE_DIR}")
  endif()
  set(PC_NAME phalanx-${library})
  set(PC_DESCRIPTION ${description})
  set(PC_REQUIRES ${ARGV2})
  # An installed prefix may be moved: the paths start from where the file lies.
  file(RELATIVE_PATH PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  configure_file(${phx_templates}/phalanx.pc.in ${PROJECT_BINARY_DIR}/${PC_NAME}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${PC_NAME}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

set(replay_requires)
if(PHX_ZSTD)
  set(replay_requires libzstd)
endif()
foreach(entry "math|Fixed-point numbers, trigonometry, vectors and random numbers, bit-equal everywhere|"
              "sim|Deterministic lockstep RTS simulation|" "replay|Replays of Phalanx matches|${replay_requires}"
              "net|Lockstep networking for Phalanx|libenet")
  string(REPLACE "|" ";" entry "${entry}")
  list(GET entry 0 library)
  list(GET entry 1 description)
  list(GET entry 2 requires)
  if(TARGET phalanx_${library})
    phx_pkg_config(${library} "${description}" ${requires})
  endif()
endforeach()
