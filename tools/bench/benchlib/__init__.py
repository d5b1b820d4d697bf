# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of ./bench: see bench.py beside this folder."""
