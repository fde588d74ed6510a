// What happens to a ticket, in the words of today.

import Strata

/// The events of a ticket. The stream of ticket 42 is `ticket/42`.
public enum TicketEvent: DomainEvent, Equatable {
  case opened(title: String, customer: String, priority: Int)
  case assigned(agent: String)
  case commented(text: String)
  case closed

  public static let eventPrefix = "ticket."

  /// The first version of this program wrote a subject, and knew no priorities.
  public static let upcasts = [
    Upcast("ticket.opened", to: "ticket.opened.2") { opened in
      opened.renameKey("subject", to: "title")
      opened["priority"] = 2
    }
  ]
}

/// A mail that is to be sent. The one about ticket 42 is in the stream `mail/42`, so that it can be erased with it.
public enum MailEvent: DomainEvent, Equatable {
  case queued(to: String, about: String)

  public static let eventPrefix = "mail."
}
