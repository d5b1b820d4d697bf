# SPDX-License-Identifier: GPL-2.0-or-later
"""What clusterfs top and clusterfs report show, and where they get it. Needs nothing but Python's own library."""
