/*
 * What the parts of kernels in C share. Each has a form in plain loops, left to the compiler's vectoriser, and one in its vector extensions,
 * which gcc and clang have. They are compiled once for the target of the build and once for AVX2; TIER says for which. The callers, in
 * mod.rs, check all bounds.
 *
 * The extensions have no minimum and, as far as gcc and clang agree, no lookup by a variable: masks take the place of both.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define JOIN(name, tier) nimlanes_##name##_##tier
#define NAME(name, tier) JOIN(name, tier)
#define PART(name) NAME(name, TIER)

#ifdef _MSC_VER
#define INLINE static __forceinline
#else
#define INLINE static inline __attribute__((always_inline))
#endif

#ifdef __GNUC__
#ifdef __AVX2__
#define REGISTER 32
#else
#define REGISTER 16
#endif
#define VECTOR(lane) lane __attribute__((vector_size(REGISTER), aligned(1), may_alias))

typedef VECTOR(uint8_t) bytes;
typedef VECTOR(uint32_t) words;
typedef VECTOR(int32_t) signed_words;
#endif
