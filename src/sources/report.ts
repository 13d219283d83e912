/** Reports what is wrong with a source: each finding in the log, a summary as an event. */
import type { Pod } from '../api/pod.ts';
import { podTitle } from '../api/pod-traits.ts';
import type { Logger } from '../base/logger.ts';
import type { Place } from '../base/yaml-tree.ts';
import type { EventPod, RecordEvent } from '../model/event.ts';

export interface Finding {
  /** Undefined: it is about the whole. */
  readonly place: Place | undefined;
  readonly text: string;
}

export interface SourceReading {
  readonly problems: readonly Finding[];
  readonly warnings: readonly Finding[];
}

export interface SourceReport {
  /** What was found in a text. `kept` are the pods that stay as they were because of it. */
  reading(origin: string, reading: SourceReading, kept: readonly Pod[]): void;
  /** Paths that can't be read now, each reported once for as long as that lasts. */
  unreadable(paths: readonly { readonly path: string; readonly text: string }[]): void;
  /** Pods that are left out, reported once each. */
  duplicates(refused: readonly { readonly path: string; readonly pod: Pod; readonly keeper: string }[]): void;
}

/** A text can be wrong in ten thousand places; no one reads them all. */
const MOST_LINES = 20;
const MOST_IN_EVENT = 3;
const MOST_EVENTS = 20;
const REASON = 'FailedValidation';

export function createReport({ log, record }: { readonly log: Logger; readonly record: RecordEvent }): SourceReport {
  let knownProblems = new Set<string>();
  let knownDuplicates = new Set<string>();

  const write = (origin: string, findings: readonly Finding[], line: (place: string, text: string) => void) => {
    for (const { place, text } of findings.slice(0, MOST_LINES)) line(formatPlace(origin, place), text);
    if (findings.length > MOST_LINES) line(origin, `${findings.length - MOST_LINES} more`);
  };

  return {
    reading: (origin, { problems, warnings }, kept) => {
      write(origin, warnings, (place, reason) => log.warn('Doubtful manifest', { place, reason }));
      write(origin, problems, (place, reason) => log.error('Could not process manifest file', { place, reason }));
      if (problems.length === 0) return;
      const message = summarize(origin, problems, kept.length > 0);
      for (const pod of kept.slice(0, MOST_EVENTS)) {
        record({ pod: eventPod(pod), type: 'Warning', reason: REASON, message });
      }
      if (kept.length === 0) record({ node: true, type: 'Warning', reason: REASON, message });
    },
    unreadable: (paths) => {
      for (const { path, text } of paths) {
        if (knownProblems.has(`${path} ${text}`)) continue;
        log.warn('Skipped while looking for manifests', { path, reason: text });
      }
      knownProblems = new Set(paths.map(({ path, text }) => `${path} ${text}`));
    },
    duplicates: (refused) => {
      const now = new Set<string>();
      for (const { path, pod, keeper } of refused) {
        const key = `${path} ${pod.metadata.uid}`;
        now.add(key);
        if (knownDuplicates.has(key)) continue;
        log.warn('Pod left out: another manifest has one of the same name', { pod: podTitle(pod), path, keeper });
        const name = JSON.stringify(pod.metadata.name);
        const message = `Error validating pod ${podTitle(pod)} from ${path} due to duplicate pod name ${name}, ignoring`;
        record({ pod: eventPod(pod), type: 'Warning', reason: REASON, message });
      }
      knownDuplicates = now;
    },
  };
}

function formatPlace(origin: string, place: Place | undefined): string {
  return place === undefined ? origin : `${origin}:${place.line}:${place.column}`;
}

function summarize(origin: string, problems: readonly Finding[], kept: boolean): string {
  const shown = problems.slice(0, MOST_IN_EVENT).map(({ place, text }) => `${formatPlace(origin, place)}: ${text}`);
  const more = problems.length > MOST_IN_EVENT ? `; ${problems.length - MOST_IN_EVENT} more` : '';
  return `Invalid manifest ${shown.join('; ')}${more}${kept ? '; the pod stays as it was before' : ''}`;
}

function eventPod({ metadata: { uid, name, namespace } }: Pod): EventPod {
  return { uid, name, namespace };
}
