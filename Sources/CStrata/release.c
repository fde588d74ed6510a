// What each thread is releasing, so that objects nested in each other do not use up its stack: Swift has no storage of a
// thread's own.
#include "CStrata.h"

static _Thread_local struct strata_release release;

struct strata_release *strata_release(void) { return &release; }
