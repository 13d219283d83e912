/** SIGHUP, or a changed file: reads the configuration again, applies what a running kubelet can change, and logs the rest. */
import type { Logger } from '../base/logger.ts';
import { type Config, type ConfigOutcome, diffConfigs } from './config.ts';
import { withLiveFields } from './live.ts';

export interface ReloadDeps {
  readonly log: Logger;
  /** Reads everything again, as at the start. */
  readonly read: () => ConfigOutcome;
  /** Applies the fields that a running kubelet can change. */
  readonly apply: (config: Config) => void;
  /** Nothing of it is applied; the configuration before it stays in use. */
  readonly onRefused?: (problems: readonly string[]) => void;
}

export function createReload(atStart: Config, { log, read, apply, onRefused }: ReloadDeps): () => void {
  let running = atStart;
  return () => {
    const outcome = read();
    if (outcome.kind === 'print') return;
    for (const warning of outcome.warnings) log.warn(warning);
    if (outcome.kind === 'refused') {
      log.error('Failed to reload the configuration, the old one stays in use', {
        problems: outcome.problems.join('\n'),
      });
      onRefused?.(outcome.problems);
      return;
    }
    const changes = diffConfigs(running, outcome.config);
    for (const { path, before, after, live } of changes) {
      log.info('Configuration changed', {
        field: path,
        before,
        after,
        takesEffect: live ? 'now' : 'at the next start',
      });
    }
    running = withLiveFields(running, outcome.config);
    apply(running);
    const waiting = changes.filter(({ live }) => !live).length;
    log.info('Configuration reloaded', { changes: changes.length, needRestart: waiting });
  };
}
