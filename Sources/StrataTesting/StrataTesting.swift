// One import for tests: the simulated disks and clocks, and the strict views of this module.

@_exported public import StrataSimulation
