import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FirstRun, firstRunAt, nextRunAt, placeOf } from './timing.ts';

const base: FirstRun = {
  type: 'readiness',
  place: 0.25,
  periodMs: 10_000,
  initialDelayMs: 0,
  containerStartedAt: 100_000,
  now: 100_050,
  inherited: false,
  known: 'unknown',
  afterStartup: false,
};

const cases: readonly [what: string, run: Partial<FirstRun>, expected: number][] = [
  ['a container that has just started is asked at once whether it is ready', {}, 100_050],
  ['and whether it has started', { type: 'startup' }, 100_050],
  ['not before its initial delay', { initialDelayMs: 5000 }, 105_000],
  ['a delay that is over already', { initialDelayMs: 5000, now: 120_000 }, 120_000],
  ['liveness waits a period', { type: 'liveness' }, 110_000],
  ['unless the pod says how long', { type: 'liveness', initialDelayMs: 3000 }, 103_000],
  ['liveness after a startup probe', { type: 'liveness', afterStartup: true, now: 130_000 }, 140_000],
  ['readiness after a startup probe', { afterStartup: true, now: 130_000 }, 130_000],
  ['after a restart of the kubelet: spread', { inherited: true, known: 'success', now: 500_000 }, 502_500],
  ['what no one knows is asked soon', { inherited: true, now: 500_000 }, 500_250],
  ['liveness needs no hurry', { type: 'liveness', inherited: true, now: 500_000 }, 502_500],
  ['a delay counts after a restart too', { inherited: true, initialDelayMs: 60_000, now: 110_000 }, 160_000],
];

for (const [what, run, expected] of cases) {
  test(`first run: ${what}`, () => {
    assert.equal(firstRunAt({ ...base, ...run }), expected);
  });
}

test('intervals are never shorter than the period nor much longer, and end at the place of the probe', () => {
  const periodMs = 10_000;
  for (let index = 0; index < 200; index += 1) {
    const place = placeOf(index);
    let due = 1_234_567 + index * 37;
    for (let run = 0; run < 12; run += 1) {
      const next = nextRunAt({ due, now: due + 20, periodMs, place, mayHurry: false });
      assert.ok(next - due >= periodMs && next - due <= periodMs * 1.1 + 1, `${next - due}`);
      due = next;
    }
    assert.ok(Math.abs((due % periodMs) - place * periodMs) < 2, `probe ${index} is at ${due % periodMs}`);
    assert.equal(nextRunAt({ due, now: due, periodMs, place, mayHurry: false }) - due, periodMs);
  }
});

test('a check that took longer than its period is followed by the next at once, and runs that were missed are not made up for', () => {
  const next = nextRunAt({ due: 0, now: 35_000, periodMs: 10_000, place: 0.5, mayHurry: false });
  assert.equal(next, 35_000);
});

test('places are spread evenly, however many there are', () => {
  for (const count of [10, 50, 137, 1000]) {
    const places = Array.from({ length: count }, (_, index) => placeOf(index)).sort((a, b) => a - b);
    const gaps = places.map((place, index) => (places[index + 1] ?? 1 + (places[0] ?? 0)) - place);
    assert.ok(
      Math.max(...gaps) < 2.7 / count,
      `${count} places: the largest gap is ${Math.max(...gaps) * count} of the mean`,
    );
  }
});

test('where nothing depends on the interval the next run is at the place, at the latest after a period and a little', () => {
  const cases: readonly [place: number, periodMs: number, now: number, expected: number][] = [
    [0.5, 10_000, 100_020, 105_000],
    [0.1, 10_000, 100_020, 110_000 + 1_000],
    // Its place comes too soon: a whole period later.
    [0.05, 10_000, 100_020, 110_500],
    [0.0, 10_000, 100_020, 110_000],
    [0.3, 1_000, 100_020, 101_100],
    [0.9, 1_000, 100_020, 100_900],
  ];
  for (const [place, periodMs, now, expected] of cases) {
    const next = nextRunAt({ due: 100_000, now, periodMs, place, mayHurry: true });
    assert.ok(Math.abs(next - expected) < 1, `${place} of ${periodMs}: ${next}`);
  }
});
