// What requests are signed with, kept out of everything that is printed.

/// An access key. Nothing that prints one shows more than that it is there.
struct BucketCredentials: Sendable, Equatable {
  let keyID: String
  let secret: String
  /// Of keys that are lent for a time.
  let token: String?

  /// - Returns: nil if one of the three has a space, a control character or anything else that no header takes.
  init?(keyID: String, secret: String, token: String?) {
    for text in [keyID, secret, token ?? "none"] {
      guard (1...8192).contains(text.utf8.count), text.utf8.allSatisfy(\.isVisible) else { return nil }
    }
    self.keyID = keyID
    self.secret = secret
    self.token = token
  }
}

extension BucketCredentials {
  /// Whether a text is a part of what is secret in them. Short ones are not: they are in any text by chance.
  func contain(_ text: String) -> Bool {
    text.utf8.count >= 8
      && [secret, token ?? ""].contains { $0.contains(text) || text.contains($0) && !$0.isEmpty }
  }
}

extension BucketCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  var description: String { "(an access key)" }
  var debugDescription: String { description }
  var customMirror: Mirror { Mirror(self, children: [(label: String?, value: Any)]()) }
}
