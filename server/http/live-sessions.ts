import type { WebSocket } from 'ws';

/** RFC 6455 §7.4.1: the server goes away. */
const goingAway = 1001;

/** The conversations under way, for counting, for the health page and for a clean stop. */
export class LiveSessions {
  readonly #sockets = new Set<WebSocket>();
  #opened = 0;

  get active(): number {
    return this.#sockets.size;
  }

  get opened(): number {
    return this.#opened;
  }

  add(socket: WebSocket): void {
    this.#opened += 1;
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  /** Tells every client that the server goes away. */
  closeAll(): void {
    for (const socket of this.#sockets) socket.close(goingAway, 'the server is stopping');
  }
}
