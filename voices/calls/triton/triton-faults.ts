import { Metadata, status as grpcStatus, type ServiceError } from '@grpc/grpc-js';
import { EngineError } from '../../engine.ts';
import { brokenOff, type Upstream } from '../http-faults.ts';

/** Progress of a call at the time it failed. */
export type CallStage = 'connecting' | 'asked' | 'answering';

/** Maps a failed call's gRPC status; repeats none of its text, which may contain the conversation. */
export function grpcFault(upstream: Upstream, cause: unknown, stage: CallStage): EngineError {
  if (cause instanceof EngineError) return cause;
  const { name, settingNames } = upstream;
  const { code, metadata } = cause as Partial<ServiceError>;
  const word = code === undefined ? '' : ` (${grpcStatus[code]})`;
  const fault = (kind: EngineError['code'], detail: string): EngineError =>
    new EngineError(name, kind, detail, undefined, { retryAfterMs: pushbackMs(metadata) });
  switch (code) {
    case grpcStatus.UNAUTHENTICATED:
    case grpcStatus.PERMISSION_DENIED:
      return fault('ENGINE_REFUSED', `the server rejected the key${word}. Check ${settingNames.key}.`);
    case grpcStatus.NOT_FOUND:
    case grpcStatus.UNIMPLEMENTED:
      return fault(
        'ENGINE_REFUSED',
        `the server does not know the model or the service${word}. Check ${settingNames.model}, and that ${settingNames.baseUrl} names its gRPC port.`,
      );
    case grpcStatus.INVALID_ARGUMENT:
    case grpcStatus.FAILED_PRECONDITION:
    case grpcStatus.OUT_OF_RANGE:
      return fault(
        'ENGINE_REFUSED',
        `the model rejected the request${word}. Check ${settingNames.model}, "dialect" and the server's log.`,
      );
    case grpcStatus.DEADLINE_EXCEEDED:
      return fault('ENGINE_TIMEOUT', `the server timed out${word}`);
    case grpcStatus.RESOURCE_EXHAUSTED:
      // An overloaded server says so before it answers; after that, the response is too large for us.
      return stage === 'answering'
        ? fault('ENGINE_BAD_REPLY', `the server sent a message over 64 MiB. Check ${settingNames.baseUrl}.`)
        : fault('ENGINE_UNAVAILABLE', `too many requests, or the quota is used up${word}`);
    case grpcStatus.UNAVAILABLE:
    case grpcStatus.CANCELLED:
      return stage === 'connecting'
        ? fault(
            'ENGINE_UNAVAILABLE',
            `the server cannot be reached${word}. Check ${settingNames.baseUrl}, that it names the gRPC port, and that the server runs.`,
          )
        : stage === 'answering'
          ? brokenOff(upstream)
          : fault(
              'ENGINE_UNAVAILABLE',
              `the server is not ready, or closed the connection${word}. Is it loading its model?`,
            );
    default:
      return fault('ENGINE_UNAVAILABLE', `the server failed${word}. Check its log.`);
  }
}

/** Delay requested by the server through gRPC's own metadata, in milliseconds. */
function pushbackMs(metadata: Metadata | undefined): number | undefined {
  const [value] = metadata?.get('grpc-retry-pushback-ms') ?? [];
  const ms = Number(value);
  if (value === undefined || Number.isNaN(ms)) return undefined;
  // Negative: never retry.
  return ms < 0 ? Number.POSITIVE_INFINITY : ms;
}
