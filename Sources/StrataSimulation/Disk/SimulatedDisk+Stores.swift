// Stores on a simulated disk, and the disk that a power cut leaves, as tests of applications use them.

public import StrataEvents
public import StrataLog

extension SimulatedDisk {
  /// Opens the store in a folder of this disk, as `EventStore.open(at:_:options:)` does on the system's disk, with all
  /// the same code. An open for writing creates the folders that are missing.
  ///
  /// ```swift
  /// let disk = SimulatedDisk()
  /// let store = try await disk.open(at: "/store")
  /// try await store.append([NewEvent("paid", in: "account/1", ["cents": 250])])
  /// let reader = try await disk.open(at: "/store", .readOnly)
  /// #expect(try await reader.events(in: "account/1").count == 1)
  /// ```
  ///
  /// It costs what an open of a store in files costs. A segment is extended with zeros by 16 KiB at a time, and not by 1 MiB, so that a test of a few appends is fast
  /// without optimisation too.
  ///
  /// - Throws: the errors of an open in files. Without power, `StoreError.unavailable`.
  public func open(
    at path: String, _ access: EventStore.Access = .readWrite, options: StoreOptions = StoreOptions()
  ) async throws -> EventStore {
    var options = options
    options.preallocationStep = min(options.preallocationStep, 16_384)
    return try await EventStore.open(self, at: path, access, options: options)
  }

  /// Returns the disk as it is when the power is back after a cut at this moment. The power need not be cut before.
  ///
  /// What was synced is there. Of the rest, each sector of 512 bytes is old or new, each size is anywhere between the
  /// old and the new one, and each new name exists or does not, as the seed decides. With a seed that is divisible by 4,
  /// nothing is there that was not synced. A test tries several seeds, at several moments:
  ///
  /// ```swift
  /// let disk = SimulatedDisk()
  /// let store = try await disk.open(at: "/store")
  /// try await store.append([NewEvent("paid", in: "account/1", ["cents": 250])])
  /// for seed: UInt64 in 0..<8 {
  ///   let after = try await disk.afterPowerCut(seed: seed).open(at: "/store")
  ///   #expect(try await after.events(in: "account/1").count == 1)
  ///   try await after.close()
  /// }
  /// ```
  ///
  /// A store on the returned disk opens for writing, and has every append that was acknowledged, in order and whole. It
  /// may also have appends that were not acknowledged yet. The exception is a store with the durability `buffered`,
  /// which may lose the last appends. Sectors never hold garbage: only `padsGroupsToPages` protects a store from that.
  ///
  /// This disk does not change. The returned one has power, no open files, and no locks. Its calls are counted from 1.
  ///
  /// Takes O(n), where n is the size of the files that are not synced completely; the others are shared until one of
  /// the disks changes them.
  public func afterPowerCut(seed: UInt64) -> SimulatedDisk {
    crash(seed: seed, model: seed.isMultiple(of: 4) ? .dropAll : .reorder)
  }
}
