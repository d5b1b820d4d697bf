#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes ./configure. Afterwards: ./configure && make && make check

set -e
cd "$(dirname "$0")"
tools/build/source-lists
autoreconf --install --force --warnings=all
