# Foreign builds: the sim needs two libraries as headers alone (libfixmath's number type, xxHash inlined). This
# machine's copies are good for every architecture, but /usr/include as a whole isn't: it would hide the foreign C
# library's headers. So just these files are copied into the build folder, and found there.
set(foreign ${PROJECT_BINARY_DIR}/foreign-include)
find_path(HOST_FIXMATH libfixmath/fix16.h PATHS /usr/local/include /usr/include NO_CMAKE_FIND_ROOT_PATH REQUIRED)
find_path(HOST_XXHASH xxhash.h PATHS /usr/local/include /usr/include NO_CMAKE_FIND_ROOT_PATH REQUIRED)
file(COPY ${HOST_FIXMATH}/libfixmath DESTINATION ${foreign} FILES_MATCHING PATTERN "*.h")
file(COPY ${HOST_XXHASH}/xxhash.h DESTINATION ${foreign})
if(EXISTS ${HOST_XXHASH}/xxh3.h)
  file(COPY ${HOST_XXHASH}/xxh3.h DESTINATION ${foreign})
endif()
set(FIXMATH_INCLUDE_DIR ${foreign} CACHE PATH "libfixmath's headers" FORCE)
set(XXHASH_INCLUDE_DIR ${foreign} CACHE PATH "xxHash's headers" FORCE)
