// Files that take the place of others are for the same readers.

import Foundation
import StrataLog
import StrataSimulation
import Testing

@Suite struct PermissionTests {
  private static func permissions(_ path: String) throws -> Int {
    try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
  }

  @Test func `a new HEAD, a copied segment and a sealed one have the permissions of the old ones`() throws {
    let path = NSTemporaryDirectory() + "strata-permissions-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let layout = StoreLayout(root: path)
    var options = StoreOptions()
    options.sealsInBackground = false
    let append = ModelAppend([ModelEvent(stream: "s", type: "t")])
    let first = try Log.openWriter(PosixFileSystem(), path: path, options: options)
    _ = try first.appendBlocking(append.draft())
    try first.roll()
    _ = try first.appendBlocking(append.draft())
    let files = [layout.head, layout.segment(1), layout.segment(2)]
    for file in files {
      try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file)
    }
    // Nobody knows whether the first writer has ended, so the next one has files of its own.
    try FileManager.default.removeItem(atPath: layout.lock)
    let identities = try files.map { try #require(try PosixFileSystem().identity(of: $0)) }
    let second = try Log.openWriter(PosixFileSystem(), path: path, options: options)
    #expect(try second.seal().sealed > 0)
    for (file, identity) in zip(files, identities) {
      #expect(try Self.permissions(file) == 0o640, "\(file)")
      #expect(try PosixFileSystem().identity(of: file) != identity, "\(file) is still the old file")
    }
    try second.close()
    #expect(throws: StoreError.self) { try first.close() }
  }
}
