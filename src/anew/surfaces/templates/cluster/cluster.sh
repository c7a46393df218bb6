#!/bin/sh
# A server and its workers on this machine, until Ctrl-C. PORT is where the server listens.
set -eu
port="${PORT:-8700}"
url="http://127.0.0.1:$port"
umask 077
[ -s token ] || od -An -N32 -tx1 /dev/urandom | tr -d ' \n' > token

anew serve --port "$port" --db cluster.db --no-workers --token-file token &
server=$!
trap 'kill $server $workers 2>/dev/null; wait' EXIT
trap 'exit 0' INT TERM
workers=""
until anew runs --server "$url" --token-file token >/dev/null 2>&1; do
    kill -0 $server || exit 1
    sleep 0.2
done
anew worker --server "$url" --token-file token --processes 2 &
workers="$workers $!"
anew worker --server "$url" --token-file token --pool reports &
workers="$workers $!"
wait
