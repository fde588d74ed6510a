// The server: sockets, and nothing else. What is answered, and to whom, is decided by `Inspector`.

import HTTPTypes
import Hummingbird
import HummingbirdCore
import LogreplayInspect
import Logging
import NIOCore
import Synchronization

/// Serves an inspector on 127.0.0.1, and on ::1 where that exists, until the process is asked to end.
struct PageServer {
  var port: Int

  /// A connection that says nothing for this long is closed; one that follows the store is sent something sooner.
  private static let idleTimeout: TimeAmount = .seconds(60)
  private static let connectionCountMax = 64
  private static let fieldCountMax = 64

  /// - Parameter begin: makes the inspector, once the port is known.
  func run(_ begin: @escaping @Sendable (_ port: Int) throws -> Inspector) async throws {
    let inspector = Held()
    let first = application("127.0.0.1", port, inspector) { port in
      do {
        inspector.set(try begin(port))
      } catch {
        return
      }
      // Beside the first one, which begins once this returns: a name such as localhost may lead to either.
      let second = application("::1", port, inspector) { _ in }
      Task { try? await second.run() }
    }
    // Nothing has to be put in order at the end, so a signal ends the process at once.
    try await first.run()
  }

  private func application(
    _ host: String, _ port: Int, _ inspector: Held, _ isRunning: @escaping @Sendable (Int) async -> Void
  ) -> some ApplicationProtocol {
    var logger = Logger(label: "logreplay-inspect")
    logger.logLevel = .critical
    return Application(
      responder: CallbackResponder { (request: Request, _: BasicRequestContext) in
        await Self.response(to: request, inspector)
      },
      server: .http1(
        configuration: .init(
          idleTimeout: Self.idleTimeout,
          httpDecoderConfiguration: .init(
            maxHeaderFieldSize: InspectLimits.headLengthMax, maxHeaderListSize: InspectLimits.headLengthMax,
            maxHeaderFieldCount: Self.fieldCountMax))),
      configuration: ApplicationConfiguration(
        address: .hostname(host, port: port),
        availableConnectionsDelegate: MaximumAvailableConnections(Self.connectionCountMax)),
      onServerRunning: { channel in await isRunning(channel.localAddress?.port ?? port) },
      logger: logger)
  }

  private static func response(to request: Request, _ held: Held) async -> Response {
    guard let inspector = held.inspector else { return Response(status: .serviceUnavailable) }
    var headers = request.headers.map { (name: $0.name.canonicalName, value: $0.value) }
    if let authority = request.head.authority { headers.append(("host", authority)) }
    let answer = await inspector.response(
      to: InspectRequest(
        method: request.method.rawValue, target: request.head.path ?? "", headers: headers))
    var fields = HTTPFields()
    for header in answer.headers {
      if let name = HTTPField.Name(header.name) { fields.append(HTTPField(name: name, value: header.value)) }
    }
    let status = HTTPResponse.Status(code: answer.status)
    switch answer.body {
    case .bytes(let bytes):
      return Response(status: status, headers: fields, body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    case .feed:
      guard let feed = inspector.feed() else { return Response(status: .serviceUnavailable, headers: fields) }
      return Response(
        status: status, headers: fields,
        body: ResponseBody { writer in
          for await piece in feed { try await writer.write(ByteBuffer(bytes: piece)) }
          try await writer.finish(nil)
        })
    }
  }
}

/// The inspector, which is there once the port is known.
private final class Held: Sendable {
  private let value = Mutex<Inspector?>(nil)

  var inspector: Inspector? { value.withLock { $0 } }

  func set(_ inspector: Inspector) { value.withLock { $0 = inspector } }
}
