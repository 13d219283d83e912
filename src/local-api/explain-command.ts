/** `kubelet explain POD`: asks the local API of the kubelet that runs on this machine. */
import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { json } from 'node:stream/consumers';
import { CodedError, describeError } from '../base/errors.ts';
import type { ExplainedPod } from '../model/explanation.ts';
import { EXPLAIN_USAGE, parseExplain } from './rules/explain-arguments.ts';
import { explainText } from './rules/explain-text.ts';
import { mapOf } from './rules/objects.ts';

export interface ExplainCommandDeps {
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
}

export interface CommandResult {
  readonly code: number;
  readonly output: string;
  readonly error: string;
}

const USUAL = '/var/lib/kubelet/local-api/kubeconfig';
const PATIENCE_MS = 10_000;

export async function runExplain({ words, environment, now }: ExplainCommandDeps): Promise<CommandResult> {
  if (words.some((word) => word === '-h' || word === '--help'))
    return { code: 0, output: `${EXPLAIN_USAGE}\n`, error: '' };
  const asked = parseExplain(words, environment['KUBECONFIG'] || USUAL);
  if (!asked.ok) return { code: 1, output: '', error: `Error: ${asked.problem}\n${EXPLAIN_USAGE}\n` };
  const { pod, namespace, kubeconfig, json: asJson } = asked.value;
  try {
    const path = `/explain/${encodeURIComponent(namespace)}/${encodeURIComponent(pod)}`;
    const { status, body } = await ask(await readAccess(kubeconfig), path);
    if (status !== 200) {
      const message = mapOf(body)['message'];
      return { code: 1, output: '', error: `Error: ${typeof message === 'string' ? message : `status ${status}`}\n` };
    }
    const answer = body as ExplainedPod;
    return {
      code: 0,
      output: asJson ? `${JSON.stringify(answer, undefined, 2)}\n` : explainText(answer, now()),
      error: '',
    };
  } catch (error) {
    return { code: 1, output: '', error: `Error: ${describeError(error)}\n` };
  }
}

interface Access {
  readonly server: string;
  readonly authority: string;
  readonly token: string;
}

/** Written by this kubelet, as JSON. */
async function readAccess(file: string): Promise<Access> {
  const text = await readFile(file, 'utf8');
  try {
    const { clusters, users } = JSON.parse(text);
    const { server, 'certificate-authority-data': data } = clusters[0].cluster;
    return { server, authority: Buffer.from(data, 'base64').toString('utf8'), token: users[0].user.token };
  } catch {
    throw new CodedError('invalid', `${file} is not the kubeconfig of a local API`);
  }
}

function ask({ server, authority, token }: Access, path: string): Promise<{ status: number; body: unknown }> {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${token}`, Accept: 'application/json' };
    const call = request(new URL(path, server), { ca: authority, headers, timeout: PATIENCE_MS }, (response) => {
      json(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    });
    call.on('timeout', () => call.destroy(new CodedError('deadline', `${server} does not answer`)));
    call.on('error', reject);
    call.end();
  });
}
