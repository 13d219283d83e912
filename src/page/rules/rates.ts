/** What charts show: by how much counters grew a second between two samples. */
import type { Transfer, Usage, UsageSample } from '../../model/usage-sample.ts';
import type { Point } from './series.ts';

export interface PodPoint {
  readonly point: Point;
  readonly containers: ReadonlyMap<string, Point>;
}

export interface Rates {
  /** Wall clock, ms. */
  readonly time: number;
  readonly node: Point;
  readonly pods: ReadonlyMap<string, PodPoint>;
}

/** What has no earlier sample, or was counted from the start again, has no rates. */
export function ratesBetween(before: UsageSample | undefined, after: UsageSample): Rates {
  const seconds = before === undefined ? 0 : (after.time - before.time) / 1000;
  const earlier = new Map((before?.pods ?? []).map((pod) => [pod.uid, pod]));
  return {
    time: after.time,
    node: pointOf(before?.node, after.node, seconds),
    pods: new Map(
      after.pods.map((pod) => {
        const was = earlier.get(pod.uid);
        const containers = new Map((was?.containers ?? []).map((one) => [one.name, one]));
        return [
          pod.uid,
          {
            point: pointOf(was, pod, seconds),
            containers: new Map(
              pod.containers.map((one) => [one.name, pointOf(containers.get(one.name), one, seconds)]),
            ),
          },
        ];
      }),
    ),
  };
}

const NANOSECONDS = 1e9;

function pointOf(before: Usage | undefined, after: Usage, seconds: number): Point {
  const cores = rate(before?.cpu, after.cpu, seconds);
  const [received, sent] = transferRates(before?.network, after.network, seconds);
  const [read, written] = transferRates(before?.disk, after.disk, seconds);
  const { waiting } = after;
  return [
    cores === null ? null : round(cores / NANOSECONDS, 4),
    after.memory,
    ...([received, sent, read, written] as const),
    ...([waiting?.cpu ?? null, waiting?.memory ?? null, waiting?.io ?? null] as const),
  ];
}

function transferRates(before: Transfer | undefined, after: Transfer | undefined, seconds: number) {
  const of = (way: keyof Transfer): number | null => {
    const grown = rate(before?.[way], after?.[way], seconds);
    return grown === null ? null : Math.round(grown);
  };
  return [of('in'), of('out')] as const;
}

function rate(before: number | undefined, after: number | undefined, seconds: number): number | null {
  if (before === undefined || after === undefined || after < before || seconds <= 0) return null;
  return (after - before) / seconds;
}

function round(value: number, digits: number): number {
  const scale = 10 ** digits;
  return Math.round(value * scale) / scale;
}
