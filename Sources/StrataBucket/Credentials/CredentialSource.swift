// Where access keys and regions come from: the environment, or a profile in a file.

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Reads access keys as Amazon's tools do: from `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`, or
/// else from the profile `AWS_PROFILE`, or `default`, in `~/.aws/credentials` and `~/.aws/config`, whose paths
/// `AWS_SHARED_CREDENTIALS_FILE` and `AWS_CONFIG_FILE` change.
struct CredentialSource: Sendable {
  let environment: [String: String]
  /// The bytes of a file; nil if it cannot be read.
  let read: @Sendable (_ path: String) -> [UInt8]?

  /// - Parameter environment: variables and their values.
  init(environment: [String: String], read: @escaping @Sendable (_ path: String) -> [UInt8]? = Self.bytes) {
    self.environment = environment
    self.read = read
  }

  /// The region of the profile, if a file has one.
  var region: String? { config.values["region"] }

  /// The keys as they are now.
  ///
  /// - Throws: `refused` if there are none. The message says where they were looked for, and nothing of what is there.
  func credentials() throws(CarrierError) -> BucketCredentials {
    if let keyID = given("AWS_ACCESS_KEY_ID") {
      guard let secret = given("AWS_SECRET_ACCESS_KEY") else {
        throw .noKeys("AWS_ACCESS_KEY_ID is set, and AWS_SECRET_ACCESS_KEY is not")
      }
      return try credentials(keyID, secret, given("AWS_SESSION_TOKEN"), in: "the environment")
    }
    for (file, path) in [(shared, sharedPath), (config, configPath)] {
      guard let keyID = file.values["aws_access_key_id"], let secret = file.values["aws_secret_access_key"]
      else { continue }
      let token = file.values["aws_session_token"]
      return try credentials(keyID, secret, token?.isEmpty == true ? nil : token, in: path)
    }
    let elsewhere = ["sso_session", "sso_start_url", "role_arn", "credential_process", "source_profile"]
    if let name = elsewhere.first(where: { config.values[$0] != nil || shared.values[$0] != nil }) {
      throw CarrierError(
        .refused, what: "the profile gets its access keys by \(name), which only Amazon's own tools do",
        next: "have them write the keys: aws configure export-credentials --format env")
    }
    throw .noKeys("there are no access keys in the environment, in \(sharedPath) or in \(configPath)")
  }

  private func credentials(
    _ keyID: String, _ secret: String, _ token: String?, in place: String
  ) throws(CarrierError) -> BucketCredentials {
    guard let credentials = BucketCredentials(keyID: keyID, secret: secret, token: token) else {
      throw .noKeys("the access keys in \(place) are empty, or have spaces or control characters")
    }
    return credentials
  }

  // MARK: Files

  private func given(_ name: String) -> String? {
    environment[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  private var profile: String { given("AWS_PROFILE") ?? given("AWS_DEFAULT_PROFILE") ?? "default" }

  private var sharedPath: String { given("AWS_SHARED_CREDENTIALS_FILE") ?? home("/.aws/credentials") }
  private var configPath: String { given("AWS_CONFIG_FILE") ?? home("/.aws/config") }

  private func home(_ path: String) -> String { (given("HOME") ?? "") + path }

  private var shared: ProfileFile { ProfileFile(read(sharedPath) ?? [], titles: [profile]) }

  private var config: ProfileFile {
    let titles: Set = profile == "default" ? ["default", "profile default"] : ["profile \(profile)"]
    return ProfileFile(read(configPath) ?? [], titles: titles)
  }

  /// The longest file that is read, in bytes.
  static let fileLengthMax = 1 << 20

  /// The bytes of a file, whatever links lead to it; nil if it cannot be read, or is too long for one of profiles.
  static func bytes(_ path: String) -> [UInt8]? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 4096)
    while bytes.count <= fileLengthMax {
      let count = part.withUnsafeMutableBytes { buffer in
        var count: Int
        repeat { count = read(file, buffer) } while count < 0 && errno == EINTR
        return count
      }
      guard count >= 0 else { return nil }
      guard count > 0 else { return bytes }
      bytes += part[..<count]
    }
    return nil
  }

  private static func read(_ file: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    #if canImport(Darwin)
      Darwin.read(file, buffer.baseAddress, buffer.count)
    #elseif canImport(Musl)
      Musl.read(file, buffer.baseAddress, buffer.count)
    #else
      Glibc.read(file, buffer.baseAddress, buffer.count)
    #endif
  }
}

/// The environment has secrets.
extension CredentialSource: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  var description: String { "(where access keys are)" }
  var debugDescription: String { description }
  var customMirror: Mirror { Mirror(self, children: [(label: String?, value: Any)]()) }
}

extension CarrierError {
  fileprivate static func noKeys(_ what: String) -> CarrierError {
    CarrierError(
      .refused, what: what,
      next: "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write a profile with aws configure")
  }
}
