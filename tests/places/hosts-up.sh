#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# hosts-up.sh FOLDER HOSTS [INDEX:RATE]...
# Makes network namespaces that stand for hosts h0, h1, ... with a switch between them, all on this machine, as root.
# A host with a RATE (as tc writes it: 400mbit) is behind a link of that rate, both ways. Writes into FOLDER:
#   on HOST COMMAND...       runs a command there, with the host's name and network
#   agent HOST COMMAND-LINE  the same as rsh has it, for MPI's launchers
# Everything it makes is named by FOLDER's tag, and hosts-down.sh takes it away.
set -eu
export PATH=$PATH:/usr/sbin:/sbin
folder=$1 hosts=$2
shift 2
tag=u$(printf %s "$folder" | cksum | cut -d' ' -f1)
net=10.78.$((RANDOM % 200))
# Large frames, so that headers are below 1 % of what the shaped link lets pass.
mtu=9000
mkdir -p "$folder"
printf '%s\n' "$tag" > "$folder/tag"

ip netns add "$tag-switch"
ip -n "$tag-switch" link add bridge mtu $mtu type bridge
ip -n "$tag-switch" link set bridge up
# The processors that may be used here, which in a container need not be the first ones: one for each host in turn.
cpus=()
for range in $(LC_ALL=C taskset -cp $$ | sed 's/.*: //; s/,/ /g'); do
  for ((cpu = ${range%-*}; cpu <= ${range#*-}; cpu++)); do cpus+=("$cpu"); done
done
printf '127.0.0.1 localhost\n' > "$folder/hosts"
for ((i = 0; i < hosts; i++)); do echo "$net.$((10 + i)) h$i" >> "$folder/hosts"; done

for ((i = 0; i < hosts; i++)); do
  space=$tag-h$i
  ip netns add "$space"
  echo "${cpus[i % ${#cpus[@]}]}" > "$folder/cpu-h$i"
  mkdir -p "/etc/netns/$space"
  cp "$folder/hosts" "/etc/netns/$space/hosts"
  ip -n "$space" link add eth0 mtu $mtu type veth peer name "port$i" mtu $mtu netns "$tag-switch"
  ip -n "$space" addr add "$net.$((10 + i))/24" dev eth0
  ip -n "$space" link set lo up
  ip -n "$space" link set eth0 up
  ip -n "$tag-switch" link set "port$i" master bridge up
  # A congestion control that estimates the rate itself needs longer than a test to find it.
  ip netns exec "$space" sysctl -qw net.ipv4.tcp_congestion_control=reno 2> "$folder/sysctl.err" || true
done

# A queue that holds all that a sender may have under way: nothing is dropped, so nothing is sent twice.
for shaped in "$@"; do
  index=${shaped%%:*} rate=${shaped#*:}
  ip netns exec "$tag-h$index" tc qdisc replace dev eth0 root tbf rate "$rate" burst 64kb limit 64mb
  ip netns exec "$tag-switch" tc qdisc replace dev "port$index" root tbf rate "$rate" burst 64kb limit 64mb
done

cat > "$folder/on" << EOF
#!/bin/sh
host=\$1
shift
exec taskset -c "\$(cat "$folder/cpu-\$host")" ip netns exec $tag-\$host unshare -u sh -c 'hostname "\$0"; exec "\$@"' "\$host" "\$@"
EOF
cat > "$folder/agent" << EOF
#!/bin/sh
while :; do case "\$1" in -l | -p) shift 2 ;; -*) shift ;; *) break ;; esac; done
host=\$1
shift
# Not by exec: like ssh, it lives as long as the command does, and has the host's name among its words.
taskset -c "\$(cat "$folder/cpu-\$host")" ip netns exec $tag-\$host unshare -u sh -c 'hostname "\$0"; exec sh -c "\$1"' "\$host" "\$*"
EOF
chmod +x "$folder/on" "$folder/agent"
