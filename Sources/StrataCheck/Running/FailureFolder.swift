// Cases that failed before, in files, to be tried first.

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A folder with one file for each property that failed: the choices of its simplest case.
struct FailureFolder {
  private let path: String

  /// Nil if there is no folder, neither given nor in the environment variable `CHECK_FAILURES`.
  init?(_ folder: String?, property name: String) {
    guard let folder = folder ?? getenv("CHECK_FAILURES").map({ String(cString: $0) }), !folder.isEmpty else {
      return nil
    }
    mkdir(folder, 0o755)
    // Names become files: what is no letter, digit or dash is left out, and a hash keeps names apart.
    let plain = name.utf8.map { byte in
      let letter = Character(Unicode.Scalar(byte))
      return letter.isASCII && (letter.isLetter || letter.isNumber) ? letter : "-"
    }
    let hash = name.utf8.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    path = "\(folder)/\(String(plain.prefix(80)))-\(String(hash, radix: 16)).choices"
  }

  /// The choices of the failure, or nil if there is none, or none that can be read.
  func load() -> [Choice]? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = fread(&bytes, 1, bytes.count, file)
    var choices: [Choice] = []
    for line in String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n") {
      let parts = line.split(separator: " ")
      guard parts.count == 3, let number = UInt8(parts[0]), let kind = Choice.Kind(rawValue: number),
        let magnitude = UInt64(parts[1]), parts[2] == "+" || parts[2] == "-"
      else { return nil }
      var choice = Choice(kind, up: .max, down: .max)
      (choice.magnitude, choice.isNegative) = (magnitude, parts[2] == "-")
      choices.append(choice)
    }
    return choices
  }

  /// Keeps the choices of a failure. What cannot be written is not kept: the check fails in any case.
  func save(_ choices: [Choice]) {
    guard let file = fopen(path, "w") else { return }
    for choice in choices {
      fputs("\(choice.kind.rawValue) \(choice.magnitude) \(choice.isNegative ? "-" : "+")\n", file)
    }
    fclose(file)
  }

  func remove() { unlink(path) }
}
