import { judgeAll } from '../judge-testing.ts';

const byPriority = [
  { priority: 0, shutdownGracePeriodSeconds: 10 },
  { priority: 1000, shutdownGracePeriodSeconds: 5 },
];

judgeAll({
  periods: { config: { shutdownGracePeriod: 30_000, shutdownGracePeriodCriticalPods: 10_000 } },
  'periods equal': { config: { shutdownGracePeriod: 1000, shutdownGracePeriodCriticalPods: 1000 } },
  'half a second': {
    config: { shutdownGracePeriod: 500 },
    problems: [/^shutdownGracePeriod: must be zero, or 1s or more/],
  },
  negative: {
    config: { shutdownGracePeriod: -1, shutdownGracePeriodCriticalPods: -1 },
    problems: ['shutdownGracePeriod', 'shutdownGracePeriodCriticalPods'],
  },
  'critical longer than all': {
    config: { shutdownGracePeriod: 10_000, shutdownGracePeriodCriticalPods: 20_000 },
    problems: [/^shutdownGracePeriodCriticalPods: must be at most shutdownGracePeriod \(10s\)/],
  },
  'without the gate': {
    config: { shutdownGracePeriod: 10_000 },
    around: { gates: { GracefulNodeShutdown: false } },
    problems: [/^shutdownGracePeriod: needs the feature gate GracefulNodeShutdown/],
  },
  'by priority': { config: { shutdownGracePeriodByPodPriority: byPriority } },
  'by priority and by period': {
    config: { shutdownGracePeriodByPodPriority: byPriority, shutdownGracePeriod: 10_000 },
    problems: [/^shutdownGracePeriodByPodPriority: can't be used together with shutdownGracePeriod/],
  },
  'by priority without the gate': {
    config: { shutdownGracePeriodByPodPriority: byPriority },
    around: { gates: { GracefulNodeShutdownBasedOnPodPriority: false } },
    problems: [/needs the feature gate GracefulNodeShutdownBasedOnPodPriority/],
  },
  'by priority, doubled and negative': {
    config: { shutdownGracePeriodByPodPriority: [...byPriority, { priority: 0, shutdownGracePeriodSeconds: -1 }] },
    warnings: [
      'shutdownGracePeriodByPodPriority[2].priority',
      'shutdownGracePeriodByPodPriority[2].shutdownGracePeriodSeconds',
    ],
  },
});
