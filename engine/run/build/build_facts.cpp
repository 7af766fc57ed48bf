// SPDX-License-Identifier: Apache-2.0
#include "run/build/build_facts.hpp"

#include <build_info.hpp>

namespace ullage {

BuildFacts build_facts() { return {build::version, build::git, build::compiler, build::flags, build::mpiexec}; }

}  // namespace ullage
