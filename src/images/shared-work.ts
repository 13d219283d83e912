/**
 * Work that several callers may request at once and that is done once. Each caller can leave by its own signal; when the last one
 * has left, the work is cancelled, and the next caller starts it again.
 */
import { raceSignal } from './race-signal.ts';

export interface SharedWork<T> {
  /** Joins the work of this key that is under way, or begins it. Rejects with the signal's reason as soon as it aborts. */
  join(key: string, begin: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T>;
  size(): number;
}

interface Flight<T> {
  readonly result: Promise<T>;
  readonly controller: AbortController;
  callers: number;
}

const ALL_LEFT = 'no one waits for it any more';

export function createSharedWork<T>(): SharedWork<T> {
  const flights = new Map<string, Flight<T>>();

  const start = (key: string, begin: (signal: AbortSignal) => Promise<T>): Flight<T> => {
    const controller = new AbortController();
    const flight: Flight<T> = { result: begin(controller.signal), controller, callers: 0 };
    const land = () => {
      if (flights.get(key) === flight) flights.delete(key);
    };
    // Callers see the outcome themselves; this only removes it from the list, also when all of them have left.
    flight.result.then(land, land);
    flights.set(key, flight);
    return flight;
  };

  return {
    size: () => flights.size,
    join: async (key, begin, signal) => {
      signal.throwIfAborted();
      const flight = flights.get(key) ?? start(key, begin);
      flight.callers += 1;
      try {
        return await raceSignal(flight.result, signal);
      } finally {
        flight.callers -= 1;
        if (flight.callers === 0 && flights.get(key) === flight) {
          flights.delete(key);
          flight.controller.abort(ALL_LEFT);
        }
      }
    },
  };
}
