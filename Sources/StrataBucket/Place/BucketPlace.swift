// A place in a bucket, as its URL names it.

/// Which bucket holds a copy, under which prefix, and where its servers are.
///
///     s3://BUCKET/PREFIX?allow-versions=yes&endpoint=http://127.0.0.1:9000&region=eu-central-1&style=path
struct BucketPlace: Sendable, Equatable {
  let bucket: String
  /// What all keys begin with, without a slash at its ends; may be empty.
  let prefix: String
  let endpoint: BucketEndpoint
  let region: String
  /// Whether the bucket is in the path of a URL, and not in the name of the host.
  let isPathStyle: Bool
  /// Whether a bucket is taken that keeps what is replaced and removed.
  var allowsVersions: Bool
  private let isAmazon: Bool

  static let defaultRegion = "us-east-1"
  static let prefixLengthMax = 900

  /// The names of the parameters of the URL, in the order in which `url` has them.
  private enum Parameter: String, CaseIterable {
    case versions = "allow-versions"
    case endpoint
    case region
    case style
  }

  /// Reads a URL. What it leaves out comes from the environment, then from what files say, then it is what most have.
  ///
  /// - Throws: `refused`. No message has a part of the URL that may be a secret: people write them there.
  init(
    _ url: String, environment: [String: String] = [:], fileRegion: @autoclosure () -> String? = nil
  ) throws(CarrierError) {
    guard url.hasPrefix("s3://") else { throw .badURL("it does not begin with s3://") }
    guard !url.utf8.contains(UInt8(ascii: "#")) else { throw .badURL("it has a part after a number sign") }
    let halves = url.dropFirst("s3://".count).split(
      separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let path = halves[0].split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    bucket = String(path[0])
    guard Self.isBucketName(Array(bucket.utf8)) else {
      throw .badURL("the bucket's name is not one of 3 to 63 letters, digits, hyphens and dots")
    }
    prefix = try Self.prefix(path.count > 1 ? path[1] : "")
    let parameters = try Self.parameters(halves.count > 1 ? halves[1] : "")

    let region =
      Self.given(parameters[.region]) ?? Self.given(environment["AWS_REGION"])
      ?? Self.given(environment["AWS_DEFAULT_REGION"]) ?? Self.given(fileRegion()) ?? Self.defaultRegion
    guard Self.isRegion(region) else { throw .badURL("the region is not one of letters, digits and hyphens") }
    self.region = region
    let endpoint =
      Self.given(parameters[.endpoint]) ?? Self.given(environment["AWS_ENDPOINT_URL_S3"])
      ?? Self.given(environment["AWS_ENDPOINT_URL"])
    isAmazon = endpoint == nil
    if let endpoint {
      guard let endpoint = BucketEndpoint(endpoint) else {
        throw .badURL("the endpoint is not http:// or https:// with a host, and a port if need be")
      }
      self.endpoint = endpoint
    } else {
      self.endpoint = .amazon(region)
    }
    let isHostName = Self.isHostName(bucket)
    switch parameters[.style] {
    case "path"?: isPathStyle = true
    case "host"?:
      guard isHostName, !self.endpoint.isNumeric else {
        throw .badURL("style=host needs a bucket and an endpoint that are names of hosts")
      }
      isPathStyle = false
    case nil: isPathStyle = Self.isPathStyle(isAmazon: isAmazon, isHostName: isHostName)
    default: throw .badURL("style is path or host")
    }
    switch parameters[.versions] {
    case "yes"?: allowsVersions = true
    case "no"?, nil: allowsVersions = false
    default: throw .badURL("allow-versions is yes or no")
    }
  }

  /// The same place for all machines, whatever their environment says. Has no secret.
  var url: String {
    var items: [String] = []
    if allowsVersions { items.append("\(Parameter.versions.rawValue)=yes") }
    if !isAmazon { items.append("\(Parameter.endpoint.rawValue)=\(endpoint.text)") }
    items.append("\(Parameter.region.rawValue)=\(region)")
    if isPathStyle != Self.isPathStyle(isAmazon: isAmazon, isHostName: Self.isHostName(bucket)) {
      items.append("\(Parameter.style.rawValue)=\(isPathStyle ? "path" : "host")")
    }
    return "\(path)?\(items.joined(separator: "&"))"
  }

  /// The URL of a file there, for messages.
  func url(of name: String) -> String { "\(path)/\(name)" }

  private var path: String {
    "s3://\(bucket)" + (prefix.isEmpty ? "" : "/" + PercentCoding.encode(prefix.utf8, keepingSlashes: true))
  }

  /// The key of a file.
  func key(_ name: String) -> String { prefix.isEmpty ? name : "\(prefix)/\(name)" }

  // MARK: Parts

  private static func given(_ text: String?) -> String? { text?.isEmpty == false ? text : nil }

  private static func isPathStyle(isAmazon: Bool, isHostName: Bool) -> Bool { !isAmazon || !isHostName }

  /// Without dots: certificates are for one name before the host's.
  private static func isHostName(_ bucket: String) -> Bool {
    bucket.utf8.allSatisfy { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "_") && !("A"..."Z" ~= $0) }
  }

  private static func isBucketName(_ name: [UInt8]) -> Bool {
    guard (3...63).contains(name.count), name[0].isLetterOrDigit, name[name.count - 1].isLetterOrDigit else {
      return false
    }
    return name.allSatisfy { $0.isLetterOrDigit || "-._".utf8.contains($0) }
      && !zip(name, name.dropFirst()).contains { $0 == UInt8(ascii: ".") && $1 == UInt8(ascii: ".") }
  }

  static func isRegion(_ name: String) -> Bool {
    (1...32).contains(name.utf8.count)
      && name.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }
  }

  private static func prefix(_ text: Substring) throws(CarrierError) -> String {
    guard let bytes = PercentCoding.decode(text.utf8), let text = String(validating: bytes, as: UTF8.self)
    else { throw .badURL("its path has a percent sign without two digits, or is not UTF-8") }
    let prefix = text.hasSuffix("/") ? text.dropLast() : text[...]
    guard !prefix.isEmpty else { return "" }
    guard prefix.utf8.count <= prefixLengthMax else {
      throw .badURL("its path has more than \(prefixLengthMax) bytes")
    }
    guard prefix.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
      throw .badURL("its path has control characters")
    }
    let parts = prefix.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." }) else {
      throw .badURL("a part of its path is empty, or is . or ..")
    }
    return String(prefix)
  }

  private static func parameters(_ text: Substring) throws(CarrierError) -> [Parameter: String] {
    var parameters: [Parameter: String] = [:]
    for item in text.split(separator: "&") {
      let halves = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let parameter = Parameter(rawValue: String(halves[0])), halves.count == 2 else {
        throw .badURL(
          "it has a parameter other than "
            + Parameter.allCases.map { "\($0.rawValue)=" }.joined(separator: ", "))
      }
      guard let bytes = PercentCoding.decode(halves[1].utf8),
        let value = String(validating: bytes, as: UTF8.self)
      else { throw .badURL("\(parameter.rawValue) has a percent sign without two digits, or is not UTF-8") }
      guard parameters.updateValue(value, forKey: parameter) == nil else {
        throw .badURL("it has \(parameter.rawValue) twice")
      }
    }
    return parameters
  }
}

extension ClosedRange<Character> {
  fileprivate static func ~= (range: Self, byte: UInt8) -> Bool {
    range.contains(Character(Unicode.Scalar(byte)))
  }
}

extension CarrierError {
  static func badURL(_ what: String) -> CarrierError {
    CarrierError(
      .refused, what: "the URL of the bucket cannot be read: \(what)",
      next: "write it as s3://BUCKET/PREFIX?region=REGION, and keys into the environment or a file")
  }
}
