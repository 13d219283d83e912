import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Config } from '../config/config.ts';
import type { EventInput } from '../model/event.ts';
import { createConfigReport } from './config-report.ts';

const [config, next] = [{}, {}] as unknown as readonly [Config, Config];

test('a refused configuration is an event and a condition until a good one comes', () => {
  const events: EventInput[] = [];
  const report = createConfigReport(config, (event) => void events.push(event));
  report.accepted(config);
  assert.deepEqual([report.conditions(), events], [[], []]);
  report.refused(['/k.yaml:3: maxPods: too small', 'x'.repeat(5000)]);
  const [refused] = report.conditions();
  assert.deepEqual(
    [refused?.type, refused?.isTrue, refused?.reason],
    ['KubeletConfigOk', false, 'KubeletConfigRefused'],
  );
  assert.match(refused?.message ?? '', /^\/k\.yaml:3: maxPods/);
  assert.equal(refused?.message.length, 1024);
  report.accepted(next);
  assert.equal(report.inForce(), next);
  assert.equal(report.conditions()[0]?.isTrue, true);
  assert.deepEqual(
    events.map(({ reason }) => reason),
    ['KubeletConfigRefused', 'KubeletConfigAccepted'],
  );
});
