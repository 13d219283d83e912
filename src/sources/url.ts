/**
 * Pods from a URL, requested at every check interval. A server that is down, slow or sends garbage changes nothing: the last
 * good answer counts.
 */
import type { Pod } from '../api/pod.ts';
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import { linkSignal, withDeadline } from '../base/signal.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { RecordEvent } from '../model/event.ts';
import { httpGet } from './http-get.ts';
import type { LastGood } from './last-good.ts';
import { createManifestReader } from './manifest-reader.ts';
import { createReport } from './report.ts';
import type { ManifestRules } from './rules/manifest.ts';
import { settleNames } from './rules/manifest-files.ts';
import { decodeText, LONGEST_MANIFEST } from './stable-file.ts';

export interface UrlSourceConfig {
  readonly url: string;
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly checkEveryMs: number;
}

export interface UrlSourceDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly rules: ManifestRules;
  readonly record: RecordEvent;
  readonly lastGood: LastGood;
  readonly onPods: (pods: readonly Pod[], heard: boolean) => void;
}

/** As long as the reference waits for the whole answer. */
const ANSWER_WITHIN_MS = 10_000;

export function createUrlSource(config: UrlSourceConfig, deps: UrlSourceDeps): Part {
  const { clock, log } = deps;
  const stopping = linkSignal();
  const check = createCheck(config, deps);
  let running: Promise<void> = Promise.resolve();
  let problem: string | undefined;

  const checkOnce = async () => {
    try {
      await check.once(stopping.signal);
      if (problem !== undefined) log.info('Successfully read pods from URL', { url: shown(config.url) });
      problem = undefined;
    } catch (error) {
      if (stopping.signal.aborted) return;
      const text = describeError(error);
      const reporter = text === problem ? log.v(4) : log;
      reporter?.warn('Failed to read pods from URL', { url: shown(config.url), err: text });
      problem = text;
      await check.recall(stopping.signal);
    }
  };

  const rest = () => clock.sleep(config.checkEveryMs, stopping.signal);

  return {
    name: 'URL source',
    start: () => {
      running = deps.supervisor.run({ name: 'URL source', pass: checkOnce, rest }, stopping.signal);
    },
    stop: async () => {
      stopping.abort('stopped');
      await running;
      await deps.lastGood.settled();
    },
  };
}

interface Check {
  /** One request. Rejects where there was no usable answer. */
  once(signal: AbortSignal): Promise<void>;
  /** Goes on with the pods that an earlier kubelet got, if this one has got none yet. */
  recall(signal: AbortSignal): Promise<void>;
}

function createCheck(config: UrlSourceConfig, deps: UrlSourceDeps): Check {
  const origin = shown(config.url);
  const report = createReport(deps);
  const reader = createManifestReader({ ...deps, report });
  let etag: string | undefined;
  let last: string | undefined;
  let pods: readonly Pod[] | undefined;
  // A source that has only sent garbage counts as not ready: its pods are not known.
  let everGood = false;

  const ask = async (signal: AbortSignal) => {
    const url = URL.parse(config.url);
    if (url === null) throw new Error(`${origin} is not a URL`);
    using deadline = withDeadline(deps.clock, ANSWER_WITHIN_MS, origin, signal);
    const headers = etag === undefined ? config.headers : { ...config.headers, 'If-None-Match': [etag] };
    return await httpGet(url, { headers, longestBody: LONGEST_MANIFEST }, deadline.signal);
  };

  const publish = (now: readonly Pod[]) => {
    const settled = settleNames([{ path: origin, pods: now }], new Map());
    report.duplicates(settled.refused);
    pods = settled.pods;
    deps.onPods(pods, everGood);
  };

  return {
    recall: async (signal) => {
      if (pods !== undefined) return;
      const known = await reader.recall(origin, signal);
      if (known.length > 0) publish(known);
    },
    once: async (signal) => {
      const answer = await ask(signal);
      if (answer.status === 304 && etag !== undefined) return;
      if (answer.status !== 200) throw new Error(`the server answered with status ${answer.status}`);
      const content = decodeText(answer.body);
      if (content.kind !== 'text') throw new Error(content.problem);
      etag = answer.etag;
      // Without an ETag only a comparison shows whether the text is the same.
      if (content.text === last) return;
      last = content.text;
      const { pods: now, isGood } = await reader.read(origin, content, pods, signal);
      everGood ||= isGood;
      publish(now);
    },
  };
}

/** A URL can contain a password or a token: neither belongs in a log. */
function shown(url: string): string {
  const parsed = URL.parse(url);
  return parsed === null ? 'the static pod URL' : `${parsed.origin}${parsed.pathname}`;
}
