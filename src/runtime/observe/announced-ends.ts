/** Ends that the runtime's events have reported and its status may not show yet, by the id of the container or sandbox. */
import type { Clock } from '../../base/clock.ts';
import type { AnnouncedEnd } from '../../model/observation.ts';

export interface AnnouncedEnds {
  note(id: string, end: AnnouncedEnd): void;
  /** The runtime has cleared it away: its status follows within milliseconds. */
  noteDeleted(id: string): void;
  get(id: string): AnnouncedEnd | undefined;
  /** The runtime shows the end by now, or does not know the container any more. */
  forget(ids: readonly string[]): void;
  /** In how many ms to look again for what was announced for one of these; undefined where nothing was. */
  lookAgainIn(ids: readonly string[], eventFollows: boolean): number | undefined;
}

interface Entry extends AnnouncedEnd {
  readonly announcedAt: number;
  readonly deletedAt?: number;
}

/**
 * A runtime that has not followed its own event for so long is believed again. Not sooner: the machine may be slow to clear a
 * container away, and the container that took its place must not be taken for a double then.
 */
export const BELIEVED_FOR_MS = 60_000;
/** After it was cleared away its status changes within milliseconds, and never before: an earlier reading is for an event that was lost. */
const FIRST_LOOK_MS = { deleted: 8, notDeleted: 100 };

export function createAnnouncedEnds(clock: Clock): AnnouncedEnds {
  // In the order in which they were announced.
  const entries = new Map<string, Entry>();
  const prune = (now: number): void => {
    for (const [id, { announcedAt }] of entries) {
      if (now - announcedAt < BELIEVED_FOR_MS) return;
      entries.delete(id);
    }
  };
  const get = (id: string): Entry | undefined => {
    prune(clock.mono());
    return entries.get(id);
  };
  return {
    note: (id, end) => {
      // Announced twice, the first one counts.
      if (get(id) === undefined) entries.set(id, { ...end, announcedAt: clock.mono() });
    },
    noteDeleted: (id) => {
      const entry = get(id);
      if (entry !== undefined) entries.set(id, { ...entry, deletedAt: clock.mono() });
    },
    get,
    forget: (ids) => {
      for (const id of ids) entries.delete(id);
    },
    lookAgainIn: (ids, eventFollows) => {
      const now = clock.mono();
      const waits = ids
        .map(get)
        .filter((entry) => entry !== undefined)
        .map((entry) => (eventFollows ? timeLeft(entry, now) : Math.min(sameAgain(entry, now), timeLeft(entry, now))));
      return waits.length === 0 ? undefined : Math.min(...waits);
    },
  };
}

const timeLeft = ({ announcedAt }: Entry, now: number): number => announcedAt + BELIEVED_FOR_MS - now;

/** As long again as has passed: often while it is due, less and less after. */
const sameAgain = ({ announcedAt, deletedAt }: Entry, now: number): number =>
  deletedAt === undefined
    ? Math.max(now - announcedAt, FIRST_LOOK_MS.notDeleted)
    : Math.max(now - deletedAt, FIRST_LOOK_MS.deleted);
