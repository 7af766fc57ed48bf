#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# slurm-cluster.sh FOLDER NODES CPUS PORT [AT_A_SWITCH]
# Is a Slurm cluster of nodes n0, n1, ... on this machine for as long as it runs: munged, slurmctld and a slurmd for each
# node, all on 127.0.0.1 at the ports from PORT on. It has to be the first process of a PID namespace (tests/places/slurm.py):
# when it ends, however that is, the kernel ends all daemons, jobs and ranks with it.
# With AT_A_SWITCH so many nodes are at each of the switches s0, s1, ... below the switch top (topology/tree).
# FOLDER/slurm.conf is what clients take as SLURM_CONF; FOLDER/ready appears when all nodes are idle.
set -eu
export PATH=$PATH:/usr/sbin:/sbin
folder=$1 nodes=$2 cpus=$3 port=$4 at_a_switch=${5:-0}
umask 022
mkdir -p "$folder"/{munge,state,log,spool,tmp}
chmod 700 "$folder/munge"
head -c 1024 /dev/urandom > "$folder/munge/key"
chmod 600 "$folder/munge/key"
munged --num-threads=2 --force --key-file="$folder/munge/key" --socket="$folder/munge.sock" \
  --pid-file="$folder/munge/pid" --log-file="$folder/munge/log" --seed-file="$folder/munge/seed" 2> "$folder/log/munged.err"

# No daemon listens on other addresses (NoInAddrAny), for which "ctl" and the nodes need names: see hosts below.
# A pmix plug-in makes a folder in TmpFS that is named by job and step, so each node has a TmpFS of its own.
# ReturnToService: a node that a test has set down comes back. config_overrides: more CPUs than the machine has.
last=$((nodes - 1))
{
  cat << EOC
ClusterName=ullage
SlurmctldHost=ctl(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge.sock
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd-%n.pid
SlurmdSpoolDir=$folder/spool/%n
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
TmpFS=$folder/tmp
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
MpiDefault=pmix
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,bf_interval=2,sched_min_interval=100000
SlurmdParameters=config_overrides
ReturnToService=2
EnforcePartLimits=ALL
InactiveLimit=0
KillWait=5
MinJobAge=300
SlurmctldTimeout=30
SlurmdTimeout=60
MailProg=/bin/true
EOC
  for ((i = 0; i < nodes; i++)); do
    echo "NodeName=n$i NodeHostname=n$i NodeAddr=127.0.0.1 Port=$((port + 1 + i)) Sockets=1 CoresPerSocket=$cpus ThreadsPerCore=1 RealMemory=1024 State=UNKNOWN"
  done
  echo "PartitionName=all Nodes=n[0-$last] Default=YES MaxTime=60 State=UP OverSubscribe=NO"
  echo "PartitionName=phys Nodes=n[0-$last] AllowAccounts=phys State=UP OverSubscribe=NO"
  echo "PartitionName=short Nodes=n[0-$last] MaxTime=1 State=UP OverSubscribe=NO"
} > "$folder/slurm.conf"
if [ "$at_a_switch" -gt 0 ]; then
  echo TopologyPlugin=topology/tree >> "$folder/slurm.conf"
  for ((i = 0; i * at_a_switch < nodes; i++)); do
    echo "SwitchName=s$i Nodes=n[$((i * at_a_switch))-$(((i + 1) * at_a_switch - 1))]"
  done > "$folder/topology.conf"
  echo "SwitchName=top Switches=s[0-$((i - 1))]" >> "$folder/topology.conf"
fi
echo CgroupPlugin=cgroup/v1 > "$folder/cgroup.conf"
export SLURM_CONF=$folder/slurm.conf
{
  cat /etc/hosts
  echo "127.0.0.1 ctl"
  for ((i = 0; i < nodes; i++)); do echo "127.0.0.1 n$i"; done
} > "$folder/hosts"

# A controller that was told to end (scontrol shutdown slurmctld) comes back as soon as FOLDER/no-controller is gone.
unshare -m -u bash -c 'hostname ctl; mount --bind "$1/hosts" /etc/hosts
  slurmctld -D -c 2> "$1/log/slurmctld.err"
  while :; do [ -e "$1/no-controller" ] || slurmctld -D 2>> "$1/log/slurmctld.err" || :; sleep 0.2; done' x "$folder" &
for ((i = 0; i < nodes; i++)); do
  mkdir -p "$folder/tmp.n$i" "$folder/spool/n$i"
  unshare -m -u sh -c 'hostname "$1"; mount --bind "$2/hosts" /etc/hosts; mount --bind "$2/tmp.$1" "$2/tmp"; exec slurmd -N "$1"' \
    x "n$i" "$folder"
done
for ((try = 0; try < 300; try++)); do
  idle=$(timeout 5 sinfo -h -N -t idle -o %N -p all 2> /dev/null | wc -l)
  [ "$idle" = "$nodes" ] && break
  sleep 0.1
done
[ "$idle" = "$nodes" ] || { echo "only $idle of $nodes nodes came up: see $folder/log" >&2; exit 1; }
touch "$folder/ready"
# The first process of a PID namespace inherits what daemons and jobs leave: it reaps them.
while :; do sleep 3600 & wait $!; done
