// A carrier on a fake bucket, with a clock of its own.

internal import StrataBase
@testable internal import StrataBucket
internal import StrataReplica
internal import StrataSimulation

/// A time that passes only when somebody waits.
final class FakeClock: Sendable {
  let nanoseconds = Lock<Int64>(0)
  let pauses = Lock<[Duration]>([])

  var clock: BucketClock {
    BucketClock(
      now: { MonotonicTime(nanoseconds: self.nanoseconds.withLock { $0 }) },
      pause: { duration in
        self.pauses.withLock { $0.append(duration) }
        self.nanoseconds.withLock { $0 += Int64(duration / .nanoseconds(1)) }
      },
      random: { 0.5 })
  }
}

enum Secret {
  static let keyID = "AKIDEXAMPLE"
  static let secret = "wJalrXUtnFEMIsecretK7MDENGbPxRfiCYEXAMPLEKEY"
  static let token = "IQoJb3JpZ2luX2VjtokenSECRETsession1234567890"

  static let environment = [
    "AWS_ACCESS_KEY_ID": keyID, "AWS_SECRET_ACCESS_KEY": secret, "AWS_SESSION_TOKEN": token,
  ]

  /// Whether a text has one of the two.
  static func isIn(_ text: String) -> Bool { text.contains(secret) || text.contains(token) }
}

extension BucketCarrier {
  /// A carrier that sends to a fake bucket.
  convenience init(
    fake: FakeBucket, url: String = "s3://copies/a b/c+ü?endpoint=http://127.0.0.1:9000",
    clock: FakeClock = FakeClock(),
    source: CredentialSource = CredentialSource(environment: Secret.environment, read: { _ in nil }),
    partSize: Int = 8 << 20, pageLength: Int = 1000
  ) throws(CarrierError) {
    let place = try BucketPlace(url)
    self.init(
      place, BucketClient(place, fake, source, clock: clock.clock), clock: clock.clock, partSize: partSize,
      pageLength: pageLength)
  }

  /// What a file has in the fake bucket.
  func bytes(_ name: String, in fake: FakeBucket) -> [UInt8]? { fake.objects[place.key(name)]?.bytes }
}

extension CarrierObject {
  init(_ number: UInt64, _ text: String) { self.init(number: number, bytes: Array(text.utf8)) }
}

/// The error that a body throws; nil if it throws none.
func error<Result>(of body: () throws(CarrierError) -> Result) -> CarrierError? {
  do throws(CarrierError) {
    _ = try body()
    return nil
  } catch { return error }
}
