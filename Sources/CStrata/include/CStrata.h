// The few things that Strata needs from C: checksums in hardware, and calls that Glibc hides from Swift.
#ifndef CSTRATA_H
#define CSTRATA_H
#include <stddef.h>
#include <stdint.h>
/// CRC32C (Castagnoli) of `length` bytes, continuing from `crc` (0 to begin). Hardware where there is any.
uint32_t strata_crc32c(uint32_t crc, const void *bytes, size_t length);
/// The same in software (slicing by 8), for machines without the instruction and for tests.
uint32_t strata_crc32c_software(uint32_t crc, const void *bytes, size_t length);
/// XXH64 of `length` bytes.
uint64_t strata_xxh64(const void *bytes, size_t length, uint64_t seed);
#endif
