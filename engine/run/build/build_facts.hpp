// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace ullage {

/// Says what this binary was made of and by.
struct BuildFacts {
  std::string_view version;
  std::string_view git;
  std::string_view compiler;
  std::string_view flags;
  std::string_view mpiexec;
};

/// This stands in a file of its own, since that is compiled anew after every commit.
[[nodiscard]] BuildFacts build_facts();

}  // namespace ullage
