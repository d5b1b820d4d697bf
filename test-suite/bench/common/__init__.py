# SPDX-License-Identifier: GPL-2.0-or-later
"""What the test scripts of this folder share."""
