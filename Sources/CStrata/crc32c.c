// CRC32C: the reflected Castagnoli polynomial 0x1EDC6F41 with all bits inverted before and after, as in
// RFC 3720, section 12.1 and appendix B.4.
//
// The software version uses slicing: eight tables process eight bytes at a time (M. E. Kounavis and F. L. Berry, "A
// Systematic Approach to Building High Performance Software-based CRC Generators", 2005).
//
// In hardware, the instruction has a latency of three cycles, and one can begin in every cycle. So the checksums of
// three lanes of the input are computed in parallel and then combined: the checksum of A followed by B is the checksum
// of A, advanced by |B| zero bytes, xor the checksum of B. Advancing by a fixed length is a multiplication by
// x^(8·length) modulo the polynomial. It is linear in the checksum, so it needs four tables, one for each byte of it.
#include "CStrata.h"
#include <string.h>

#if defined(__x86_64__)
#define STRATA_HARDWARE __attribute__((target("sse4.2")))
#define STRATA_HARDWARE_NAME "sse4.2"
#elif defined(__aarch64__)
#if defined(__ARM_FEATURE_CRC32)
#define STRATA_HARDWARE
#else
#define STRATA_HARDWARE __attribute__((target("crc")))
#endif
#define STRATA_HARDWARE_NAME "armv8"
#if defined(__linux__)
#include <sys/auxv.h>
#elif defined(__APPLE__)
#include <sys/sysctl.h>
#endif
#endif

/// The polynomial with its bits in the order of the register: the highest power in bit 0.
static const uint32_t polynomial = 0x82F63B78u;

/// Bytes per lane: three long lanes fill a 4 KiB page except for 16 bytes; three short ones are for small records.
enum { LANE_LONG = 1360, LANE_SHORT = 256 };

/// slices[k][b]: the checksum of byte b followed by k zero bytes.
static uint32_t slices[8][256];
/// moves_…[k][b]: byte b at position k of a checksum, advanced by one lane.
static uint32_t moves_long[4][256];
static uint32_t moves_short[4][256];
static int has_hardware;

/// The product of two polynomials modulo the CRC polynomial. The top bit is the coefficient of x^0.
static uint32_t multiplied(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (uint32_t bit = 1u << 31; bit != 0; bit >>= 1) {
    if (a & bit) product ^= b;
    b = (b >> 1) ^ ((b & 1) ? polynomial : 0);
  }
  return product;
}

/// x^(8·bytes) modulo the polynomial, by repeated squaring.
static uint32_t power_for_zero_bytes(size_t bytes) {
  uint32_t result = 1u << 31, square = 1u << 23;
  for (; bytes != 0; bytes >>= 1) {
    if (bytes & 1) result = multiplied(result, square);
    square = multiplied(square, square);
  }
  return result;
}

static void fill_moves(uint32_t moves[4][256], size_t lane) {
  const uint32_t power = power_for_zero_bytes(lane);
  for (int place = 0; place < 4; place++)
    for (uint32_t byte = 0; byte < 256; byte++)
      moves[place][byte] = multiplied(power, byte << (8 * place));
}

static int detect_hardware(void) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("sse4.2") != 0;
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
  return 1;
#elif defined(__aarch64__) && defined(__linux__)
  return (getauxval(AT_HWCAP) & (1ul << 7)) != 0;  // HWCAP_CRC32
#elif defined(__aarch64__) && defined(__APPLE__)
  int present = 0;
  size_t size = sizeof present;
  return sysctlbyname("hw.optional.armv8_crc32", &present, &size, NULL, 0) == 0 && present != 0;
#else
  return 0;
#endif
}

/// Runs once, when the program or library is loaded, before any other thread can compute a checksum.
__attribute__((constructor)) static void prepare_tables(void) {
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ ((crc & 1) ? polynomial : 0);
    slices[0][byte] = crc;
  }
  for (int slice = 1; slice < 8; slice++)
    for (uint32_t byte = 0; byte < 256; byte++) {
      const uint32_t before = slices[slice - 1][byte];
      slices[slice][byte] = (before >> 8) ^ slices[0][before & 0xFF];
    }
  fill_moves(moves_long, LANE_LONG);
  fill_moves(moves_short, LANE_SHORT);
  has_hardware = detect_hardware();
}

static inline uint64_t little_endian_64(const uint8_t *bytes) {
  uint64_t value;
  memcpy(&value, bytes, sizeof value);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  value = __builtin_bswap64(value);
#endif
  return value;
}

uint32_t strata_crc32c_software(uint32_t crc, const void *bytes, size_t length) {
  const uint8_t *next = bytes;
  crc = ~crc;
  for (; length >= 8; next += 8, length -= 8) {
    const uint64_t word = little_endian_64(next) ^ crc;
    crc = slices[7][word & 0xFF] ^ slices[6][(word >> 8) & 0xFF] ^ slices[5][(word >> 16) & 0xFF] ^
          slices[4][(word >> 24) & 0xFF] ^ slices[3][(word >> 32) & 0xFF] ^
          slices[2][(word >> 40) & 0xFF] ^ slices[1][(word >> 48) & 0xFF] ^ slices[0][word >> 56];
  }
  for (; length > 0; next++, length--) crc = (crc >> 8) ^ slices[0][(crc ^ *next) & 0xFF];
  return ~crc;
}

#if defined(STRATA_HARDWARE)

STRATA_HARDWARE static inline uint64_t add_word(uint64_t crc, const uint8_t *bytes) {
#if defined(__x86_64__)
  return __builtin_ia32_crc32di(crc, little_endian_64(bytes));
#else
  return __builtin_arm_crc32cd((uint32_t)crc, little_endian_64(bytes));
#endif
}

STRATA_HARDWARE static inline uint64_t add_byte(uint64_t crc, uint8_t byte) {
#if defined(__x86_64__)
  return __builtin_ia32_crc32qi((uint32_t)crc, byte);
#else
  return __builtin_arm_crc32cb((uint32_t)crc, byte);
#endif
}

static inline uint64_t moved(uint32_t moves[4][256], uint64_t crc) {
  return moves[0][crc & 0xFF] ^ moves[1][(crc >> 8) & 0xFF] ^ moves[2][(crc >> 16) & 0xFF] ^
         moves[3][(crc >> 24) & 0xFF];
}

/// Adds three lanes of `lane` bytes each, beginning at `next`, to a checksum.
STRATA_HARDWARE static inline uint64_t add_lanes(
  uint64_t crc, const uint8_t *next, size_t lane, uint32_t moves[4][256]
) {
  uint64_t second = 0, third = 0;
  for (size_t at = 0; at < lane; at += 8) {
    crc = add_word(crc, next + at);
    second = add_word(second, next + lane + at);
    third = add_word(third, next + 2 * lane + at);
  }
  return moved(moves, moved(moves, crc) ^ second) ^ third;
}

STRATA_HARDWARE static uint32_t crc32c_hardware(uint32_t start, const uint8_t *next, size_t length) {
  uint64_t crc = (uint32_t)~start;
  for (; length >= 3 * LANE_LONG; next += 3 * LANE_LONG, length -= 3 * LANE_LONG)
    crc = add_lanes(crc, next, LANE_LONG, moves_long);
  for (; length >= 3 * LANE_SHORT; next += 3 * LANE_SHORT, length -= 3 * LANE_SHORT)
    crc = add_lanes(crc, next, LANE_SHORT, moves_short);
  for (; length >= 8; next += 8, length -= 8) crc = add_word(crc, next);
  for (; length > 0; next++, length--) crc = add_byte(crc, *next);
  return ~(uint32_t)crc;
}

#endif

uint32_t strata_crc32c(uint32_t crc, const void *bytes, size_t length) {
#if defined(STRATA_HARDWARE)
  if (has_hardware) return crc32c_hardware(crc, bytes, length);
#endif
  return strata_crc32c_software(crc, bytes, length);
}

const char *strata_crc32c_implementation(void) {
#if defined(STRATA_HARDWARE)
  if (has_hardware) return STRATA_HARDWARE_NAME;
#endif
  return "software";
}
