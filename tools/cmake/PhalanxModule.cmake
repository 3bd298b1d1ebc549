# The compiler's settings and phx_module(): one function makes every library of the project.

include(GNUInstallDirs)
option(PHX_NO_THREADS "For a platform without threads: a pool of jobs is the calling thread alone" OFF)
if(PHX_NO_THREADS)
  add_library(Threads::Threads INTERFACE IMPORTED GLOBAL) # nothing to link
else()
  find_package(Threads REQUIRED)
endif()

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo" FORCE)
endif()

find_path(FIXMATH_INCLUDE_DIR libfixmath/fix16.h REQUIRED)
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)

add_library(phx_warnings INTERFACE)
target_compile_options(phx_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes
                                              -Wmissing-prototypes -Wvla -Wundef)
if(PHX_STRICT)
  target_compile_options(phx_warnings INTERFACE -Werror)
endif()

if(PHX_SANITIZE)
  add_compile_options(-fsanitize=${PHX_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
  add_link_options(-fsanitize=${PHX_SANITIZE})
endif()
if(PHX_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# phx_module(<name> SOURCES <file>... [DEPENDS <module>...] [LINK <library>...] [SIM])
#   Makes the static library phalanx_<name>, alias phalanx::<name>, from the sources of the current folder.
#   DEPENDS names other modules, whose headers become visible; LINK adds foreign libraries, privately.
#   SIM marks the deterministic core: it may be compiled without floating point (PHX_GENERAL_REGS).
function(phx_module name)
  cmake_parse_arguments(ARG "SIM" "" "SOURCES;DEPENDS;LINK" ${ARGN})
  set(target phalanx_${name})
  add_library(${target} STATIC ${ARG_SOURCES})
  add_library(phalanx::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} OUTPUT_NAME phalanx_${name})
  target_compile_features(${target} PUBLIC c_std_17)
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/include/${name})
    target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>)
  endif()
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:phx_warnings>)
  foreach(dep IN LISTS ARG_DEPENDS)
    target_link_libraries(${target} PUBLIC phalanx_${dep})
  endforeach()
  if(ARG_LINK)
    target_link_libraries(${target} PRIVATE ${ARG_LINK})
  endif()
  if(ARG_SIM AND PHX_GENERAL_REGS)
    target_compile_options(${target} PRIVATE -mgeneral-regs-only)
  endif()
  install(TARGETS ${target} EXPORT phalanxTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()
