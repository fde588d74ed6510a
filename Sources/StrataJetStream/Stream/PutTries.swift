// What to do after each answer to a put: the table of answers, as a state machine without a clock and a connection.

internal import StrataDocuments
internal import StrataReplica

/// The answer to a message, or to a batch of them.
enum PutOutcome: Equatable, Sendable {
  /// Stored, the last one under a sequence.
  case stored(stream: String, UInt64)
  case error(APIError)
  case failure(LinkFailure)
  /// No answer that a server gives.
  case strange

  init(_ answer: BrokerMessage) {
    guard let read = APIAnswer(answer.bytes) else {
      self = .strange
      return
    }
    if let error = read.error {
      self = .error(error)
    } else if let stream = read.value["stream"]?.text, let sequence = read.value["seq"]?.unsigned {
      self = .stored(stream: stream, sequence)
    } else {
      self = .strange
    }
  }
}

/// The tries to put some messages after a sequence. Each sends the same bytes with the same fence.
///
///     stored, at the sequence after the fence      stored
///     stored elsewhere                             refused: this cannot be with a fence
///     10071, 10164                                 taken: something is there, or about to be. The caller reads it
///     10077 and other limits                       refused: full, until somebody makes room
///     10059                                        refused: the broker went back, or is another
///     no answer, no responders, anything else      again, after 100 ms to 2 s, for 30 s; then unknown
///
/// No sequence is taken from the text of 10071: with a put in flight it is that of a message which may never be there.
struct PutTries {
  enum Decision: Equatable {
    case stored
    case stop(CarrierStop)
    case again(after: Duration)
  }

  static let within = Duration.seconds(30)
  static let ofOneTry = Duration.seconds(2)
  static let pauseMin = Duration.milliseconds(100)
  static let pauseMax = Duration.seconds(2)

  private let stream: String
  /// nil for any.
  private let last: UInt64?
  private var pause = PutTries.pauseMin

  /// - Parameters:
  ///   - stream: the name of the stream.
  ///   - last: the sequence that the last message is to have; nil for any.
  init(into stream: String, last: UInt64?) {
    self.stream = stream
    self.last = last
  }

  /// Decides after a try.
  ///
  /// - Parameter elapsed: since the first try began.
  mutating func decide(_ outcome: PutOutcome, elapsed: Duration) -> Decision {
    switch outcome {
    case .stored(let stream, let sequence):
      guard stream == self.stream, last == nil || sequence == last else {
        return .stop(
          .refused(
            CarrierError(
              .unfit,
              what: "message \(last ?? 0) of \(self.stream) was answered as \(sequence) of \(stream)",
              next: "ship to a new place, and look at the servers: they do not keep the condition of a put")))
      }
      return .stored
    case .error(let error):
      switch error.code {
      case APICode.wrongLastSequence, APICode.wrongLastSequenceInFlight: return .stop(.taken)
      default:
        if let refusal = CarrierError(refusedBy: error, stream) { return .stop(.refused(refusal)) }
        return again(elapsed, error.sentence)
      }
    case .failure(.refused(let error)): return .stop(.refused(error))
    case .failure(let failure): return again(elapsed, failure.sentence)
    case .strange: return again(elapsed, "the answer is none of a stream")
    }
  }

  private mutating func again(_ elapsed: Duration, _ why: String) -> Decision {
    guard elapsed < Self.within else { return .stop(.unknown(.silence(stream, why))) }
    let result = pause
    pause = min(pause * 2, Self.pauseMax)
    return .again(after: min(result, Self.within - elapsed))
  }
}

extension LinkFailure {
  var sentence: String {
    switch self {
    case .silent: "no answer came"
    case .noResponders: "the stream has no leader now, or is not there"
    case .down(let why): why
    case .refused(let error): error.what
    }
  }
}

extension CarrierError {
  static func silence(_ stream: String, _ why: String) -> CarrierError {
    CarrierError(
      .unreachable, what: "the stream \(stream) does not answer: \(why)",
      next: "nothing: it is tried again; start the servers that are down")
  }

  /// What another try cannot mend; nil for errors that it may.
  init?(refusedBy error: APIError, _ stream: String) {
    switch error.code {
    case APICode.storeFailed, APICode.storageExceeded, APICode.resourcesExceeded, APICode.insufficient,
      APICode.memoryExceeded, APICode.messagesExceeded:
      self.init(
        .refused, what: "the stream \(stream) takes no more: \(error.sentence)",
        next: "make room on the servers' disks, or raise max_file and the account's limits")
    case APICode.messageTooLarge:
      self.init(
        .unfit, what: "the stream \(stream) refuses a message for its size: \(error.sentence)",
        next: "remove the limit from the stream")
    case APICode.streamNotFound:
      self = .wentBack("the stream \(stream) is not there any more: \(error.sentence)")
    case APICode.batchDisabled:
      self.init(
        .unfit, what: "the stream \(stream) stores no batches: \(error.sentence)",
        next: "set allow_atomic of the stream, on servers from \(ServerVersion.oldest) on")
    default: return nil
    }
  }

  /// The broker lacks what it had.
  static func wentBack(_ what: String) -> CarrierError {
    CarrierError(
      .unfit, what: what + "; the broker was put back to an earlier state, or is another one",
      next: "put back what it has lost, or ship to a new place from the store that has most")
  }
}
