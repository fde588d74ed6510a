// The key paths that identify parts of requests.

/// A key path that can be compared and sent between threads.
struct AnyKeyPathBox: Hashable, Sendable {
  let keyPath: any AnyKeyPath & Sendable

  static func == (a: Self, b: Self) -> Bool { (a.keyPath as AnyKeyPath) == (b.keyPath as AnyKeyPath) }
  func hash(into hasher: inout Hasher) { hasher.combine(keyPath as AnyKeyPath) }
}
