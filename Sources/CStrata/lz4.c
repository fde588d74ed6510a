// Joins LZ4 blocks that were compressed separately, after "LZ4 Block Format Description" (lz4 repository, doc/
// lz4_Block_format.md). A block is a series of sequences: a token with the lengths of literals and match, the literals,
// the match. Its last sequence has literals only. So two blocks are joined by giving the literals at the end of the
// first to the first sequence of the second; every match refers to bytes of its own part.
#include "CStrata.h"
#include <string.h>

/// Reads the number of literals of the sequence at `*next`, and leaves `*next` at the first literal. Returns SIZE_MAX if
/// it does not end before `end`.
static size_t literals_at(const uint8_t **next, const uint8_t *end) {
  size_t count = *(*next)++ >> 4;
  if (count < 15) return count;
  uint8_t more;
  do {
    if (*next == end) return SIZE_MAX;
    more = *(*next)++;
    count += more;
  } while (more == 255);
  return count;
}

/// Finds the last sequence from the first one on.
static size_t walked(const uint8_t *block, size_t length) {
  const uint8_t *next = block, *end = block + length;
  while (next < end) {
    const uint8_t *sequence = next;
    size_t count = literals_at(&next, end);
    if (count > (size_t)(end - next)) return SIZE_MAX;
    next += count;
    if (next == end) return (size_t)(sequence - block);
    if (end - next < 2) return SIZE_MAX;
    next += 2;
    if ((*sequence & 15) == 15)
      do
        if (next == end) return SIZE_MAX;
      while (*next++ == 255);
  }
  return SIZE_MAX;
}

size_t strata_lz4_last_sequence(const uint8_t *block, size_t length, int ends_plainly) {
  if (!ends_plainly) return walked(block, length);
  // Every place where a sequence of literals may begin that reach to the end. The right one is among them; if it is
  // the only one, the sequences before it need not be read, which would take a quarter of the time of the compression.
  const uint8_t *end = block + length;
  size_t found = SIZE_MAX;
  unsigned candidates = 0;
  for (size_t run = 1; run < 15 && run < length; run++)
    if (end[-1 - (ptrdiff_t)run] == run << 4) {
      found = length - 1 - run;
      candidates++;
    }
  const uint8_t *next = block;
  while (candidates < 2 && (next = memchr(next, 0xF0, (size_t)(end - next)))) {
    const uint8_t *literals = next;
    if (literals_at(&literals, end) == (size_t)(end - literals)) {
      found = (size_t)(next - block);
      candidates++;
    }
    next++;
  }
  return candidates == 1 ? found : walked(block, length);
}

size_t strata_lz4_join(uint8_t *block, size_t length, size_t last, const uint8_t *part, size_t part_length) {
  const uint8_t *literals = block + last, *others = part, *part_end = part + part_length;
  size_t count = literals_at(&literals, block + length);
  size_t other_count = literals_at(&others, part_end);
  size_t total = count + other_count;
  size_t head = 1 + (total < 15 ? 0 : (total - 15) / 255 + 1);
  memmove(block + last + head, literals, count);
  uint8_t *next = block + last;
  *next++ = (uint8_t)((total < 15 ? total : 15) << 4 | (*part & 15));
  if (total >= 15) {
    size_t rest = total - 15;
    for (; rest >= 255; rest -= 255) *next++ = 255;
    *next++ = (uint8_t)rest;
  }
  memcpy(next + count, others, (size_t)(part_end - others));
  return last + head + count + (size_t)(part_end - others);
}
