import type { Problem } from '../../session/contract/events.ts';

/** What a client offers, as far as we take it up. */
export interface Offer {
  /** The offer as the WebRTC library is to see it: without what we do not want of it. */
  readonly sdp: string;
  /** Whether there will be data channels, for events. */
  readonly hasEvents: boolean;
  /** Whether the client would begin the DTLS handshake: it knows when it is ready, we would have to try. */
  readonly letsUsWait: boolean;
  readonly audio: {
    /** Names the audio section, in offer and answer. */
    readonly mid: string;
    /** RTP payload type of Opus. */
    readonly payloadType: number;
    /** Whether the client sends sound, and whether it wants any. */
    readonly sends: boolean;
    readonly receives: boolean;
  };
}

/** Bounds of an offer; a section may cost a socket. */
const mostCharacters = 100_000;
const mostSections = 16;

/** Without these nobody can be connected to, or known to be who they are. */
const needed = ['a=ice-ufrag:', 'a=ice-pwd:', 'a=fingerprint:'];

/**
 * Reads an offer in SDP. We take up its first audio section, by Opus, and its data channels; other sections are declined.
 * Its addresses are left out: a client reaches us and not the other way round, so that nobody can have us send packets to
 * addresses of their choice, and names that only the client's network knows (mDNS) do not matter.
 */
export function readOffer(sdp: string): Offer | Problem {
  const [head = [], ...sections] = splitSections(sdp);
  const channels = sections.filter(isChannels);
  if (sdp.length > mostCharacters || sections.length > mostSections || channels.length > 1) {
    return badOffer('The offer is larger than any that a browser makes.');
  }
  if (head[0] !== 'v=0') return badOffer('The body is no SDP. Send the offer of the peer connection as it is.');
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
    letsUsWait: [...head, ...audio].includes('a=setup:actpass'),
    audio: { mid, payloadType, sends: direction.startsWith('send'), receives: /recv/.test(direction) },
  };
}

/** The lines before the first `m=`, then those of each section. */
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

/** Port 0 says no to a section. */
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
