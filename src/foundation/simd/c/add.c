#include "parts.h"

enum { LANES = 16 };

/* Walsh lanes: adds term t - back to term t modulo `modulus`, for t in start..end, descending. Lane i subtracts if bit i of signs is set. */
void PART(add_loops)(uint32_t *series, size_t back, size_t start, size_t end, uint32_t signs, uint32_t modulus)
{
    uint32_t negative[LANES];
    for (int i = 0; i < LANES; i++)
        negative[i] = -(signs >> i & 1);
    for (size_t t = end; t-- > start;) {
        uint32_t *restrict to = series + t * LANES;
        const uint32_t *restrict from = series + (t - back) * LANES;
        for (int i = 0; i < LANES; i++) {
            /* modulus - a is ~a + modulus + 1. */
            uint32_t sum = to[i] + (from[i] ^ negative[i]) + (negative[i] & (modulus + 1));
            uint32_t less = sum - modulus;
            to[i] = sum < less ? sum : less;
        }
    }
}

#ifdef __GNUC__

void PART(add_vectors)(uint32_t *series, size_t back, size_t start, size_t end, uint32_t signs, uint32_t modulus)
{
    enum { VECTORS = 4 * LANES / REGISTER };
    uint32_t lanes[LANES];
    for (int i = 0; i < LANES; i++)
        lanes[i] = -(signs >> i & 1);
    words negative[VECTORS], more[VECTORS];
    for (int v = 0; v < VECTORS; v++) {
        negative[v] = ((const words *)lanes)[v];
        more[v] = (negative[v] & (modulus + 1)) - modulus;
    }
    for (size_t t = end; t-- > start;) {
        words *to = (words *)(series + t * LANES);
        const words *from = (const words *)(series + (t - back) * LANES);
        for (int v = 0; v < VECTORS; v++) {
            /* The sum less the modulus, which is added again where that is below 0. */
            words less = to[v] + (from[v] ^ negative[v]) + more[v];
            to[v] = less + ((words)((signed_words)less >> 31) & modulus);
        }
    }
}

#endif
