#include "parts.h"

enum { LINE = 64, PLANES = 8 };

/* Calls f(.., planes) with a constant, so that each number of planes has a loop of its own. */
#define BY_PLANES(f, ...)                                                                                                                  \
    switch (planes) {                                                                                                                      \
    case 0: break;                                                                                                                         \
    case 1: f(__VA_ARGS__, 1); break;                                                                                                      \
    case 2: f(__VA_ARGS__, 2); break;                                                                                                      \
    case 3: f(__VA_ARGS__, 3); break;                                                                                                      \
    case 4: f(__VA_ARGS__, 4); break;                                                                                                      \
    case 5: f(__VA_ARGS__, 5); break;                                                                                                      \
    case 6: f(__VA_ARGS__, 6); break;                                                                                                      \
    case 7: f(__VA_ARGS__, 7); break;                                                                                                      \
    default: f(__VA_ARGS__, PLANES);                                                                                                       \
    }

/* Byte lanes: ORs the one-hot bits of the codes that the moves reach into the planes of blocks. A code is 63 - value; its low three bits
   give the bit within the plane, the others the plane. */
INLINE void decode_loops(const uint8_t *codes, const size_t *moves, size_t count, uint8_t *hits, size_t planes)
{
    uint8_t sum[PLANES][LINE];
    memcpy(sum, hits, planes * LINE);
    for (size_t m = 0; m < count; m++) {
        const uint8_t *from = codes - moves[m];
        uint8_t bit[LINE];
        for (size_t i = 0; i < LINE; i++) {
            uint8_t high = from[i] & 4 ? 0x08 : 0x80;
            uint8_t even = from[i] & 2 ? high >> 2 : high;
            bit[i] = from[i] & 1 ? even >> 1 : even;
        }
        for (size_t p = 0; p < planes; p++) {
            /* Of the type of a lane: a wider one has gcc widen all lanes. */
            const uint8_t plane = 8 * (PLANES - 1 - p);
            for (size_t i = 0; i < LINE; i++)
                sum[p][i] |= (from[i] & 0x38) == plane ? bit[i] : 0;
        }
    }
    memcpy(hits, sum, planes * LINE);
}

void PART(decode_loops)(const uint8_t *codes, size_t at, const size_t *moves, size_t count, size_t planes, uint8_t *hits, size_t blocks)
{
    for (size_t b = 0; b < blocks; b++)
        BY_PLANES(decode_loops, codes + at + b * LINE, moves, count, hits + b * PLANES * LINE)
}

#ifdef __GNUC__

INLINE void decode_vectors(const uint8_t *codes, const size_t *moves, size_t count, uint8_t *hits, const size_t planes)
{
    for (size_t part = 0; part < LINE; part += REGISTER) {
        bytes sum[PLANES];
        for (size_t p = 0; p < planes; p++)
            sum[p] = *(const bytes *)(hits + p * LINE + part);
        for (size_t m = 0; m < count; m++) {
            const bytes code = *(const bytes *)(codes + part - moves[m]);
            /* A comparison gives all ones or zero. */
            bytes bit = 0x80 ^ ((bytes)((code & 4) != 0) & (0x80 ^ 0x08));
            bytes keep = (bytes)((code & 2) == 0);
            bit = (bit & keep) | (bit >> 2 & ~keep);
            keep = (bytes)((code & 1) == 0);
            bit = (bit & keep) | (bit >> 1 & ~keep);
            for (size_t p = 0; p < planes; p++)
                sum[p] |= (bytes)((code & 0x38) == (uint8_t)(8 * (PLANES - 1 - p))) & bit;
        }
        for (size_t p = 0; p < planes; p++)
            *(bytes *)(hits + p * LINE + part) = sum[p];
    }
}

void PART(decode_vectors)(const uint8_t *codes, size_t at, const size_t *moves, size_t count, size_t planes, uint8_t *hits, size_t blocks)
{
    for (size_t b = 0; b < blocks; b++)
        BY_PLANES(decode_vectors, codes + at + b * LINE, moves, count, hits + b * PLANES * LINE)
}

#endif
