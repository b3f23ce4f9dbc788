import { serveProcess } from '../runtime/process-serve.ts';
import { createSession } from './create-session.ts';
import { openDeviceSessions, type DeviceAnswer, type DeviceRequest, type DeviceSessions } from './device-sessions.ts';

/** The process that runs models on the GPU, one run at a time. */
serveProcess<{ readonly gpuMemoryMb: number | undefined }, DeviceSessions, DeviceRequest, DeviceAnswer>({
  async load({ gpuMemoryMb }) {
    return openDeviceSessions(createSession, gpuMemoryMb);
  },
  async answer(sessions, request, { tell }) {
    tell('open' in request ? await sessions.open(request.open) : await sessions.run(request));
  },
});
