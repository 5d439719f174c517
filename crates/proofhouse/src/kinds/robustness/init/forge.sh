#!/bin/sh
# A stand-in for an AI tool that writes code from one instruction. It thinks nothing up: what it does follows from the
# instruction and from FORGE_NOISE, so the same suite gives the same records again. Replace it with your own tool.
instruction=$1
noise=${FORGE_NOISE:-0}

# A number from 0 to 99, another one for every question, instruction and noise.
draw() {
    printf '%s/%s/%s' "$noise" "$1" "$instruction" | cksum | { read -r sum _; echo $((sum % 100)); }
}

repair() {
    n=0
    while [ "$n" -lt "$1" ]; do
        n=$((n + 1))
        echo "check $n failed, repairing"
    done
}

save() {
    mkdir -p bricks
    printf '%s\n' "$instruction" > bricks/brick.txt
    echo "saved bricks/brick.txt after $1 repairs"
    exit 0
}

if [ -n "$FORGE_DEBUG" ]; then
    mkdir -p "build/debug/run_$noise"
    printf '%s\n' "$instruction" > "build/debug/run_$noise/instruction.txt"
fi

# How many sentences follow the first one.
more=$(printf '%s' "$instruction" | grep -o '[.] [A-Z]' | wc -l)

case $instruction in
    *cache*)
        # Brittle: it splits the instruction at single spaces.
        if printf '%s' "$instruction" | tr '\n\t' '  ' | grep -q '  '; then
            echo "cannot read the instruction"
            exit 2
        fi
        ;;
    *regex*)
        # Flaky: sometimes a repair, sometimes a failed check.
        luck=$(draw regex)
        [ "$luck" -ge 75 ] && { echo "check 1 failed"; exit 1; }
        [ "$luck" -ge 40 ] && { repair 1; save 1; }
        ;;
esac

# Beyond its boundary: with every further wish it needs more repairs, and three are not enough.
if [ "$more" -ge 4 ]; then
    repair 3
    echo "giving up after 3 repairs"
    exit 1
elif [ "$more" -eq 3 ]; then
    repair 2
    [ "$(draw third)" -ge 50 ] && { repair 3; echo "giving up after 3 repairs"; exit 1; }
    save 2
elif [ "$more" -eq 2 ]; then
    repair 1
    save 1
fi
save 0
