#include "parts.h"

/* Near sums. Bit i of a window is the nim-sum start + i. A shift by BITS or more is undefined, so what is outside of a window is left out by
   a comparison. BURST is the number of cells between two checks for a hit. */
enum { BITS = 32, BURST = 128 };

INLINE size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The window from `start` on, with the nim-sums small[i] ^ large[i] that lie in it. */
uint32_t PART(near_window_loops)(const uint32_t *small, const uint32_t *large, size_t cells, uint32_t start)
{
    uint32_t window = 0;
    for (size_t i = 0; i < cells; i++) {
        uint32_t at = (small[i] ^ large[i]) - start;
        window |= at < BITS ? (uint32_t)1 << at % BITS : 0;
    }
    return window;
}

/* Whether windows[i] holds g ^ values[i] for some i. Window i starts (i + up) / 2 before `start`. */
bool PART(near_hits_loops)(const uint32_t *values, const uint32_t *windows, size_t cells, uint32_t g, uint32_t start, uint32_t up)
{
    for (size_t done = 0; done < cells; done += BURST) {
        const uint32_t *value = values + done, *window = windows + done, burst = least(BURST, cells - done);
        uint32_t found = 0, first = start - (uint32_t)(done / 2);
        for (uint32_t i = 0; i < burst; i++) {
            uint32_t at = (g ^ value[i]) - (first - (i + up) / 2);
            found |= at < BITS ? window[i] >> at % BITS : 0;
        }
        if (found & 1)
            return true;
    }
    return false;
}

/* Whether small[i] ^ large[i] is h for some i. */
bool PART(near_meets_loops)(const uint32_t *small, const uint32_t *large, size_t cells, uint32_t h)
{
    for (size_t done = 0; done < cells; done += BURST) {
        const uint32_t *a = small + done, *b = large + done, burst = least(BURST, cells - done);
        uint32_t found = 0;
        for (uint32_t i = 0; i < burst; i++)
            found |= (a[i] ^ b[i]) == h;
        if (found)
            return true;
    }
    return false;
}

#ifdef __GNUC__

enum { LANES = REGISTER / 4 };

/* The OR of all lanes. */
INLINE uint32_t or_of(const words *lanes)
{
    uint32_t all = 0;
    for (int i = 0; i < LANES; i++)
        all |= (*lanes)[i];
    return all;
}

/* All ones where a place is in the window. */
INLINE words within(const words *at)
{
    return (words)(*at < BITS);
}

uint32_t PART(near_window_vectors)(const uint32_t *small, const uint32_t *large, size_t cells, uint32_t start)
{
    const words one = (words){0} + 1;
    words window = {0};
    for (size_t i = 0; i < cells; i += LANES) {
        words at = (*(const words *)(small + i) ^ *(const words *)(large + i)) - start;
        window |= one << at % BITS & within(&at);
    }
    return or_of(&window);
}

bool PART(near_hits_vectors)(const uint32_t *values, const uint32_t *windows, size_t cells, uint32_t g, uint32_t start, uint32_t up)
{
    words starts;
    for (uint32_t i = 0; i < LANES; i++)
        starts[i] = start - (i + up) / 2;
    for (size_t done = 0; done < cells; done += BURST) {
        words found = {0};
        for (size_t i = done, end = least(cells, done + BURST); i < end; i += LANES) {
            words at = (*(const words *)(values + i) ^ g) - starts;
            found |= *(const words *)(windows + i) >> at % BITS & within(&at);
            starts -= LANES / 2;
        }
        if (or_of(&found) & 1)
            return true;
    }
    return false;
}

bool PART(near_meets_vectors)(const uint32_t *small, const uint32_t *large, size_t cells, uint32_t h)
{
    for (size_t done = 0; done < cells; done += BURST) {
        words found = {0};
        for (size_t i = done, end = least(cells, done + BURST); i < end; i += LANES)
            found |= (words)((*(const words *)(small + i) ^ *(const words *)(large + i)) == h);
        if (or_of(&found))
            return true;
    }
    return false;
}

#endif
