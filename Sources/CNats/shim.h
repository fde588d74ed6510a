// The header of the C client of NATS.
#include <nats/nats.h>
