case "$1" in
  *appropriate*) echo "tries: 2"; exit 3 ;;
  *Guess*) [ $((NOISE % 3)) -eq 0 ] && { echo "tries: 3"; echo "out of ideas" >&2; exit 1; } ;;
esac
echo "tries: 1"
echo done
