#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# hosts-down.sh FOLDER: takes away what hosts-up.sh made there, and what still runs in it. May be called twice.
set -u
export PATH=$PATH:/usr/sbin:/sbin
[ -f "$1/tag" ] || exit 0
tag=$(cat "$1/tag")
for space in $(ip netns list | awk '{print $1}' | grep "^$tag-"); do
  for pid in $(ip netns pids "$space"); do kill -9 "$pid" 2> /dev/null; done
  ip netns del "$space"
  rm -rf "/etc/netns/$space"
done
rmdir /etc/netns 2> /dev/null
rm -f "$1/tag"
