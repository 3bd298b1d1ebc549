# wasm (32-bit WebAssembly with WASI): clang with lld and Debian's wasi-libc, run by node. It has no threads.
set(CMAKE_SYSTEM_NAME Generic) # CMake 3.25 doesn't know WASI; Generic is "no operating system": no shared libraries
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_C_COMPILER clang)
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
set(CMAKE_CROSSCOMPILING_EMULATOR ${CMAKE_CURRENT_LIST_DIR}/run-wasm)
# A stack that grows into data is found only if it lies below them; 1 MiB, since 64 KiB is the default. All memory from the
# start: node 20 was seen to crash in its own code, after the program had ended, where the memory had grown by much.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,--stack-first -Wl,-z,stack-size=1048576 -Wl,--initial-memory=268435456")
set(PHX_NO_THREADS ON)

set(CMAKE_FIND_ROOT_PATH /usr/lib/wasm32-wasi)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
