# check-edges.awk: first argument the table, second the list of files (one a line). See check-edges.

function fail(text) { print text > "/dev/stderr"; faults++ }

# The module of a path, by the longest folder of the table; a public header by its line.
function module_of(path,    folder, best, name) {
    if (match(path, /include\/phalanx\//)) {
        name = substr(path, RSTART + 8)
        if (name in public) return public[name]
    }
    best = ""
    for (folder in folders)
        if (index(path, folder "/") == 1 && length(folder) > length(best)) best = folder
    if (best == "") fail(path ": of no module; add a `module` line, or a `public` one, to .ci/edges.txt")
    return best == "" ? "" : folders[best]
}

# Visits the table depth first; a module that is met again on the way down is on a circle.
function visit(module, way,    list, n, i) {
    if (mark[module] == 2) return
    if (mark[module] == 1) { fail(".ci/edges.txt: a circle:" way " " module); return }
    mark[module] = 1
    n = split(edges[module], list, " ")
    for (i = 1; i <= n; i++) if (list[i] !~ /^[*@]/) visit(list[i], way " " module)
    mark[module] = 2
}

# a/b/../c is a/c.
function normal(path) {
    while (match(path, /[^\/]+\/\.\.\//)) path = substr(path, 1, RSTART - 1) substr(path, RSTART + RLENGTH)
    return path
}

function check_include(file, line, module, name,    folder, target, i, other) {
    folder = file
    sub(/[^\/]*$/, "", folder)
    target = normal(folder name)
    if (!(target in files)) target = ""
    for (i = 1; target == "" && i <= roots; i++) if (normal(root[i] name) in files) target = normal(root[i] name)
    if (target == "") {
        if (name in common || (module, name) in outside || (module, "*") in outside || (file, name) in outside) return
        fail(file ":" line ": " module " may not include <" name ">, a header from outside")
        return
    }
    other = module_of(target)
    if (other == "" || other == module || (module, other) in edge || (module, "*") in edge) return
    if ((module, "@sim") in edge && index(target, "sim/include/phalanx/") == 1) return
    fail(file ":" line ": " module " may not include " other " (" name ")")
}

FNR == NR {
    sub(/#.*/, "")
    if (NF == 0) next
    kind = $1
    owner = $2
    sub(/:$/, "", owner)
    if (kind == "module") folders[$3] = $2
    else if (kind == "public") public[$2] = $3
    else if (kind == "common") for (i = 2; i <= NF; i++) common[$i]
    else if (kind == "system" || kind == "file") for (i = 3; i <= NF; i++) outside[owner, $i]
    else if (kind == "edge") {
        known[owner]
        for (i = 3; i <= NF; i++) { edge[owner, $i]; edges[owner] = edges[owner] " " $i }
    } else fail(".ci/edges.txt:" FNR ": no such kind of line: " kind)
    next
}
{
    files[$1]
    order[++count] = $1
    path = $1
    # include roots: .../include/ at any depth, and tools/<folder>/ for what is included by its name
    if (match(path, /include\//)) path = substr(path, 1, RSTART + 7); else sub(/[^\/]*$/, "", path)
    if (path ~ /include\/$/ && !(path in is_root)) { is_root[path]; root[++roots] = path }
}
END {
    for (module in known) visit(module, "")
    for (i = 1; i <= count; i++) {
        file = order[i]
        module = module_of(file)
        if (module != "" && !(module in known)) fail(file ": module " module " has no `edge` line")
        for (line = 1; (getline text < file) > 0; line++)
            if (text ~ /^[ \t]*#[ \t]*include[ \t]*["<]/) {
                split(text, piece, /["<>]/)
                check_include(file, line, module, piece[2])
                includes++
            }
        close(file)
    }
    if (count == 0 || includes == 0) fail("check-edges: nothing to read")
    if (faults) { print "check-edges: " faults " faults" > "/dev/stderr"; exit 1 }
    print "check-edges: " count " files, " includes " includes, all along the table"
}
