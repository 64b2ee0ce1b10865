#include "parts.h"

enum { LINE = 64 };

/* Shifted rows: ORs the bytes of `row` from `at - back[..]` on into lines of hits. */
void PART(carry_loops)(const uint8_t *row, size_t at, const size_t *back, size_t moves, uint8_t *hits, size_t lines)
{
    for (size_t l = 0; l < lines; l++) {
        uint8_t sum[LINE];
        memcpy(sum, hits + l * LINE, LINE);
        for (size_t m = 0; m < moves; m++) {
            const uint8_t *from = row + (at + l * LINE - back[m]);
            for (size_t i = 0; i < LINE; i++)
                sum[i] |= from[i];
        }
        memcpy(hits + l * LINE, sum, LINE);
    }
}

#ifdef __GNUC__

void PART(carry_vectors)(const uint8_t *row, size_t at, const size_t *back, size_t moves, uint8_t *hits, size_t lines)
{
    for (size_t l = 0; l < lines; l++) {
        bytes *line = (bytes *)(hits + l * LINE), sum[LINE / REGISTER];
        for (int v = 0; v < LINE / REGISTER; v++)
            sum[v] = line[v];
        for (size_t m = 0; m < moves; m++) {
            const bytes *from = (const bytes *)(row + (at + l * LINE - back[m]));
            for (int v = 0; v < LINE / REGISTER; v++)
                sum[v] |= from[v];
        }
        for (int v = 0; v < LINE / REGISTER; v++)
            line[v] = sum[v];
    }
}

#endif
