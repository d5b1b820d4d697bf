# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers as people read them. None, which means not known, is a dash."""


def count(number):
    if number is None:
        return "-"
    for factor, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= factor * (10 if letter == " k" else 1):
            return f"{number / factor:.1f}{letter}"
    return f"{number:.0f}" if number >= 100 or number == int(number) else f"{number:.1f}"


def size(number):
    """Of bytes: 1 KB is 1,024."""
    if number is None:
        return "-"
    for power, unit in ((4, "TB"), (3, "GB"), (2, "MB"), (1, "KB")):
        if number >= 1024 ** power:
            value = number / 1024 ** power
            return f"{value:.1f} {unit}" if value < 100 else f"{value:.0f} {unit}"
    return f"{number:.0f} B"


def per_second(text):
    """Of a figure of the two above."""
    return text if text == "-" else text + "/s"


def span(seconds):
    """Of a time, with as much as matters."""
    if seconds is None:
        return "-"
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} us"
    if seconds < 1:
        return f"{seconds * 1e3:.1f} ms" if seconds < 0.1 else f"{seconds * 1e3:.0f} ms"
    for factor, unit, part, small in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if seconds >= factor:
            return f"{int(seconds // factor)} {unit} {int(seconds % factor // part)} {small}"
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"


def age(seconds):
    """Of a time that is known in whole seconds."""
    return f"{seconds:.0f} s" if seconds < 60 else span(seconds)


def bound(seconds):
    """Of a bucket, which ends just below a power of two microseconds."""
    micros = round(seconds * 1e6) + 1
    return f"{micros} us" if micros < 1000 else f"{micros // 1000} ms" if micros < 1000000 else f"{micros // 1000000} s"


def share(ratio):
    """Of a ratio from 0 to 1."""
    return "-" if ratio is None else f"{100 * ratio:.0f} %"


def part(some, whole):
    """The same, of a part and the whole."""
    return "-" if not whole else share((some or 0) / whole)


def ratio(number):
    return "-" if number is None else f"{number:.2f}"
