// XXH64, after the specification "XXHash fast digest algorithm" 0.1.1 (xxHash repository, doc/
// xxhash_spec.md, section "XXH64 Algorithm Description"). The input may be at any address; every number is
// read as little-endian.
#include "CStrata.h"
#include <string.h>

static const uint64_t prime1 = 0x9E3779B185EBCA87ull;
static const uint64_t prime2 = 0xC2B2AE3D27D4EB4Full;
static const uint64_t prime3 = 0x165667B19E3779F9ull;
static const uint64_t prime4 = 0x85EBCA77C2B2AE63ull;
static const uint64_t prime5 = 0x27D4EB2F165667C5ull;

static inline uint64_t word_at(const uint8_t *bytes) {
  uint64_t value;
  memcpy(&value, bytes, sizeof value);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  value = __builtin_bswap64(value);
#endif
  return value;
}

static inline uint32_t half_word_at(const uint8_t *bytes) {
  uint32_t value;
  memcpy(&value, bytes, sizeof value);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  value = __builtin_bswap32(value);
#endif
  return value;
}

static inline uint64_t rotated(uint64_t value, int bits) {
  return (value << bits) | (value >> (64 - bits));
}

/// Adds one lane of eight bytes to an accumulator.
static inline uint64_t rounded(uint64_t accumulator, uint64_t lane) {
  return rotated(accumulator + lane * prime2, 31) * prime1;
}

static inline uint64_t merged(uint64_t hash, uint64_t accumulator) {
  return (hash ^ rounded(0, accumulator)) * prime1 + prime4;
}

/// Adds stripes of 32 bytes to four accumulators. Leaves `next` at the first byte after the last whole stripe.
static inline uint64_t stripes(const uint8_t **next, size_t *length, uint64_t seed) {
  uint64_t a = seed + prime1 + prime2, b = seed + prime2, c = seed, d = seed - prime1;
  const uint8_t *bytes = *next;
  for (; *length >= 32; bytes += 32, *length -= 32) {
    a = rounded(a, word_at(bytes));
    b = rounded(b, word_at(bytes + 8));
    c = rounded(c, word_at(bytes + 16));
    d = rounded(d, word_at(bytes + 24));
  }
  *next = bytes;
  uint64_t hash = rotated(a, 1) + rotated(b, 7) + rotated(c, 12) + rotated(d, 18);
  hash = merged(hash, a);
  hash = merged(hash, b);
  hash = merged(hash, c);
  return merged(hash, d);
}

uint64_t strata_xxh64(const void *bytes, size_t length, uint64_t seed) {
  const uint8_t *next = bytes;
  const uint64_t total = length;
  uint64_t hash = length >= 32 ? stripes(&next, &length, seed) : seed + prime5;
  hash += total;
  for (; length >= 8; next += 8, length -= 8)
    hash = rotated(hash ^ rounded(0, word_at(next)), 27) * prime1 + prime4;
  if (length >= 4) {
    hash = rotated(hash ^ (half_word_at(next) * prime1), 23) * prime2 + prime3;
    next += 4, length -= 4;
  }
  for (; length > 0; next++, length--) hash = rotated(hash ^ (*next * prime5), 11) * prime1;
  hash = (hash ^ (hash >> 33)) * prime2;
  hash = (hash ^ (hash >> 29)) * prime3;
  return hash ^ (hash >> 32);
}
