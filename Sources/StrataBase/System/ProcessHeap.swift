// The heap of the process, for programs that move much data through few threads.

internal import CStrata

/// What a program may choose about its heap; a library does not, since the heap belongs to the whole process.
package enum ProcessHeap {
  /// Keeps memory small where one thread frees what another has allocated, as when records are read by one thread and
  /// appended by another. Call it before there are many threads. Does nothing where the system has no such choice.
  package static func share() { strata_share_heap() }
}
