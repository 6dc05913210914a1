package embed

/*
#include <stdlib.h>

#if defined(__GLIBC__)
#include <malloc.h>
static void give_back(void) { malloc_trim(0); }
#else
static void give_back(void) {}
#endif
*/
import "C"

import "runtime/debug"

// giveBack returns what a released model has left to the system: C's allocator
// keeps it for the next time otherwise (measured: 115 of 135 MB stay, 45 do with
// this).
func giveBack() {
	C.give_back()
	debug.FreeOSMemory()
}
