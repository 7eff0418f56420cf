#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Serves the current folder on a free local port, which it prints: files with byte ranges, and at
/dap a DAP2 data set t(time 4, lat 2, lon 3) with the values 0, 1, 2 ... 23."""

import http.server
import os
import re
import struct

SHAPES = {"time": (4,), "lat": (2,), "lon": (3,), "t": (4, 2, 3)}
TYPES = {"time": "Float64", "lat": "Float64", "lon": "Float64", "t": "Float32"}
DAS = """Attributes {
  time { String units "days since 2000-01-01"; }
  lat { String units "degrees_north"; }
  lon { String units "degrees_east"; }
  t { String units "K"; }
}
"""


def select(constraint):
    """The (name, bounds of each dimension) that a constraint asks for."""
    names = constraint.split(",") if constraint else list(SHAPES)
    for name in names:
        parts = re.findall(r"\[([0-9:]+)\]", name)
        name = name.split("[")[0].split(".")[-1]
        bounds = [(0, n - 1) for n in SHAPES[name]]
        for i, part in enumerate(parts):
            numbers = [int(x) for x in part.split(":")]
            bounds[i] = (numbers[0], numbers[-1])
        yield name, bounds


def dds(constraint):
    lines = []
    for name, bounds in select(constraint):
        dims = list(SHAPES) if name != "t" else ["time", "lat", "lon"]
        dims = dims if name == "t" else [name]
        text = "".join(f"[{d} = {b - a + 1}]" for d, (a, b) in zip(dims, bounds))
        lines.append(f"    {TYPES[name]} {name}{text};\n")
    return "Dataset {\n" + "".join(lines) + "} dap;\n"


def xdr(constraint):
    out = b""
    for name, bounds in select(constraint):
        indices = [0]
        for (a, b), n in zip(bounds, SHAPES[name]):
            indices = [i * n + k for i in indices for k in range(a, b + 1)]
        code = "d" if TYPES[name] == "Float64" else "f"
        out += struct.pack(">ii", len(indices), len(indices))
        out += struct.pack(f">{len(indices)}{code}", *indices)
    return out


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def reply(self, status, body, headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self):
        path, _, constraint = self.path.partition("?")
        constraint = constraint.replace("%5B", "[").replace("%5D", "]")
        if path == "/dap.dds":
            return self.reply(200, dds(constraint).encode())
        if path == "/dap.das":
            return self.reply(200, DAS.encode())
        if path == "/dap.dods":
            return self.reply(200, dds(constraint).encode() + b"Data:\n" + xdr(constraint))
        name = os.path.basename(path)
        if not os.path.isfile(name):
            return self.reply(404, b"not found\n")
        with open(name, "rb") as file:
            data = file.read()
        asked = re.match(r"bytes=(\d+)-(\d*)$", self.headers.get("Range", ""))
        if asked is None:
            size = [("Accept-Ranges", "bytes")]
            return self.reply(200, data, size)
        first, last = int(asked[1]), int(asked[2] or len(data) - 1)
        where = f"bytes {first}-{min(last, len(data) - 1)}/{len(data)}"
        return self.reply(206, data[first:last + 1],
                          [("Content-Range", where), ("Accept-Ranges", "bytes")])

    do_HEAD = do_GET


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
