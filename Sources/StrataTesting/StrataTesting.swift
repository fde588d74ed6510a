// One import for tests: simulated disks and clocks, properties and generators, and the strict views of this module.

@_exported public import StrataCheck
@_exported public import StrataSimulation
