import type { Problem } from '../../session/contract/events.ts';

/** The parts of a client's offer that are used. */
export interface Offer {
  /** The offer for the WebRTC library, with unsupported parts removed. */
  readonly sdp: string;
  /** True if the offer has a data channel for events. */
  readonly hasEvents: boolean;
  /** True if the client can start the DTLS handshake. It knows when it is ready; the server would have to retry. */
  readonly clientStartsDtls: boolean;
  readonly audio: {
    /** Identifies the audio section in offer and answer. */
    readonly mid: string;
    readonly payloadType: number;
    /** Direction of the audio, seen from the client. */
    readonly sends: boolean;
    readonly receives: boolean;
  };
}

/** Limits of an offer; a section may take a socket. */
const mostCharacters = 100_000;
const mostSections = 16;

/** Lines needed to connect to a client and to verify it. */
const needed = ['a=ice-ufrag:', 'a=ice-pwd:', 'a=fingerprint:'];

/**
 * Reads an SDP offer. Accepts its first audio section, with Opus, and its data channels; other sections are declined.
 * Candidates are removed: the client connects to the server, not the other way round. So the server cannot be made to
 * send packets to arbitrary addresses, and names known only in the client's network (mDNS) do not matter.
 */
export function readOffer(sdp: string): Offer | Problem {
  const [head = [], ...sections] = splitSections(sdp);
  const channels = sections.filter(isChannels);
  if (sdp.length > mostCharacters || sections.length > mostSections || channels.length > 1) {
    return badOffer('The offer is too large.');
  }
  if (head[0] !== 'v=0') return badOffer('The body is not SDP. Send the unmodified offer of the peer connection.');
  const chosen = sections.findIndex((section) => section[0]?.startsWith('m=audio ') === true && !isDeclined(section));
  const audio = sections[chosen];
  if (audio === undefined)
    return badOffer('The offer has no audio. Add an audio track or transceiver before offering.');
  const payloadType = Number(valueOf(audio, /^a=rtpmap:(\d{1,3}) opus\/48000\/2$/i) ?? Number.NaN);
  if (!(payloadType <= 127)) return badOffer('The offer has no Opus (a=rtpmap:… opus/48000/2) in its audio section.');
  const mid = valueOf(audio, /^a=mid:([\w+.~-]{1,64})$/);
  if (mid === undefined) return badOffer('The audio section of the offer has no usable a=mid line.');
  const missing = needed.find((name) => ![...head, ...audio].some((line) => line.startsWith(name)));
  if (missing !== undefined) return badOffer(`The offer has no ${missing}… line for its audio.`);
  const direction = valueOf(audio, /^a=(sendrecv|sendonly|recvonly|inactive)$/) ?? 'sendrecv';
  const kept = sections.map((section, index) =>
    index === chosen || isChannels(section) ? section : declined(section),
  );
  const lines = [head, ...kept].flat().filter((line) => !/^a=(candidate:|end-of-candidates)/.test(line));
  return {
    sdp: `${lines.join('\r\n')}\r\n`,
    hasEvents: channels.some((section) => !isDeclined(section)),
    clientStartsDtls: [...head, ...audio].includes('a=setup:actpass'),
    audio: { mid, payloadType, sends: direction.startsWith('send'), receives: /recv/.test(direction) },
  };
}

/** Returns the lines before the first `m=`, then those of each section. */
function splitSections(sdp: string): string[][] {
  const sections: string[][] = [[]];
  for (const line of sdp.split(/\r\n|\r|\n/)) {
    if (line.startsWith('m=')) sections.push([]);
    if (line !== '') sections.at(-1)?.push(line);
  }
  return sections;
}

function valueOf(section: readonly string[], pattern: RegExp): string | undefined {
  for (const line of section) {
    const value = pattern.exec(line)?.[1];
    if (value !== undefined) return value;
  }
  return undefined;
}

function isChannels(section: readonly string[]): boolean {
  return section[0]?.startsWith('m=application ') === true;
}

/** Port 0 declines a section. */
function isDeclined(section: readonly string[]): boolean {
  return /^m=\w+ 0 /.test(section[0] ?? '') && !section.includes('a=bundle-only');
}

function declined(section: readonly string[]): string[] {
  return section
    .filter((line) => line !== 'a=bundle-only')
    .map((line, index) => (index === 0 ? line.replace(/^(m=\w+) \d+ /, '$1 0 ') : line));
}

function badOffer(message: string): Problem {
  return { code: 'invalid_value', message, param: 'sdp' };
}
