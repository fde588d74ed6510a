// The two headers of liblz4 that Strata uses: raw blocks, fast and high compression.
#include <lz4.h>
#include <lz4hc.h>
