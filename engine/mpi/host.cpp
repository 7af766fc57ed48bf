// SPDX-License-Identifier: Apache-2.0
#include "mpi/host.hpp"

#include <unistd.h>

#include <array>
#include <climits>
#include <fstream>

namespace ullage::mpi {

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::string kernel_identity() {
  std::string identity;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), identity);
  return identity.empty() ? "host " + host_name() : identity;
}

}  // namespace ullage::mpi
