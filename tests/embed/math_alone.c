/* Links phalanx-math and nothing else: prints the root of two. */
#include <phalanx/fixed.h>

#include <stdio.h>

int main(void) {
    char text[PHX_FIX_TEXT];
    phx_fix_format(phx_fix_sqrt(fix16_from_int(2)), text, sizeof text);
    puts(text);
    return 0;
}
