// Who asks the servers. No text has what is secret in it.

/// How a carrier says to the servers who it is.
public enum JetStreamCredentials: Sendable, Equatable {
  /// A file of credentials, as the servers' tools write it: its path.
  case file(String)
  case user(String, password: String)
  case token(String)

  /// What the environment says: `NATS_CREDS`, the path of a file; `NATS_USER` and `NATS_PASSWORD`; `NATS_TOKEN`. The first
  /// of them that is there; nil if none is.
  public static func environment(_ variables: [String: String]) -> JetStreamCredentials? {
    func value(_ name: String) -> String? {
      guard let value = variables[name], !value.isEmpty, !value.utf8.contains(0) else { return nil }
      return value
    }
    if let path = value("NATS_CREDS") { return .file(path) }
    if let name = value("NATS_USER") { return .user(name, password: value("NATS_PASSWORD") ?? "") }
    return value("NATS_TOKEN").map { .token($0) }
  }
}

extension JetStreamCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// What kind of credentials they are, and nothing of them.
  public var description: String {
    switch self {
    case .file: "a file of credentials"
    case .user: "a user with a password"
    case .token: "a token"
    }
  }

  public var debugDescription: String { description }

  public var customMirror: Mirror { Mirror(self, children: []) }
}
