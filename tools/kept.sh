# What the scripts beside this file share: where they keep what they install, and how they say that something is missing.
#
# Everything is kept once for a user, not once for a checkout, in ~/.cache/proofhouse-tools (about 3.4 GB when all of it is there),
# or where PROOFHOUSE_TOOLS says. Sourced after `name` is set; leaves `here`, `place`, `missing`, `once` and `python_env`.
here="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
kept="${PROOFHOUSE_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/proofhouse-tools}"
place="$kept/$name"

missing() {
    echo "missing: $1" >&2
    [ $# -lt 2 ] || echo "hint: $2" >&2
    exit 1
}

# FOLDER WORK…: does the work that fills a folder, unless that was done before; two who want it at once wait for each other.
once() {
    local folder="$1" lock
    shift
    [ ! -e "$folder/ready" ] || return 0
    mkdir -p "$(dirname "$folder")"
    exec {lock}>"$folder.lock"
    ! command -v flock >/dev/null || flock "$lock"
    if [ ! -e "$folder/ready" ]; then
        rm -rf "$folder"
        mkdir -p "$folder"
        "$@"
        touch "$folder/ready"
    fi
    exec {lock}>&-
}

# FOLDER PIP-ARGUMENTS…: packages from PyPI in a Python environment of their own.
python_env() {
    local folder="$1"
    shift
    command -v python3 >/dev/null || missing "python3" "apt-get install python3 python3-venv"
    [ -e "$folder/bin/pip" ] || python3 -m venv "$folder" >/dev/null 2>&1 ||
        missing "Python's venv module" "apt-get install python3-venv"
    "$folder/bin/pip" install --quiet --disable-pip-version-check "$@" >&2 ||
        missing "the packages $*" "they come from PyPI by pip: is there a network, or a mirror in pip's settings?"
}
