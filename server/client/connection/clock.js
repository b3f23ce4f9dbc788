/** @import { TalkClock } from '../types/api.d.ts' */

/** The platform's own timers and random numbers. @type {TalkClock} */
export const platformClock = {
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
};
