#!/bin/bash
# Ullage: one job for all launches of a run, which go on in it by the commands of its own instance.
# Written by `ullage run pairs --launcher script`.
#flux: --job-name=ullage-a_b
#flux: --nodes=2
#flux: --exclusive
#flux: --nslots=32
#flux: --bank=phys
#flux: --queue=main
#flux: --time-limit=1800s
#flux: --more
#flux: --output=/scratch/r1.out
module load openmpi/4.1.4
cd '/home/it'"'"'s me' || exit 3
# Where the batch system forgets jobs that have ended, this file tells how this one did. Ullage itself writes it where the
# run goes on in another job as planned: this one is a success for the batch system then.
export ULLAGE_JOB_ENDED=/scratch/r1.exit
rm -f /scratch/r1.exit
# Signals come to all processes of the job. The run ends with whole records, and this script waits for it.
trap : HUP INT TERM USR1
/usr/bin/python3 -m ullage run pairs &
run=$!
# A minute before the time limit the run is told to finish its repetition and to write its records.
(while [ $SECONDS -lt 1740 ]; do sleep 5; kill -0 "$run" || exit; done; kill -TERM "$run") > /dev/null 2>&1 &
while kill -0 "$run" 2> /dev/null; do wait "$run"; done
wait "$run"
code=$?
[ -e /scratch/r1.exit ] || echo "$code" > /scratch/r1.exit
exit "$code"
