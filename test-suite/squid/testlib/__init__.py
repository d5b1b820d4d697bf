# SPDX-License-Identifier: GPL-2.0-or-later
"""What the end-to-end tests share beside tools/squidkit: stores, devices, loads, and the thing that each test is given."""
