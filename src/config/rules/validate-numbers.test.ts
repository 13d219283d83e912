import { judgeAll, type Row } from '../judge-testing.ts';
import type { FieldOf } from './validation-input.ts';

/** Each field with its lowest and highest good value, if it has a highest one. */
const ranges: readonly (readonly [FieldOf<number>, number, number?])[] = [
  ['port', 1, 65_535],
  ['readOnlyPort', 0, 65_535],
  ['healthzPort', 0, 65_535],
  ['nodeLeaseDurationSeconds', 1],
  ['nodeStatusMaxImages', -1],
  ['eventRecordQPS', 0],
  ['eventBurst', 0],
  ['kubeAPIQPS', 0],
  ['kubeAPIBurst', 0],
  ['registryPullQPS', 0],
  ['registryBurst', 0],
  ['iptablesMasqueradeBit', 0, 31],
  ['iptablesDropBit', 0, 31],
  ['maxOpenFiles', 0],
  ['maxPods', 0],
  ['podsPerCore', 0],
  ['oomScoreAdj', -1000, 1000],
  ['containerLogMaxFiles', 2],
  ['containerLogMaxWorkers', 1],
];

const rows: Record<string, Row> = {};
for (const [field, min, max] of ranges) {
  rows[`${field} at its lowest`] = { config: { [field]: min } };
  // Zero counts as "not written" for some of these, so the bad value is taken well below.
  const below = Math.min(min - 1, -1) - (min < 0 ? 1 : 0);
  rows[`${field} too low`] = { config: { [field]: below }, problems: [field] };
  if (max === undefined) continue;
  rows[`${field} at its highest`] = { config: { [field]: max } };
  rows[`${field} too high`] = { config: { [field]: max + 1 }, problems: [field] };
}
judgeAll(rows);

judgeAll({
  'container logs, one file': { config: { containerLogMaxFiles: 1 }, problems: [/must be 2 or more/] },
  'container logs, no worker': { config: { containerLogMaxWorkers: 0 }, problems: ['containerLogMaxWorkers'] },
  'image GC over 100': { config: { imageGCHighThresholdPercent: 101 }, problems: [/between 0 and 100/] },
  'sync frequency negative': { config: { syncFrequency: -1 }, problems: [/syncFrequency: must be greater than zero/] },
  'log monitor at 3 s': { config: { containerLogMonitorInterval: 3000 } },
  'log monitor below 3 s': { config: { containerLogMonitorInterval: 2999 }, problems: [/must be 3s or more/] },
  'image age negative': { config: { imageMinimumGCAge: -1 }, problems: ['imageMinimumGCAge'] },
  'image maximum age negative': { config: { imageMaximumGCAge: -1 }, problems: ['imageMaximumGCAge'] },
  'durations that the reference does not check': {
    config: { nodeStatusUpdateFrequency: -1, fileCheckFrequency: -5, evictionMaxPodGracePeriod: -1 },
    warnings: [
      'fileCheckFrequency',
      'nodeStatusUpdateFrequency',
      'nodeStatusReportFrequency',
      'evictionMaxPodGracePeriod',
    ],
  },
});
