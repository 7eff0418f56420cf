#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes small Zarr stores and a netCDF file with the same values: zarr_make.py DIR.

Run it with zarr 2 (versions 2 stores by zarr itself) and with zarr 3 (version 3 stores by zarr
itself, both versions by xarray); each run adds the stores it can make. In every store, a variable
X or X_HOW has the values of X in expected.nc. Stores called refused_* cannot be read.
"""

import os
import shutil
import sys

import numcodecs
import numpy as np
import xarray as xr
import zarr

OUT = sys.argv[1]
MAJOR = int(zarr.__version__.split(".")[0])
N_TIME, N_LAT, N_LON = 5, 3, 6
DIMS = ("time", "lat", "lon")


def make_dataset():
    time = np.arange(N_TIME, dtype="i8") * 24
    lat = np.linspace(50, 40, N_LAT)
    lon = np.arange(N_LON, dtype="f4") * 2.5
    n = np.arange(N_TIME * N_LAT * N_LON).reshape(N_TIME, N_LAT, N_LON)
    t = (280 + 10 * np.sin(n / 7.0)).astype("f4")
    t[2:4, 1, 2] = np.nan
    t[4] = np.nan  # a chunk that is not stored, where it is a plane
    p = np.round((n % 97) * 13 - 400).astype("i2")
    p[1, 0:2] = -32767
    data = {
        "t": (DIMS, t, {"units": "K", "long_name": "temperature"}),
        "p": (DIMS, p, {"scale_factor": 0.01, "add_offset": 12.5, "units": "hPa"}),
        "i8": (DIMS, (n % 100 - 50).astype("i1"), {}),
        "u8": (DIMS, (n % 250).astype("u1"), {}),
        "u16": (DIMS, (n * 300).astype("u2"), {}),
        "i32": (DIMS, (n * 100000 - 7).astype("i4"), {}),
        "u32": (DIMS, (n * 20000000 % 4294967291).astype("u4"), {}),
        "f64": (DIMS, np.cos(n / 3.0), {}),
    }
    coords = {
        "time": ("time", time, {"units": "hours since 1999-12-31 12:00", "calendar": "standard"}),
        "lat": ("lat", lat, {"units": "degrees_north"}),
        "lon": ("lon", lon, {"units": "degrees_east"}),
    }
    ds = xr.Dataset(data, coords, {"title": "made for tests", "history": "none"})
    for name in ds.variables:
        ds[name].encoding["_FillValue"] = {"t": np.float32(np.nan), "p": np.int16(-32767)}.get(name)
    return ds


DS = make_dataset()
CHUNKS = {"plane": (1, N_LAT, N_LON), "tile": (3, 2, 5), "whole": (N_TIME, N_LAT, N_LON),
          "over": (4, 4, 7), "rows": (2, N_LAT, N_LON)}
FILL = {"t": float("nan"), "p": -32767}


def store(name):
    path = os.path.join(OUT, name)
    shutil.rmtree(path, ignore_errors=True)
    return path


def variants():
    """(name, chunks, compressor) of what both versions of zarr-python are asked for."""
    return [("t_plane", "plane"), ("t_tile", "tile"), ("t_whole", "whole"), ("t_over", "over"),
            ("p_rows", "rows"), ("p_plane", "plane")]


def add_v2(group, name, chunks, **kwargs):
    base = name.split("_")[0]
    kwargs.setdefault("fill_value", FILL.get(base))
    kwargs.setdefault("compressor", None)
    array = group.create_dataset(name, data=DS[base].values, chunks=chunks,
                                 write_empty_chunks=False, **kwargs)
    array.attrs["_ARRAY_DIMENSIONS"] = list(DS[base].dims)
    array.attrs.update(DS[base].attrs)


def make_v2():
    import numcodecs as nc

    group = zarr.open_group(store("v2_codecs.zarr"), mode="w")
    group.attrs["title"] = "codecs"
    group.attrs["strange"] = {"a": [1, None]}
    group.attrs["limits"] = [0, float("nan"), float("inf")]
    for name in DS.coords:
        add_v2(group, name, DS[name].shape, compressor=nc.Zlib(1))
    codecs = {"zlib": nc.Zlib(6), "gzip": nc.GZip(6), "zstd": nc.Zstd(3), "lz4": nc.LZ4()}
    for cname in ("lz4", "blosclz", "zstd"):
        codecs["blosc" + cname] = nc.Blosc(cname=cname, shuffle=nc.Blosc.SHUFFLE)
    codecs["bitshuffle"] = nc.Blosc(cname="zstd", shuffle=nc.Blosc.BITSHUFFLE)
    for name, codec in codecs.items():
        add_v2(group, "t_" + name, CHUNKS["over"], compressor=codec)
    add_v2(group, "t_shuffle", CHUNKS["tile"], filters=[nc.Shuffle(4)])
    add_v2(group, "p_shufflezlib", CHUNKS["rows"], filters=[nc.Shuffle(2)], compressor=nc.Zlib(6))
    zarr.consolidate_metadata(group.store)

    group = zarr.open_group(store("v2_chunks.zarr"), mode="w")
    for name in DS.coords:
        add_v2(group, name, (2,))
    for name, chunks in variants():
        add_v2(group, name, CHUNKS[chunks], compressor=nc.Blosc())
    add_v2(group, "t_slash", CHUNKS["rows"], dimension_separator="/")
    add_v2(group, "t_big", CHUNKS["tile"], dtype=">f4")
    add_v2(group, "p_big", CHUNKS["rows"], dtype=">i2", compressor=nc.LZ4())
    for name in ("i8", "u8", "u16", "i32", "u32", "f64"):
        add_v2(group, name, CHUNKS["rows"])
    group.create_group("below").create_dataset("hidden", data=np.arange(3))
    group.create_dataset("names", data=np.array(["a", "bc"])).attrs["_ARRAY_DIMENSIONS"] = ["n"]

    group = zarr.open_group(store("refused_v2.zarr"), mode="w")
    for name in DS.coords:
        add_v2(group, name, DS[name].shape)
    add_v2(group, "t_fortran", CHUNKS["whole"], order="F")
    add_v2(group, "t_lzma", CHUNKS["whole"], compressor=nc.LZMA())
    add_v2(group, "p_delta", CHUNKS["whole"], filters=[nc.Delta(dtype="i2")])
    add_v2(group, "t_half", CHUNKS["whole"], dtype="f2")


def add_v3(group, name, chunks, **kwargs):
    base = name.split("_")[0]
    kwargs.setdefault("fill_value", FILL.get(base, 0))
    kwargs.setdefault("compressors", None)
    array = group.create_array(name, shape=DS[base].shape, chunks=chunks, dtype=DS[base].dtype,
                               dimension_names=list(DS[base].dims),
                               config={"write_empty_chunks": False}, **kwargs)
    array[...] = DS[base].values
    array.attrs.update(DS[base].attrs)
    if base == "p":
        array.attrs["_FillValue"] = -32767


def make_v3():
    from zarr import codecs as zc

    group = zarr.create_group(store("v3_codecs.zarr"), zarr_format=3)
    for name in DS.coords:
        add_v3(group, name, DS[name].shape, compressors=zc.GzipCodec())
    codecs = {"gzip": zc.GzipCodec(), "zstd": zc.ZstdCodec(checksum=True),
              "blosc": zc.BloscCodec(cname="zstd", shuffle="bitshuffle"),
              "blosclz4": zc.BloscCodec(cname="lz4", shuffle="shuffle"),
              "crc": zc.Crc32cCodec(), "gzipcrc": (zc.GzipCodec(), zc.Crc32cCodec())}
    for name, codec in codecs.items():
        add_v3(group, "t_" + name, CHUNKS["over"], compressors=codec)
    zarr.consolidate_metadata(group.store)

    group = zarr.create_group(store("v3_chunks.zarr"), zarr_format=3)
    for name in DS.coords:
        add_v3(group, name, (4,))
    for name, chunks in variants():
        add_v3(group, name, CHUNKS[chunks], compressors=zc.ZstdCodec())
    add_v3(group, "t_dot", CHUNKS["tile"], chunk_key_encoding={"name": "default", "separator": "."})
    add_v3(group, "t_keys2", CHUNKS["tile"], chunk_key_encoding={"name": "v2", "separator": "."})
    add_v3(group, "t_big", CHUNKS["rows"], serializer=zc.BytesCodec(endian="big"),
           filters=zc.TransposeCodec(order=(0, 1, 2)))
    add_v3(group, "p_big", CHUNKS["tile"], serializer=zc.BytesCodec(endian="big"),
           compressors=zc.BloscCodec())
    for name in ("i8", "u16", "f64"):
        add_v3(group, name, CHUNKS["rows"])
    group.create_group("below").create_array("hidden", data=np.arange(3))

    group = zarr.create_group(store("refused_v3.zarr"), zarr_format=3)
    for name in DS.coords:
        add_v3(group, name, DS[name].shape)
    add_v3(group, "t_transposed", CHUNKS["whole"], filters=zc.TransposeCodec(order=(2, 1, 0)))
    add_v3(group, "t_sharded", CHUNKS["plane"], shards=CHUNKS["whole"])

    for version in (2, 3):
        ds = DS[["t", "p"]].assign_coords(area=(("lat", "lon"), np.outer(np.ones(N_LAT), np.arange(N_LON))))
        ds["t"].encoding["chunks"] = CHUNKS["rows"]
        ds["p"].encoding["chunks"] = CHUNKS["tile"]
        ds.to_zarr(store(f"xarray_v{version}.zarr"), zarr_format=version, mode="w")


os.makedirs(OUT, exist_ok=True)
DS.to_netcdf(os.path.join(OUT, "expected.nc"), format="NETCDF3_64BIT_DATA", engine="netcdf4")
make_v2() if MAJOR == 2 else make_v3()
print(f"zarr {zarr.__version__}, xarray {xr.__version__}, numcodecs {numcodecs.__version__}, "
      f"numpy {np.__version__}")
