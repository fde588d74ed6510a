// The headers of liblz4 that Strata uses: raw blocks, fast and high compression, and the frames of files.
#include <lz4.h>
#include <lz4hc.h>
#include <lz4frame.h>
