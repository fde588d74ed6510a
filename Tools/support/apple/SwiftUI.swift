// Signatures of SwiftUI as Apple documents them, as far as the example calls them: nothing happens here.

@_exported public import Foundation

@MainActor @preconcurrency public protocol View {
  associatedtype Body: View

  @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}

extension Never: View {
  public var body: Never { preconditionFailure("signatures only") }
}

@resultBuilder public enum ViewBuilder {
  public static func buildBlock() -> EmptyView { EmptyView() }
  public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
  public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<
    (repeat each Content)
  > {
    TupleView()
  }
  public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
  public static func buildEither<First: View, Second: View>(first: First) -> ConditionalContent<First, Second>
  {
    ConditionalContent()
  }
  public static func buildEither<First: View, Second: View>(second: Second) -> ConditionalContent<
    First, Second
  > {
    ConditionalContent()
  }
}

/// A view without parts of its own.
public protocol Leaf: View where Body == Never {}

extension Leaf {
  public var body: Never { preconditionFailure("signatures only") }
}

extension Optional: View where Wrapped: View {
  public var body: Never { preconditionFailure("signatures only") }
}

public struct EmptyView: Leaf { public init() {} }
public struct TupleView<Parts>: Leaf { init() {} }
public struct ConditionalContent<First: View, Second: View>: Leaf { init() {} }

public struct Text: Leaf {
  public init<Words: StringProtocol>(_ content: Words) {}
}

public struct List<Content: View>: Leaf {
  public init(@ViewBuilder content: () -> Content) {}
}

public struct Section<Content: View>: Leaf {
  public init<Words: StringProtocol>(_ title: Words, @ViewBuilder content: () -> Content) {}
}

public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content: View>: Leaf {
  public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content)
  where Data.Element: Identifiable, ID == Data.Element.ID {}
}

public struct Animation: Equatable, Sendable {
  public static let `default` = Animation()
}

public struct Alignment: Sendable {
  public static let center = Alignment()
}

extension View {
  public func overlay<Content: View>(
    alignment: Alignment = .center, @ViewBuilder content: () -> Content
  ) -> some View { self }
  public func animation<Value: Equatable>(_ animation: Animation?, value: Value) -> some View { self }
}
