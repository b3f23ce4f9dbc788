import { describe, expect, it } from 'vitest';
import { createCircuitBreaker, type CircuitBreaker } from '../../../voices/calls/circuit-breaker.ts';

function atTime(settings: { failureCount?: number; restMs?: number } = {}): {
  circuit: CircuitBreaker;
  clock: { nowMs: number };
} {
  const clock = { nowMs: 0 };
  return { clock, circuit: createCircuitBreaker({ ...settings, now: () => clock.nowMs }) };
}

describe('circuit breaker', () => {
  it('the circuit breaker lets calls through until enough have failed in a row', () => {
    const { circuit } = atTime({ failureCount: 3 });
    circuit.failed('ENGINE_TIMEOUT');
    circuit.failed('ENGINE_TIMEOUT');
    circuit.succeeded();
    circuit.failed('ENGINE_TIMEOUT');
    circuit.failed('ENGINE_TIMEOUT');
    expect(circuit.enter()).toBeUndefined();
    circuit.failed('ENGINE_REFUSED');
    expect(circuit.enter()).toBe('ENGINE_REFUSED');
    expect(circuit.openBecause()).toBe('ENGINE_REFUSED');
  });

  it('the half-open circuit breaker lets one trial call through and refuses others until it ends', () => {
    const { circuit, clock } = atTime({ failureCount: 1, restMs: 100 });
    circuit.failed('ENGINE_UNAVAILABLE');
    clock.nowMs = 99;
    expect(circuit.enter()).toBe('ENGINE_UNAVAILABLE');
    clock.nowMs = 100;
    expect([circuit.enter(), circuit.enter()]).toEqual([undefined, 'ENGINE_UNAVAILABLE']);
    circuit.succeeded();
    expect([circuit.enter(), circuit.enter()]).toEqual([undefined, undefined]);
  });

  it('the circuit breaker opens again when the trial call fails', () => {
    const { circuit, clock } = atTime({ failureCount: 1, restMs: 100 });
    circuit.failed('ENGINE_UNAVAILABLE');
    clock.nowMs = 100;
    expect(circuit.enter()).toBeUndefined();
    circuit.failed('ENGINE_TIMEOUT');
    clock.nowMs = 199;
    expect(circuit.enter()).toBe('ENGINE_TIMEOUT');
    clock.nowMs = 200;
    expect(circuit.enter()).toBeUndefined();
  });

  it('the circuit breaker lets the next call try if the trial call was aborted', () => {
    const { circuit, clock } = atTime({ failureCount: 1, restMs: 100 });
    circuit.failed('ENGINE_UNAVAILABLE');
    clock.nowMs = 100;
    expect(circuit.enter()).toBeUndefined();
    circuit.left();
    expect(circuit.enter()).toBeUndefined();
  });
});
