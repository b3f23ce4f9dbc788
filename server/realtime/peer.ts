import type { OutgoingAudio, WireEvent } from './wire-event.ts';

/** The other end of a connection, on any transport. */
export interface Peer {
  /** Sends one server event. Returns false if the client stopped reading and must be disconnected. */
  send(event: ServerEvent): boolean;
  /** If given, takes the audio of replies instead of `response.output_audio.delta`. */
  sendAudio?(audio: OutgoingAudio): boolean;
  /** If given, is awaited before the first event of a reply. */
  beforeReply?(replyId: string): Promise<void>;
  /**
   * Asks for a sign of life, which arrives after all that the client has sent; absent if nothing can be stuck on its
   * way.
   */
  probe?(answered: () => void): void;
  /**
   * Takes every message that came as text, unchecked, before the session does. Returns false if the session is not to
   * take it: it came before, or was meant for the transport.
   */
  admits?(message: unknown): boolean;
}

/** A client's variant of the protocol. Its reply audio goes out as events. */
export interface Dialect {
  /** Returns what the client is sent for an event. */
  readonly fromServer: (event: ServerEvent) => readonly ServerEvent[];
  /** Returns a client's message as GA has it, unchecked. */
  readonly fromClient: (message: unknown) => unknown;
}

/** A server event of OpenAI Realtime (GA), complete. */
export type ServerEvent = WireEvent & { readonly event_id: string };
