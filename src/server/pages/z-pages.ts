/** `/flagz` and `/statusz`: the flags and the version of the process, as text and as objects. */
import type { Access, Answer, Exchange, Route } from '../routes.ts';
import { jsonAnswer, statusAnswer } from '../routes.ts';
import { negotiate } from '../rules/negotiation.ts';

const WARNING =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.';
const NOT_ACCEPTABLE =
  'only the following media types are accepted: application/json, application/yaml, text/plain; objects with as, v and g';

export interface ZPagesDeps {
  /** Undefined if the gate is off. */
  readonly flags: (() => readonly { readonly name: string; readonly value: string }[]) | undefined;
  readonly status: ProcessFacts | undefined;
}

export interface ProcessFacts {
  /** Wall clock, ms. */
  readonly startedAt: number;
  now(): number;
  /** The version of Node, where the reference has that of Go. */
  readonly runtime: string;
  /** `1.36.4` */
  readonly version: string;
  /** The first segments of the paths for debugging. */
  readonly paths: readonly string[];
}

export function zPageRoutes({ flags, status }: ZPagesDeps): readonly Route[] {
  const page = (name: string, access: Access, handle: Route['handle']): Route => ({
    name,
    methods: ['GET', 'HEAD', 'POST'],
    pattern: `/${name}`,
    access,
    port: 'secure',
    switch: 'debugging',
    handle,
  });
  const configz: Access = { subresource: 'configz', verb: 'method' };
  const statusz: Access = { subresource: 'statusz', verb: 'method' };
  return [
    ...(flags ? [page('flagz', configz, (exchange) => exchange.answer(flagzAnswer(exchange, flags())))] : []),
    ...(status ? [page('statusz', statusz, (exchange) => exchange.answer(statuszAnswer(exchange, status)))] : []),
  ];
}

function flagzAnswer(exchange: Exchange, flags: readonly { readonly name: string; readonly value: string }[]): Answer {
  const sorted = [...flags].sort((a, b) => (a.name < b.name ? -1 : 1));
  return zAnswer(exchange, 'Flagz', {
    text: () => `\nkubelet flagz\n${WARNING}\n${sorted.map(({ name, value }) => `${name}: ${value}\n`).join('')}`,
    fields: () => ({ flags: Object.fromEntries(sorted.map(({ name, value }) => [name, value])) }),
  });
}

function statuszAnswer(exchange: Exchange, facts: ProcessFacts): Answer {
  const up = Math.max(0, Math.floor((facts.now() - facts.startedAt) / 1000));
  const emulated = facts.version.split('.').slice(0, 2).join('.');
  return zAnswer(exchange, 'Statusz', {
    text: () =>
      [
        `\nkubelet statusz\n${WARNING}\n`,
        `Started= ${unixDate(facts.startedAt)}`,
        `Up= ${uptime(up)}`,
        `Go version= ${facts.runtime}`,
        `Binary version= ${facts.version}`,
        `Emulation version= ${emulated}`,
        `Paths= ${facts.paths.join(' ')}\n`,
      ].join('\n'),
    fields: () => ({
      startTime: Temporal.Instant.fromEpochMilliseconds(facts.startedAt).toString({ smallestUnit: 'second' }),
      uptimeSeconds: up,
      goVersion: facts.runtime,
      binaryVersion: facts.version,
      emulationVersion: emulated,
      paths: facts.paths,
    }),
  });
}

function zAnswer({ request }: Exchange, kind: string, page: { text(): string; fields(): object }): Answer {
  const form = negotiate(request.headers.accept, kind);
  if (form.kind === 'text') return { status: 200, body: page.text() };
  if (form.kind === 'none') return statusAnswer({ code: 406, reason: 'NotAcceptable', message: NOT_ACCEPTABLE });
  const object = { kind, apiVersion: `config.k8s.io/${form.version}`, metadata: { name: 'kubelet' }, ...page.fields() };
  const old = form.version === 'v1alpha1';
  const warning = `299 - "This version of the ${kind.toLowerCase()} endpoint is deprecated. Please use a newer version."`;
  return { ...jsonAnswer(object), type: form.type, ...(old && { headers: { Warning: warning } }) };
}

function uptime(seconds: number): string {
  const two = (value: number) => String(value).padStart(2, '0');
  return `${Math.floor(seconds / 3600)} hr ${two(Math.floor(seconds / 60) % 60)} min ${two(seconds % 60)} sec`;
}

/** `Sun Nov 15 10:05:38 UTC 2026` */
function unixDate(ms: number): string {
  const at = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO('UTC');
  const weekday = at.toLocaleString('en-US', { weekday: 'short' });
  const month = at.toLocaleString('en-US', { month: 'short' });
  return `${weekday} ${month} ${String(at.day).padStart(2, ' ')} ${at.toPlainTime().toString({ smallestUnit: 'second' })} UTC ${at.year}`;
}
