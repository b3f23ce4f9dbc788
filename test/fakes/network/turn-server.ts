import { createHash } from 'node:crypto';
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { classes, Message, methods, parseMessage } from 'werift';

const realm = 'fake.example';
const nonce = Buffer.from('nonce');

/** The relay allocation of one client. */
interface Allocation {
  readonly client: RemoteInfo;
  readonly relay: Socket;
  /** Addresses whose packets are let in (RFC 8656 §9), by IP alone. */
  readonly permitted: Set<string>;
  /** Peers by channel, as `address:port`. */
  readonly channels: Map<number, string>;
}

/**
 * A STUN and TURN server on loopback (RFC 8489, RFC 8656), as far as a call needs one: it requires the password,
 * allocates a relay, and lets in only peers that its client has sent something to.
 */
export async function openTurnServer(options: {
  readonly user?: string;
  readonly credential?: string;
  /** The public address that it reports to clients. */
  readonly mapped?: readonly [address: string, port: number];
}) {
  const { user = 'user', credential = 'credential', mapped } = options;
  const key = createHash('md5').update(`${user}:${realm}:${credential}`).digest();
  const allocations = new Map<string, Allocation>();
  const seen = { relayed: 0, turnedAway: 0, refused: 0 };
  const socket = await bind();

  const answer = (request: Message, kind: classes, to: RemoteInfo, fill: (response: Message) => void): void => {
    const response = new Message(request.messageMethod, kind, request.transactionId);
    fill(response);
    if (request.messageMethod !== methods.BINDING && kind === classes.RESPONSE) response.addMessageIntegrity(key);
    response.addFingerprint();
    socket.send(response.bytes, to.port, to.address);
  };
  const allocate = async (client: RemoteInfo): Promise<Allocation> => {
    const allocation: Allocation = { client, relay: await bind(), permitted: new Set(), channels: new Map() };
    allocation.relay.on('message', (data, peer) => letIn(allocation, data, peer));
    allocations.set(nameOf(client), allocation);
    return allocation;
  };
  const letIn = ({ client, permitted, channels }: Allocation, data: Buffer, peer: RemoteInfo): void => {
    if (!permitted.has(peer.address)) return void (seen.turnedAway += 1);
    seen.relayed += 1;
    const channel = [...channels].find(([, name]) => name === nameOf(peer))?.[0];
    if (channel === undefined) {
      const indication = new Message(methods.DATA, classes.INDICATION)
        .setAttribute('XOR-PEER-ADDRESS', [peer.address, peer.port])
        .setAttribute('DATA', data);
      return socket.send(indication.bytes, client.port, client.address);
    }
    const head = Buffer.alloc(4);
    head.writeUInt16BE(channel, 0);
    head.writeUInt16BE(data.length, 2);
    socket.send(Buffer.concat([head, data]), client.port, client.address);
  };
  const serve = async (request: Message, data: Buffer, client: RemoteInfo): Promise<void> => {
    const seenAs = mapped ?? [client.address, client.port];
    const mine = (response: Message): void => void response.setAttribute('XOR-MAPPED-ADDRESS', [...seenAs]);
    if (request.messageMethod === methods.BINDING) return answer(request, classes.RESPONSE, client, mine);
    if (!request.attributesKeys.includes('MESSAGE-INTEGRITY') || parseMessage(data, key) === undefined) {
      seen.refused += 1;
      return answer(request, classes.ERROR, client, (response) =>
        response
          .setAttribute('ERROR-CODE', [401, 'Unauthorized'])
          .setAttribute('REALM', realm)
          .setAttribute('NONCE', nonce),
      );
    }
    const allocation = allocations.get(nameOf(client)) ?? (await allocate(client));
    const peer = request.getAttributeValue('XOR-PEER-ADDRESS') as [string, number] | undefined;
    if (peer !== undefined) allocation.permitted.add(peer[0]);
    if (request.messageMethod === methods.CHANNEL_BIND && peer !== undefined)
      allocation.channels.set(Number(request.getAttributeValue('CHANNEL-NUMBER')), peer.join(':'));
    answer(request, classes.RESPONSE, client, (response) => {
      const { address, port } = allocation.relay.address();
      mine(response);
      response.setAttribute('XOR-RELAYED-ADDRESS', [address, port]).setAttribute('LIFETIME', 600);
    });
  };
  const sendOn = (data: Buffer, client: RemoteInfo): void => {
    const allocation = allocations.get(nameOf(client));
    const [address, port] = allocation?.channels.get(data.readUInt16BE(0))?.split(':') ?? [];
    const payload = data.subarray(4, 4 + data.readUInt16BE(2));
    if (address !== undefined) allocation?.relay.send(payload, Number(port), address);
  };
  socket.on('message', (data, client) => {
    // The first two bits tell channel data from STUN.
    if (((data[0] ?? 0) & 0xc0) === 0x40) return sendOn(data, client);
    const request = parseMessage(data);
    if (request?.messageClass === classes.REQUEST) void serve(request, data, client);
  });
  return {
    port: socket.address().port,
    seen,
    [Symbol.dispose]() {
      for (const one of [socket, ...[...allocations.values()].map(({ relay }) => relay)]) one.close();
    },
  };
}

function nameOf({ address, port }: RemoteInfo): string {
  return `${address}:${port}`;
}

async function bind(): Promise<Socket> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return socket;
}
