// SPDX-License-Identifier: Apache-2.0
#include "work/workload.hpp"

namespace ullage {

template class Registry<WorkloadEntry>;
template struct Registered<WorkloadEntry>;

}  // namespace ullage
