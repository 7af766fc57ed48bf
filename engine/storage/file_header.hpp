// SPDX-License-Identifier: Apache-2.0
// The header of a file of a format of ours: written when the file is opened, and compared when it is read. Not counted
// by any meter.
#pragma once

#include <string>

#include "storage/backend.hpp"

namespace ullage {

struct FileHeader {
  std::string text;         // of the header's whole length
  std::string name;         // of the file, for errors
  bool collective = false;  // operations of the file are
  bool holds_data = true;   // what is read can be what was written
  bool writes = true;       // this rank writes it
};

/// Writes it, at the beginning of the file. In a collective file every rank takes part, with nothing where it does not
/// write.
[[nodiscard]] Status write_header(File& file, FileHeader header);
/// An error with the offset of the first difference where the file has another one.
[[nodiscard]] Status read_header(File& file, const FileHeader& header);

/// Opens a file through the backend with its header: written, or where the request says `read` compared.
[[nodiscard]] Result<std::unique_ptr<File>> open_with_header(Backend& backend, const OpenRequest& request,
                                                             const FileHeader& header);

}  // namespace ullage
