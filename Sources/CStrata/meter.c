// What measures the work of each thread, so that what the thread waits for can be left out of it.
#include "CStrata.h"

static _Thread_local void *current;

void *strata_exchange_meter(void *meter) {
  void *before = current;
  current = meter;
  return before;
}
