# common.sh: what tools/demo, tools/check, tools/cross/matrix and .ci/run share. Sourced by bash, in the project's root.
# shellcheck shell=bash

# The steps' words go to standard error, so that standard output holds results alone.
say() { printf '%s\n' "$*" >&2; }

on_terminal() { [ -t 2 ]; }

# step WORDS LOG COMMAND...: runs a command with its output in a log. On a terminal, the last line shows how far it
# is; in a pipe there is one line at its beginning. When it fails, the end of the log is printed, and the step named.
step() {
    local words=$1 log=$2 status=0 begin=$SECONDS line
    shift 2
    mkdir -p "$(dirname "$log")"
    if on_terminal; then
        { "$@" 2>&1 </dev/null || echo "exit status $?"; } | tee "$log" | while IFS= read -r line; do
            printf '\r\033[K%s: %s' "$words" "${line:0:70}" >&2
        done
        printf '\r\033[K' >&2
        [[ $(tail -n 1 "$log") != "exit status "* ]] || status=1
        say "$words ($((SECONDS - begin)) s)"
    else
        say "$words"
        "$@" >"$log" 2>&1 </dev/null || status=$?
    fi
    if [ "$status" != 0 ]; then
        tail -n 60 "$log" >&2
        say "FAILED: $words (the whole output is in $log)"
    fi
    return "$status"
}

# configure PRESET [OPTION...]: a build folder that was made for another place (a moved clone) is made anew.
configure() {
    local preset=$1 home
    shift
    local cache=build/$preset/CMakeCache.txt
    if [ -e "$cache" ]; then
        home=$(awk -F= '$1 == "CMAKE_HOME_DIRECTORY:INTERNAL" { print $2 }' "$cache")
        [ "$home" = "$PWD" ] || rm -rf "build/$preset"
    fi
    step "configuring build/$preset" "build/log/$preset-configure.log" cmake --preset "$preset" "$@"
}

# build PRESET [TARGET...]
build() {
    local preset=$1
    shift
    step "building build/$preset" "build/log/$preset-build.log" cmake --build "build/$preset" ${1:+--target "$@"}
}
