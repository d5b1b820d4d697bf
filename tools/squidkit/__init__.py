# SPDX-License-Identifier: GPL-2.0-or-later
"""What the end-to-end tests, the demo and other drivers share: an origin server whose bodies
can be recomputed, a client that checks each byte, and a Squid that is started, watched and removed."""
