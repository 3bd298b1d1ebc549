/* sort.h: sorting whose result is a function of the values alone.
 *
 * PHX_DEFINE_SORT(name, Type, less) defines `static void name(Type *items, size_t count)`: heap sort, in
 * place, no recursion, O(n log n) always. `less(const Type *a, const Type *b)` must be a strict total order:
 * its last comparison is an id, so that no two items are equal and the order of the input cannot matter. (The
 * C library's qsort is not used: on equal keys its result differs between libraries.)
 */
#ifndef PHX_BASE_SORT_H
#define PHX_BASE_SORT_H

#include <stddef.h>

#define PHX_DEFINE_SORT(name, Type, less)                                                                    \
    static void name##_sift(Type *items, size_t root, size_t count) {                                        \
        const Type moved = items[root];                                                                      \
        for (size_t child; (child = 2 * root + 1) < count; root = child) {                                   \
            if (child + 1 < count && less(&items[child], &items[child + 1])) child++;                        \
            if (!less(&moved, &items[child])) break;                                                         \
            items[root] = items[child];                                                                      \
        }                                                                                                    \
        items[root] = moved;                                                                                 \
    }                                                                                                        \
    static void name(Type *items, size_t count) {                                                            \
        for (size_t i = count / 2; i-- > 0;) name##_sift(items, i, count);                                   \
        for (size_t end = count; end-- > 1;) {                                                               \
            const Type last = items[end];                                                                    \
            items[end] = items[0];                                                                           \
            items[0] = last;                                                                                 \
            name##_sift(items, 0, end);                                                                      \
        }                                                                                                    \
    }

#endif
