/** Memory of a thread that reads or writes a card, in MiB of JavaScript objects: twenty times the largest card's JSON. */
export const cardThreadMemoryMb = 512;

/** Time for reading or writing one card, in milliseconds; a card of 8 MiB takes one second. */
export const cardTimeoutMs = 20_000;

/** Cards read or written at once: each takes a core and up to {@link cardThreadMemoryMb}. */
export const maxCardThreads = 2;

/** Time after which an idle thread ends, in milliseconds; a start takes a quarter of a second of a core. */
export const idleCardThreadMs = 10_000;

/** Requests that may wait for one of these threads; each holds the upload in memory. */
export const maxWaitingCards = 8;

/** Largest upload of a card, and largest picture, in bytes: a card with its picture. */
export const maxCardBytes = 25 * 2 ** 20;

/** Largest pack sent as JSON, in bytes: cards have no picture there, and lorebooks are small compared to it. */
export const maxPackBytes = 8 * 2 ** 20;

/** Issues of an invalid pack that are reported in one response. */
export const maxPackIssues = 100;
