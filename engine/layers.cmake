# SPDX-License-Identifier: Apache-2.0
# The folders of the engine, from the ground up. One sees those it names and no other, and names only what stands above
# its line: what includes upwards, or in a circle, does not compile. cmake/Layers.cmake has the mechanism.
ullage_layer(base)
ullage_layer(abi USES base)
ullage_layer(mpi USES base LINKS ullage::mpi) # alone compiled with the path to <mpi.h>
ullage_layer(work USES base mpi)

ullage_layer(storage USES base mpi)
ullage_layer(probes USES base mpi storage)

ullage_layer(compute USES base mpi work)
ullage_layer(compute/kernels ALONE USES base compute)

ullage_layer(noise USES base mpi work)

ullage_layer(memory USES base mpi work)
ullage_layer(storage/backends USES base mpi storage memory)
ullage_layer(storage/workloads USES base mpi work storage memory)
ullage_layer(storage/workloads/* USES base mpi work noise storage memory storage/workloads)
ullage_layer(memory/chase USES base mpi work memory)
ullage_layer(memory/stream USES base mpi work memory)
ullage_layer(memory/loaded_latency USES base mpi work memory memory/chase memory/stream)
ullage_layer(memory/* USES base mpi work memory)

ullage_layer(accelerator USES base mpi work)
ullage_layer(accelerator/* USES base mpi work memory memory/stream accelerator)

ullage_layer(linear USES base work memory)
ullage_layer(linear/* USES base mpi work memory linear)

ullage_layer(message USES base mpi work memory)
ullage_layer(message/patterns USES base mpi)
ullage_layer(message/sockets USES base mpi work)
ullage_layer(message/* USES base mpi work memory noise message message/patterns)

ullage_layer(run/build LINKS ullage::build_info)
ullage_layer(run USES base abi mpi work storage probes memory run/build)
ullage_layer(run/stop_rules USES base run)
