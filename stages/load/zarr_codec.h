/* SPDX-License-Identifier: Apache-2.0 */
/* Turning the file of a Zarr chunk back into values. */
#ifndef EK_STAGES_LOAD_ZARR_CODEC_H
#define EK_STAGES_LOAD_ZARR_CODEC_H

#include "stages/load/zarr_meta.h"

struct libdeflate_decompressor;

EK_BEGIN_DECLS

/* ek__zarr_encoded_max returns how long a chunk's file may be: what its values can need at worst.
 * ek__zarr_work_bytes returns how much memory ek__zarr_decode needs besides input and output. */
size_t ek__zarr_encoded_max(const ek__zarr_array *a);
size_t ek__zarr_work_bytes(const ek__zarr_array *a);

/* ek__zarr_inflates says whether the codecs need a libdeflate decompressor. */
bool ek__zarr_inflates(const ek__zarr_array *a);

/* ek__zarr_codec_text lists the codecs for people: "shuffle, blosc", "no codecs". */
void ek__zarr_codec_text(const ek__zarr_array *a, char *out, size_t size);

/* ek__zarr_decode decodes the `n` bytes of a chunk's file into exactly a->chunk_bytes at `out`, in
 * the byte order stored. Returns NULL, or a phrase that says what is wrong with the chunk. Takes no
 * memory but what the compression libraries take inside. Any thread. */
const char *ek__zarr_decode(const ek__zarr_array *a, const uint8_t *in, size_t n, uint8_t *work,
                            uint8_t *out, struct libdeflate_decompressor *inflate);

/* ek__zarr_crc32c returns the checksum of Castagnoli's polynomial. */
uint32_t ek__zarr_crc32c(const uint8_t *bytes, size_t n);

EK_END_DECLS

#endif /* EK_STAGES_LOAD_ZARR_CODEC_H */
