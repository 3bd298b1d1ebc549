/* main.c: the program phx. All of it is in the library phx_cli, so that a game's own program can be this line
 * with its own PhxGame. */
#include "phx/cli.h"

int main(int argc, const char **argv) { return phx_cli_main(argc, argv, NULL); }
