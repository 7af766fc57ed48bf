// SPDX-License-Identifier: Apache-2.0
#include "storage/metadata.hpp"

namespace ullage {

std::string word(MetadataOperation operation) {
  switch (operation) {
    case MetadataOperation::mkdir:
      return "mkdir";
    case MetadataOperation::create:
      return "create";
    case MetadataOperation::stat:
      return "stat";
    case MetadataOperation::read:
      return "read";
    case MetadataOperation::rename:
      return "rename";
    case MetadataOperation::readdir:
      return "readdir";
    case MetadataOperation::chmod:
      return "chmod";
    case MetadataOperation::truncate:
      return "truncate";
    case MetadataOperation::open:
      return "open";
    case MetadataOperation::unlink:
      return "unlink";
    case MetadataOperation::rmdir:
      break;
  }
  return "rmdir";
}

std::vector<std::string> parts_of(MetadataOperation operation) {
  switch (operation) {
    case MetadataOperation::create:
      return {"open", "write", "close"};
    case MetadataOperation::read:
      return {"open", "read", "close"};
    case MetadataOperation::truncate:
      return {"open", "truncate", "close"};
    case MetadataOperation::open:
      return {"open", "close"};
    default:
      return {};
  }
}

}  // namespace ullage
