# SPDX-License-Identifier: Apache-2.0
# Runs a server on a host where only a POSIX shell, grep and sed may be expected. It says when the server has its port,
# and ends the server when it is told to, or after some seconds if nobody tells it.
# Words: tcp or udp, state of a socket that waits, its port (both in hexadecimal), seconds, and the command.
table=$1 state=$2 port=$3 left=$4 program=$5
shift 5
command -v "$program" > /dev/null 2>&1 || program=${program##*/}
command -v "$program" > /dev/null 2>&1 || {
  echo "ullage: absent"
  exit 127
}
"$program" "$@" > /dev/null 2>&1 &
server=$!
trap 'kill $server 2> /dev/null; exit 143' TERM INT HUP

serves() {
  for socket in $(ls -l /proc/$server/fd 2> /dev/null | sed -n 's/.*socket:\[\([0-9]*\)\]$/\1/p'); do
    line=":$port [0-9A-F]+:[0-9A-F]+ $state .* $socket "
    grep -qsE "$line" "/proc/net/$table" "/proc/net/${table}6" && return 0
  done
  return 1
}

until serves; do
  kill -0 $server 2> /dev/null || {
    wait $server
    exit
  }
  # In the background: a signal is acted upon at once.
  sleep 0.1 &
  wait $!
done
echo "ullage: serving"
while [ "$left" -gt 0 ] && kill -0 $server 2> /dev/null; do
  left=$((left - 1))
  sleep 1 &
  wait $!
done
kill $server 2> /dev/null
wait $server
