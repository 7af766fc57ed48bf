#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes the rows of a result where node_exporter's textfile collector reads them: ullage-textfile.sh RESULT DIRECTORY
# It never shows half a file. From cron: ullage run node --quick --result "$R" && ullage-textfile.sh "$R" /var/lib/node_exporter
set -eu
place="$2/ullage.prom"
scratch="$2/.ullage.$$"
trap 'rm -f "$scratch"' EXIT
ullage report "$1" --format openmetrics >"$scratch"
chmod 644 "$scratch"
mv "$scratch" "$place"
