#!/usr/bin/env python3
"""Draws the icon: packaging/icon.py writes icon.svg and icon.png (512x512) beside it. A tree of files within a border."""
import math
import struct
import zlib
from pathlib import Path

SIZE = 512
GROUND, BORDER, TREE = (18, 53, 47), (94, 204, 160), (240, 248, 244)
# A rounded square: left and top edge, side, radius. A line: from, to, width. A dot: center, radius.
SQUARE, FRAME, FRAME_WIDTH = (0, 512, 112), (72, 368, 72), 28
LINES = [((180, 150), (180, 346)), ((180, 236), (308, 236)), ((180, 346), (308, 346))]
LINE_WIDTH, DOTS = 24, [((180, 150), 36), ((324, 236), 36), ((324, 346), 36)]


def square(point, shape):
    """How far a point is outside of a rounded square."""
    start, side, radius = shape
    beyond = [abs(value - start - side / 2) - side / 2 + radius for value in point]
    return math.hypot(*(max(value, 0) for value in beyond)) + min(max(beyond), 0) - radius


def line(point, start, end):
    (x, y), (left, top), (right, bottom) = point, start, end
    length = (right - left) ** 2 + (bottom - top) ** 2
    along = max(0, min(1, ((x - left) * (right - left) + (y - top) * (bottom - top)) / length))
    return math.hypot(x - left - along * (right - left), y - top - along * (bottom - top)) - LINE_WIDTH / 2


def pixel(point):
    def cover(distance):
        return max(0, min(1, 0.5 - distance))

    color = GROUND
    tree = min([line(point, *ends) for ends in LINES] + [math.dist(point, center) - radius for center, radius in DOTS])
    for distance, paint in ((abs(square(point, FRAME)) - FRAME_WIDTH / 2, BORDER), (tree, TREE)):
        part = cover(distance)
        color = tuple(round(one * (1 - part) + other * part) for one, other in zip(color, paint))
    return bytes((*color, round(255 * cover(square(point, SQUARE)))))


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def main():
    rows = b"".join(b"\0" + b"".join(pixel((x + 0.5, y + 0.5)) for x in range(SIZE)) for y in range(SIZE))
    head = struct.pack(">IIBBBBB", SIZE, SIZE, 8, 6, 0, 0, 0)
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
    (Path(__file__).parent / "icon.png").write_bytes(png)
    ground, border, tree = (f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in (GROUND, BORDER, TREE))
    box = 'x="{0}" y="{0}" width="{1}" height="{1}" rx="{2}"'
    path = " ".join(f"M{left} {top} L{right} {bottom}" for (left, top), (right, bottom) in LINES)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE} {SIZE}">', f'<rect {box.format(*SQUARE)} fill="{ground}"/>',
             f'<rect {box.format(*FRAME)} fill="none" stroke="{border}" stroke-width="{FRAME_WIDTH}"/>',
             f'<path d="{path}" stroke="{tree}" stroke-width="{LINE_WIDTH}" stroke-linecap="round"/>']
    parts += [f'<circle cx="{x}" cy="{y}" r="{radius}" fill="{tree}"/>' for (x, y), radius in DOTS]
    (Path(__file__).parent / "icon.svg").write_text("\n".join([*parts, "</svg>"]) + "\n", encoding="utf-8", newline="\n")


main()
