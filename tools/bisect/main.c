/* main.c: phx-worker, the worker as a program of its own, for builds without the command line's libraries. */
#include "bisect/worker.h"

int main(int argc, char **argv) { return phx_worker_main(argc, argv); }
